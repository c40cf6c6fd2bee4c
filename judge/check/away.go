package check

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An away knows which nodes cannot enter at present, whatever the others do: they stand still, have lost
// their connection, or are cut off. While a broker or a proxy stands still, no node can.
type away struct {
	asked   []Fault
	still   map[uint32]bool   // nodes that stand still
	carrier map[uint32]bool   // brokers and proxies that do, as in history.Paused
	offline map[nodes.ID]bool // nodes without a connection
	cut     map[uint32]cutter // by the number of the fault
}

// A cutter reports whether a fault that is in force cuts a node off.
type cutter func(id nodes.ID) bool

func awayBy(asked []Fault) away {
	return away{asked, map[uint32]bool{}, map[uint32]bool{}, map[nodes.ID]bool{}, map[uint32]cutter{}}
}

// add takes an event, and reports whether that may have taken nodes away or brought them back: one of them,
// or any if it is None.
func (a *away) add(e *history.Event) (one nodes.ID, changed bool) {
	switch e.Kind {
	case history.Paused:
		if int32(e.Count) < 0 {
			if e.Count != history.Orchestrator {
				a.carrier[e.Count] = true
			}
			return nodes.None, false
		}
		a.still[e.Count] = true
		return nodes.ID(e.Count), true
	case history.Resumed:
		delete(a.still, e.Count)
		delete(a.carrier, e.Count)
		return nodes.ID(e.Count), int32(e.Count) >= 0
	case history.Disconnected:
		a.offline[e.Node] = true
		return e.Node, true
	case history.Reconnected, history.Crashed: // whose next process has a connection of its own
		delete(a.offline, e.Node)
		if e.Kind == history.Crashed {
			delete(a.still, uint32(e.Node))
		}
		return e.Node, true
	case history.FaultBegan:
		if n := int(e.Count) - 1; n >= 0 && n < len(a.asked) && a.asked[n].CutsOff != nil {
			cutsOff, victim := a.asked[n].CutsOff, nodes.ID(e.Entry)-1
			a.cut[e.Count] = func(id nodes.ID) bool { return cutsOff(id, victim) }
			return nodes.None, true
		}
	case history.FaultHealed:
		_, cut := a.cut[e.Count]
		delete(a.cut, e.Count)
		return nodes.None, cut
	}
	return nodes.None, false
}

// all reports whether all nodes are away.
func (a *away) all() bool { return len(a.carrier) > 0 }

// has reports whether a node is away, not counting that all may be.
func (a *away) has(id nodes.ID) bool {
	if a.still[uint32(id)] || a.offline[id] {
		return true
	}
	for _, cuts := range a.cut {
		if cuts(id) {
			return true
		}
	}
	return false
}
