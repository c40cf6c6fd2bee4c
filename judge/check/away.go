package check

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An away knows which nodes cannot enter at present, whatever the others do: they stand still, have lost
// their connection, or are cut off.
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

// add takes an event.
func (a *away) add(e *history.Event) {
	switch e.Kind {
	case history.Paused:
		if int32(e.Count) >= 0 {
			a.still[e.Count] = true
		} else if e.Count != history.Orchestrator {
			a.carrier[e.Count] = true
		}
	case history.Resumed:
		delete(a.still, e.Count)
		delete(a.carrier, e.Count)
	case history.Disconnected:
		a.offline[e.Node] = true
	case history.Reconnected, history.Crashed: // whose next process has a connection of its own
		delete(a.offline, e.Node)
		if e.Kind == history.Crashed {
			delete(a.still, uint32(e.Node))
		}
	case history.FaultBegan:
		if n := int(e.Count) - 1; n >= 0 && n < len(a.asked) && a.asked[n].CutsOff != nil {
			cutsOff, victim := a.asked[n].CutsOff, nodes.ID(e.Entry)-1
			a.cut[e.Count] = func(id nodes.ID) bool { return cutsOff(id, victim) }
		}
	case history.FaultHealed:
		delete(a.cut, e.Count)
	}
}

// any reports whether some node may be away.
func (a *away) any() bool { return len(a.still)+len(a.carrier)+len(a.offline)+len(a.cut) > 0 }

// has reports whether a node is away. While a broker or a proxy stands still, all are.
func (a *away) has(id nodes.ID) bool {
	if a.still[uint32(id)] || a.offline[id] || len(a.carrier) > 0 {
		return true
	}
	for _, cuts := range a.cut {
		if cuts(id) {
			return true
		}
	}
	return false
}
