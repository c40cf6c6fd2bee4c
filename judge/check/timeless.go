package check

import (
	"fmt"
	"math"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// timeless says why a fault of clocks hit nothing of a foreign program, which has clocks of its own: at the
// nodes whose clocks it set, no timer ran that the program had the testbed set. Empty: it hit some, or that
// is not known.
func (m *model) timeless(asked *Fault, f *section.Fault) string {
	if asked.Sets == nil {
		return ""
	}
	var ids []nodes.ID
	never := true // was any set
	for id := range nodes.ID(m.Config.N) {
		if !asked.Sets(id, f.Victim) {
			continue
		}
		began, over := m.clockSet(id, f.From), m.clockSet(id, f.To)
		switch {
		case began == nil:
			continue
		case began.Count > 0, !asked.ForGood && (over == nil || over.Value > began.Value):
			return ""
		}
		ids, never = append(ids, id), never && began.Value == 0
	}
	switch {
	case uint64(len(ids)) < uint64(f.Nodes) || len(ids) == 0:
		return ""
	case never:
		return fmt.Sprintf("%s set no timer", who(ids, "has", "have"))
	}
	return fmt.Sprintf("no timer that %s set ran", who(ids, "has", "have"))
}

// clockSet returns the first time at which the clock of a node was set from a time on; nil: it was not.
func (m *model) clockSet(id nodes.ID, from int64) *history.Event {
	for i := range m.clocks {
		if e := &m.clocks[i]; e.Node == id && e.At >= from && from < math.MaxInt64 {
			return e
		}
	}
	return nil
}
