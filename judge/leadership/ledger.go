package leadership

import (
	"math"
	"slices"

	"turnstile/nodes"
)

// A Stretch is a stretch of time in which the state and the belief of a node did not change.
type Stretch struct {
	Node     nodes.ID
	State    State
	Leader   nodes.ID // the leader that it believes in, also while it stands still; None while it is down
	Term     uint64
	From, To int64
}

// A State is the state of a node at a time, as named in beliefs.csv.
type State string

// The states.
const (
	Leads     State = "leads"     // it runs and says that it leads
	Follows   State = "follows"   // it runs and says that another leads
	KnowsNone State = "no_leader" // it runs and knows of no leader
	Stopped   State = "stopped"   // it stands still
	Down      State = "down"
)

// stretchOf returns the stretch of a node that begins at a time.
func (f *Fold) stretchOf(id nodes.ID, at int64) Stretch {
	v := &f.voters[id]
	s := Stretch{Node: id, State: Down, Leader: nodes.None, From: at, To: math.MaxInt64}
	if !v.Up {
		return s
	}
	if b := f.current(id); b != nil {
		s.Leader, s.Term = b.Leader, b.Term
	}
	switch {
	case v.Stopped:
		s.State = Stopped
	case s.Leader == nodes.None:
		s.State = KnowsNone
	case s.Leader == id:
		s.State = Leads
	default:
		s.State = Follows
	}
	return s
}

// note ends the stretch of a node and begins another if its state or belief has changed.
func (f *Fold) note(id nodes.ID, at int64) {
	if !f.running || !f.has(id) {
		return
	}
	n, now := &f.nodes[id], f.stretchOf(id, at)
	if n.stretch >= 0 {
		was := &f.Stretches[n.stretch]
		if was.State == now.State && was.Leader == now.Leader && was.Term == now.Term {
			return
		}
		was.To = at
	}
	n.stretch = len(f.Stretches)
	f.Stretches = append(f.Stretches, now)
}

// A Fault is a fault that took place, for a ledger.
type Fault struct {
	Number   int
	From, To int64
	// Separates reports whether no message passes between two nodes either way; nil: it cuts nothing.
	Separates func(a, b nodes.ID) bool
}

// An Entry is a stretch, or the part of one, during which the same faults were in force.
type Entry struct {
	Stretch
	Faults     []int      // numbers of the faults in force
	Side       []nodes.ID // the nodes with which it could exchange messages, itself included; nil: all
	TwoLeaders int64      // for how many nanoseconds of the entry two or more running nodes led
}

// Ledger returns the beliefs of all nodes in [from, to), sorted by node and time. total counts all nodes,
// servers included. The fold must be closed.
func (f *Fold) Ledger(faults []Fault, total int, from, to int64) (all []Entry) {
	var turns []int64
	for i := range faults {
		turns = append(turns, faults[i].From, faults[i].To)
	}
	slices.Sort(turns)
	for i := range f.Stretches {
		s := f.Stretches[i]
		s.From, s.To = max(s.From, from), min(s.To, to)
		for s.From < s.To {
			part := s
			if next, _ := slices.BinarySearch(turns, s.From+1); next < len(turns) {
				part.To = min(part.To, turns[next])
			}
			all = append(all, f.entry(part, faults, total))
			s.From = part.To
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return int(a.Node) - int(b.Node) })
	return all
}

// entry adds the faults in force and the reachable nodes to a stretch during which no fault began or ended.
func (f *Fold) entry(s Stretch, faults []Fault, total int) Entry {
	e := Entry{Stretch: s, TwoLeaders: f.twoLeadersIn(s.From, s.To)}
	var cuts []func(a, b nodes.ID) bool
	for i := range faults {
		if x := &faults[i]; x.From <= s.From && s.From < x.To {
			e.Faults = append(e.Faults, x.Number)
			if x.Separates != nil {
				cuts = append(cuts, x.Separates)
			}
		}
	}
	if cuts == nil {
		return e
	}
	for id := range nodes.ID(total) {
		if id == s.Node || !slices.ContainsFunc(cuts, func(cut func(a, b nodes.ID) bool) bool {
			return cut(s.Node, id)
		}) {
			e.Side = append(e.Side, id)
		}
	}
	return e
}

// twoLeadersIn returns the time in [from, to) in which two or more running nodes led.
func (f *Fold) twoLeadersIn(from, to int64) (sum int64) {
	first, _ := slices.BinarySearchFunc(f.Overlaps, from, func(o Overlap, at int64) int {
		if o.To <= at {
			return -1
		}
		return 1
	})
	for _, o := range f.Overlaps[first:] {
		if o.From >= to {
			break
		}
		sum += min(o.To, to) - max(o.From, from)
	}
	return sum
}
