package commands

import (
	"bytes"
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
