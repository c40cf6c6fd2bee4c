package check

import (
	"strings"
	"testing"

	"turnstile/nodes/history"
)

// An entry says nothing about priority while no other client waits: only its own request could have it.
func TestAnEntryAloneShowsNoPriority(t *testing.T) {
	w := newWorld(2)
	w.Bounded, w.Fewest = true, true
	w.mark(history.Measuring)
	w.turn(0)
	w.turn(1)
	w.turn(0)
	w.ask(0)
	w.ask(1)
	w.enter(1)
	w.exit(1)
	w.enter(0)
	w.exit(0)
	w.end()
	f := finding(t, w.judge(), "priority")
	if f.Outcome != Valid || !strings.HasPrefix(f.Says, "1 entry was made") {
		t.Errorf("%v: %s", f.Outcome, f.Says)
	}
}
