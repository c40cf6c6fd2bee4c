package report

import (
	"fmt"
	"strings"
	"testing"
)

// Of the lists in the report of a stall as much is printed as a person reads, and where the rest is.
func TestReportsOfStallsAreShort(t *testing.T) {
	waits, states := "Who waits for whom:\n", "The state of each node:\n"
	var short, long strings.Builder
	for i := range 1000 {
		line := fmt.Sprintf("  node %d: client waiting\n", i)
		if long.WriteString(line); i < 20 {
			short.WriteString(line)
		}
	}
	few := waits + "  1 -> 0\n" + states + short.String()
	if got := fewOfStall(few, "x"); got != few {
		t.Errorf("of few lines it makes\n%s", got)
	}
	const more = "  and 980 more: see runs/x/stall-1.txt\n"
	want := waits + short.String() + more + states + short.String() + more
	if got := fewOfStall(waits+long.String()+states+long.String(), "runs/x/stall-1.txt"); got != want {
		t.Errorf("it prints\n%s", got)
	}
}
