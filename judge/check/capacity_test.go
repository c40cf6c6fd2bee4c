package check

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// serving returns a run of three clients of a resource of two units, of which rounds take one after the other
// or, together, two at a time.
func serving(fills, together bool) *world {
	w := newWorld(3)
	w.Config.Units, w.CostKnown, w.Identities, w.Fills = 2, false, nil, fills
	w.mark(history.Measuring)
	for range 3 {
		for id := range nodes.ID(3) {
			w.ask(id)
		}
		for id := range nodes.ID(3) {
			w.enter(id)
			if together && id == 0 {
				continue
			}
			w.exit(id)
			if together && id == 1 {
				w.exit(0)
			}
		}
	}
	w.end()
	return w
}

var capacityMutants = []mutant{
	{"a unit that nobody gets", func() *world { return serving(true, false) }, "capacity", Violated, Violated,
		"no more than 1 of 2 units were taken at once in 9 entries"},
}

// That all units were taken is shown by the register. Where the load does not demand all of them, that they
// were not shows nothing; and of one unit nothing is said.
func TestAllUnitsAreTaken(t *testing.T) {
	for name, c := range map[string]struct {
		w         *world
		outcome   Outcome
		notJudged bool
		says      string
	}{
		"reached":                  {serving(true, true), Valid, false, "all units were taken"},
		"reached, not demanded":    {serving(false, true), Valid, false, "all units were taken"},
		"not reached nor demanded": {serving(false, false), Valid, true, "does not demand all"},
	} {
		f := finding(t, c.w.judge(), "capacity")
		if f.Outcome != c.outcome || f.NotJudged != c.notJudged || !strings.Contains(f.Says, c.says) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, f := range measuring().judge().Findings {
		if f.Check == "capacity" {
			t.Errorf("of a resource of one unit: %+v", f)
		}
	}
}
