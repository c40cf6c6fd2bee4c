package leadership

import (
	"math"
	"slices"

	"turnstile/nodes"
)

// A Span is a stretch of time: [From, To), in nanoseconds.
type Span struct{ From, To int64 }

// Length returns the length in nanoseconds.
func (s *Span) Length() int64 { return s.To - s.From }

// An Overlap is a stretch of time in which several running nodes led.
type Overlap struct {
	Span
	Leaders  []nodes.ID // all nodes that led at some moment of it, in the order in which they began to lead
	SameTerm bool       // two of them led in one term at one time
}

// leading returns the running nodes that lead, whether two of them lead in one term, and how many leaders
// stand still.
func (f *Fold) leading() (leaders []nodes.ID, sameTerm bool, stopped int) {
	var led []uint64
	for i := range f.voters {
		v := &f.voters[i]
		switch id := nodes.ID(i); {
		case v.Leader != id:
		case v.Stopped:
			stopped++
		default:
			leaders = append(leaders, id)
			sameTerm = sameTerm || f.byTerm && slices.Contains(led, v.Term)
			led = append(led, v.Term)
		}
	}
	return leaders, sameTerm, stopped
}

// count adds the time since the last event to the totals: without a leader, with two leaders, and so on.
func (f *Fold) count(now int64) {
	since := now - f.at
	f.at = now
	if !f.running || since <= 0 {
		return
	}
	leaders, sameTerm, stopped := f.leading()
	switch running := len(leaders); {
	case running == 0:
		f.Leaderless += since
	case running > 1:
		f.TwoLeaders += since
	}
	if sameTerm {
		f.TwoInTerm += since
	}
	if running := len(leaders); running < 2 && running+stopped > 1 {
		f.TwoStopped += since
	}
}

// follow updates Overlaps and Vacancies.
func (f *Fold) follow(now int64) {
	leaders, sameTerm, _ := f.leading()
	vacant := len(f.Vacancies) > 0 && f.Vacancies[len(f.Vacancies)-1].To == math.MaxInt64
	switch {
	case len(leaders) > 0:
		f.endVacancy(now)
	case !vacant:
		f.Vacancies = append(f.Vacancies, Span{now, math.MaxInt64})
	}
	if len(leaders) < 2 {
		f.endOverlap(now)
		return
	}
	last := len(f.Overlaps) - 1
	if last < 0 || f.Overlaps[last].To != math.MaxInt64 {
		f.Overlaps = append(f.Overlaps, Overlap{Span: Span{now, math.MaxInt64}})
		last++
	}
	o := &f.Overlaps[last]
	o.SameTerm = o.SameTerm || sameTerm
	for _, id := range leaders {
		if !slices.Contains(o.Leaders, id) {
			o.Leaders = append(o.Leaders, id)
		}
	}
}

func (f *Fold) endVacancy(now int64) {
	if last := len(f.Vacancies) - 1; last >= 0 && f.Vacancies[last].To == math.MaxInt64 {
		f.Vacancies[last].To = now
	}
}

// forsake updates Forsaken.
func (f *Fold) forsake(now int64) {
	open := len(f.Forsaken) > 0 && f.Forsaken[len(f.Forsaken)-1].To == math.MaxInt64
	switch lacks := f.votes.lacks(); {
	case lacks && !open:
		f.Forsaken = append(f.Forsaken, Span{now, math.MaxInt64})
	case !lacks:
		f.endForsaken(now)
	}
}

func (f *Fold) endForsaken(now int64) {
	if last := len(f.Forsaken) - 1; last >= 0 && f.Forsaken[last].To == math.MaxInt64 {
		f.Forsaken[last].To = now
	}
}

func (f *Fold) endOverlap(now int64) {
	if last := len(f.Overlaps) - 1; last >= 0 && f.Overlaps[last].To == math.MaxInt64 {
		f.Overlaps[last].To = now
	}
}

// A Flap is a leader that gave way while it was up.
type Flap struct {
	Node nodes.ID
	At   int64
	// Takeover means that the leader gave way to a node that had restarted since the leader began to lead. That
	// node leads at that moment or, if no node does, leads next.
	Takeover bool

	since int64 // when the node began to lead
}

// Takeovers returns how many flaps were take-overs.
func (f *Fold) Takeovers() (n int) {
	for i := range f.Flaps {
		if f.Flaps[i].Takeover {
			n++
		}
	}
	return n
}

// depose notes a leader that gives way while it is up.
func (f *Fold) depose(old *Belief, at int64) {
	flap := Flap{Node: old.Node, At: at, since: old.From}
	others := false
	for i := range f.nodes {
		if b := f.current(nodes.ID(i)); b != nil && b.Leads() && b.Node != old.Node {
			others = true
			flap.Takeover = flap.Takeover || f.returned(b.Node, &flap)
		}
	}
	f.Flaps = append(f.Flaps, flap)
	if others {
		f.undecided = len(f.Flaps)
	}
}

// succeed notes that a node declares itself leader: leaders that gave way while no other led gave way to it.
func (f *Fold) succeed(id nodes.ID) {
	for ; f.undecided < len(f.Flaps); f.undecided++ {
		flap := &f.Flaps[f.undecided]
		flap.Takeover = f.returned(id, flap)
	}
}

// returned reports whether a node restarted after the leader of a flap began to lead, and before it gave way.
func (f *Fold) returned(id nodes.ID, flap *Flap) bool {
	restarted := f.nodes[id].restarted
	return restarted > flap.since && restarted <= flap.At
}
