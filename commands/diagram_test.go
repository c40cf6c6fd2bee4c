package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drawn returns what a call prints, and its status.
func drawn(t *testing.T, args ...string) (picture string, status int) {
	t.Helper()
	var out bytes.Buffer
	status = run(t.Context(), program{}, args, &out, &out)
	return out.String(), status
}

// --around draws what a fault did, and names the faults that took place if there is no such fault.
func TestDiagramAroundAFault(t *testing.T) {
	dir := simulatedRun(t, "--algo ricart -n 3 --kill 2 --at 50ms --duration 1s --seed 7")
	picture, status := drawn(t, "diagram", dir, "--around", "fault 1")
	for _, word := range []string{">fault 1 kill 2<", ">crash<", ">inside<"} {
		if status != 0 || !strings.Contains(picture, word) {
			t.Errorf("status %d, the picture does not say %s:\n%s", status, word, picture)
		}
	}
	calm := simulatedRun(t, "--algo ricart -n 3 --entries 9 --seed 7")
	for _, c := range []struct{ dir, around, says string }{
		{dir, "fault 2", "--around: fault 2 did not take place: the run had 1 fault, 1"},
		{dir, "fault 0", `--around: "0" is no number of a fault: they count from 1`},
		{dir, "fault one", `--around: "one" is no number of a fault`},
		{dir, "faults", `--around: there is no "faults": write violation, or a fault by its number`},
		{calm, "fault 1", "--around: no fault took place"},
	} {
		if says, status := drawn(t, "diagram", c.dir, "--around", c.around); status != usage ||
			!strings.Contains(says, c.says) {
			t.Errorf("%s: status %d, %s", c.around, status, says)
		}
	}
	if says, status := drawn(t, "diagram", dir, "--around", "fault 1", "--to", "1s"); status != usage ||
		!strings.Contains(says, "leave out --from and --to") {
		t.Errorf("status %d, %s", status, says)
	}
}

// elect --explain draws the elections that it prints.
func TestExplainedElectionsAreDrawn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bully.svg")
	story, status := drawn(t, strings.Fields("elect --algo bully -n 3 --explain --diagram "+path)...)
	picture, err := os.ReadFile(path)
	if err != nil || status != 0 || !strings.Contains(story, "messages: ") {
		t.Fatalf("%v, status %d: %s", err, status, story)
	}
	for _, word := range []string{">campaigns<", ">election<", ">leads<", ">crash<",
		">bully, an election of 3 nodes, and the next after the leader, node 2, has crashed<"} {
		if !strings.Contains(string(picture), word) {
			t.Errorf("the picture does not say %s:\n%s", word, picture)
		}
	}
	drawn(t, strings.Fields("elect --algo raft-election -n 3 --explain --diagram "+path)...)
	if picture, err = os.ReadFile(path); err != nil || strings.Contains(string(picture), "--heartbeats") {
		t.Errorf("%v, the picture names a flag that elect does not have:\n%s", err, picture)
	}
	for call, want := range map[string]string{
		"elect --algo bully --diagram " + path:                         "add --explain",
		"elect --algo bully --explain --title x":                       "add --diagram",
		"elect --algo bully --title x":                                 "add --diagram",
		"elect --algo bully -n 30 --explain --diagram " + path:         "400 of each: take fewer nodes",
		"elect --algo bully --explain --diagram " + path + "/none.svg": "--diagram: there is no folder",
	} {
		if says, status := drawn(t, strings.Fields(call)...); status != usage || !strings.Contains(says, want) {
			t.Errorf("%s: status %d, %s", call, status, says)
		}
	}
}

// Every picture takes a title, which is larger than the usual one and stands in its place.
func TestPicturesTakeTitles(t *testing.T) {
	dir := t.TempDir()
	schedule, picture := filepath.Join(dir, "stuck.txt"), filepath.Join(dir, "x.svg")
	explore := "explore --algo maekawa-textbook -n 4 --check deadlock --save " + schedule
	if says, _ := drawn(t, strings.Fields(explore+" --title x")...); !strings.Contains(says, "add --diagram") {
		t.Errorf("a title without a picture: %s", says)
	}
	for _, call := range []string{explore + " --diagram " + picture, "diagram " + schedule + " --out " + picture,
		"diagram waits " + schedule + " --out " + picture,
		"elect --algo bully -n 3 --explain --diagram " + picture} {
		drawn(t, append(strings.Fields(call), "--title", "Quorums meet")...)
		text, err := os.ReadFile(picture)
		if is := string(text); err != nil || !strings.Contains(is, `font-size="24">Quorums meet<`) ||
			!strings.Contains(is, "<title>Quorums meet</title>") || strings.Contains(is, ">maekawa-") {
			t.Errorf("%s: %v\n%s", call, err, text)
		}
		os.Remove(picture)
	}
}

// The picture of a stall says where the token is, and shows the sides of a cut that was in force meanwhile,
// but of no cut that was healed before.
func TestWaitsOfRunsAreDrawn(t *testing.T) {
	const lost = ">The token is lost: no node has it. Node 3 entered last.<"
	for args, want := range map[string][]string{
		"--algo suzuki -n 5 --cut 0,4/1-3 --at 1s --for 1s --seed 1": {lost, ">a side of the cut: nodes 0, 4<",
			">a side of the cut: nodes 1, 2, 3<", "cut 0,4/1-3, from 1.3s to 2.3s.<"},
		"--algo raymond -n 5 --cut holder --at 20ms --for 1s --seed 1": {">a side of the cut: nodes 2<",
			">a side of the cut: nodes 0, 1, 3, 4<"},
		"--algo maekawa -n 4 --kill 2 --at 20ms --duration 1s --seed 1": {">vote of node 3<",
			">does not answer<"},
		"--algo central -n 3 --kill holder --at 20ms --duration 1s --seed 1": {">permission of<", ">server 3<"},
	} {
		picture, status := drawn(t, "diagram", "waits", simulatedRun(t, args))
		for _, word := range want {
			if status != 0 || !strings.Contains(picture, word) {
				t.Errorf("%s: status %d, the picture does not say %s:\n%s", args, status, word, picture)
			}
		}
	}
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(plan, []byte("faults:\n  - {cut: 0/1, at: 333us, for: 1us}\n"+
		"  - {kill: 2, at: 200ms}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	picture, status := drawn(t, "diagram", "waits", simulatedRun(t, "--algo ricart -n 3 --seed 1 --plan "+plan))
	if status != 0 || strings.Contains(picture, "side of the cut") {
		t.Errorf("status %d, and the cut was healed before they waited:\n%s", status, picture)
	}
}
