package turnstile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"turnstile"
	"turnstile/algorithms/catalog"
	"turnstile/nodes"
)

// ms is a millisecond in the times of lines.
const ms = 1_000_000

// line writes an event as runs history --format jsonl does. more has further columns.
func line(at, node int, kind, more string) string {
	return fmt.Sprintf(`{"at_ns":%d,"node":%d,"event":%q%s}`+"\n", at, node, kind, more)
}

func elects(at, node, leader, term int) string {
	return line(at, node, "elected", fmt.Sprintf(`,"leader":%d,"term":%d`, leader, term))
}

func mark(at int, name string) string { return line(at, -1, "marked", fmt.Sprintf(`,"mark":%q`, name)) }

// between puts the marks of a run around its events, from its begin to a time.
func between(events string, end int) string {
	return mark(0, "began") + mark(0, "measuring") + events + mark(end, "stopped") + mark(end, "rested")
}

// passing returns a history: node 1 requests, and node 0 enters 100 times before it.
func passing() string {
	text := line(0, 1, "requested", `,"entry":1`)
	for i := range 100 {
		number := fmt.Sprintf(`,"entry":%d`, i+1)
		text += line(3*i*ms, 0, "requested", number) + line((3*i+1)*ms, 0, "entered", number) +
			line((3*i+2)*ms, 0, "exited", number)
	}
	return text + line(400*ms, 1, "entered", `,"entry":1`) + line(401*ms, 1, "exited", `,"entry":1`)
}

func algorithmOf(t *testing.T, name string) *turnstile.Algorithm {
	t.Helper()
	algo, err := (catalog.Table{}).Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return algo
}

// Judge assumes nothing that a history lacks. It does not make checks that need it.
func TestJudgeDoesNotGuess(t *testing.T) {
	leases := line(0, 0, "requested", `,"entry":1`) + line(0, 1, "requested", `,"entry":1`) +
		line(1*ms, 0, "entered", `,"entry":1,"fence":1`) + line(9*ms, 1, "entered", `,"entry":1,"fence":2`) +
		line(15*ms, 0, "exited", `,"entry":1`) + line(20*ms, 1, "exited", `,"entry":1`)
	agreed := elects(1, 0, 2, 1) + elects(1, 1, 2, 1) + elects(1, 2, 2, 1)
	for name, test := range map[string]struct {
		of        turnstile.Recorded
		algorithm string
		text      string
		check     string
		says      string
	}{
		"fences without an account": {turnstile.Recorded{Virtual: true, Config: nodes.Config{N: 2, Fenced: true}},
			"central-lease", leases, "exclusion",
			"inconclusive: 2 entries overlapped, and the history has no account"},
		"overtaking without delays": {turnstile.Recorded{Virtual: true, Config: nodes.Config{N: 2}},
			"lamport", passing(), "fairness", "valid: not judged: how long a message may take is unknown"},
		"an election that is not over": {turnstile.Recorded{Virtual: true, Config: nodes.Config{N: 3}},
			"chang-roberts", between(line(0, 0, "campaigned", "")+elects(1*ms, 2, 2, 0), 2*ms),
			"agreement", "inconclusive: the nodes do not agree"},
		"stamps that order nothing": {turnstile.Recorded{Config: nodes.Config{N: 2}, StampError: ms}, "lamport",
			line(0, 0, "requested", "") + line(0, 0, "entered", "") + line(0, 0, "exited", "") +
				line(0, 1, "requested", "") + line(0, 1, "entered", "") + line(0, 1, "exited", ""),
			"exclusion", "inconclusive: 1 entry may have overlapped others"},
		"two leaders without terms": {turnstile.Recorded{Config: nodes.Config{N: 3}}, "raft-election",
			between(elects(1, 0, 0, 1)+line(2, 1, "elected", `,"leader":1`)+elects(1002, 0, 1, 2), 2000), "leaders",
			"inconclusive: for 1µs there were two leaders or more, and the history has no terms"},
		"nobody who is up waits": {turnstile.Recorded{Config: nodes.Config{N: 2}}, "lamport",
			line(0, 0, "requested", "") + line(1, 0, "entered", "") + line(2, 0, "killed", "") +
				line(3, 0, "crashed", ""), "progress", "valid: all of 1 request"},
		"somebody is inside at the end": {turnstile.Recorded{Config: nodes.Config{N: 2}}, "lamport",
			line(0, 0, "requested", "") + line(1, 0, "entered", ""), "progress",
			"inconclusive: the run never came to rest, and node 0 never left"},
		"real processes are late": {turnstile.Recorded{Config: nodes.Config{N: 3}}, "bully",
			between(agreed+elects(1000*ms, 1, 1, 1)+elects(1060*ms, 1, 2, 1), 2000*ms),
			"leaders", "violated: two leaders"},
		"a detector that reports": {turnstile.Recorded{Virtual: true, Config: nodes.Config{N: 3}},
			"bully-majority", between(agreed+line(1000*ms, 0, "killed", "")+line(1000*ms, 0, "crashed", "")+
				line(1100*ms, 1, "suspected", `,"suspect":0`)+line(1100*ms, 2, "suspected", `,"suspect":0`)+
				elects(2000*ms, 1, 1, 2), 100_000*ms), "leaders", "violated: two leaders"},
	} {
		test.of.Algorithm = algorithmOf(t, test.algorithm)
		v, err := turnstile.Judge(strings.NewReader(test.text), test.of)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := "no such check"
		for _, f := range v.Findings {
			if f.Check == test.check {
				got = f.Outcome.String() + ": " + f.Says
			}
		}
		if !strings.HasPrefix(got, test.says) {
			t.Errorf("%s: %s: %s, want %s", name, test.check, got, test.says)
		}
	}
}

// Histories that were once judged wrongly now have the right verdict, or an error that names the right line.
func TestJudgesHistoriesOfOthers(t *testing.T) {
	text, err := os.ReadFile("testdata/histories.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name, Algorithm, Right, History string
		N                               int
		StampError                      time.Duration `json:"stamp_error_ns"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		of := turnstile.Recorded{Algorithm: algorithmOf(t, one.Algorithm), Config: nodes.Config{N: one.N},
			StampError: one.StampError}
		v, err := turnstile.Judge(strings.NewReader(one.History), of)
		line, refused := strings.CutPrefix(one.Right, "an error that names ")
		switch right, _, _ := strings.Cut(strings.Split(one.Right, ":")[0], ","); {
		case refused:
			if err == nil || !strings.HasPrefix(err.Error(), line+": ") {
				t.Errorf("%s: %v, want %s", one.Name, err, one.Right)
			}
		case err != nil:
			t.Errorf("%s: %v", one.Name, err)
		case right == "not violated" && v.Outcome.String() == "violated", right != "not violated" &&
			v.Outcome.String() != right:
			t.Errorf("%s: %v: %s, want %s", one.Name, v.Outcome, v.Reason, one.Right)
		}
	}
}
