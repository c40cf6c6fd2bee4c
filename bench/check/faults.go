package check

import (
	"fmt"
	"time"

	"turnstile/internal/english"
)

// faults: what was to go wrong did go wrong and was healed, and somebody entered afterwards. A run without
// that does not show what the algorithm does about it.
func faults(e *Fold) Finding {
	if len(e.Faults) == 0 {
		return valid("no fault was asked for")
	}
	var lines []string
	idle := 0
	for _, f := range e.sections.Faults {
		if int(f.Number) < 1 || int(f.Number) > len(e.Faults) {
			return inconclusive("there is a fault %d in the history, which was not asked for", f.Number)
		}
		lines = append(lines, fmt.Sprintf("%s: %s while it lasted (%v), %s after it", e.Faults[f.Number-1],
			english.Count(f.Entries, "entry", "entries"), time.Duration(f.To-f.From).Round(time.Millisecond),
			english.Count(f.After, "entry", "entries")))
		if !f.Healed {
			return inconclusive("%s was not healed", e.Faults[f.Number-1]).with(lines...)
		}
		if f.After == 0 {
			idle++
		}
	}
	switch lost := e.sum.Dropped; {
	case len(e.sections.Faults) < len(e.Faults):
		return inconclusive("%d of %s took place", len(e.sections.Faults),
			english.Count(len(e.Faults), "fault", "faults")).with(lines...)
	case lost == 0 && e.Loses:
		return inconclusive("the faults hit no message: they show nothing").with(lines...)
	case idle > 0:
		return inconclusive("nobody entered after a fault was healed: %s", lines[len(lines)-1]).with(lines...)
	default:
		says := lines[0]
		if e.Loses {
			says = english.Count(lost, "message was", "messages were") + " lost on purpose; " + says
		}
		return valid("%s", says).with(lines...)
	}
}
