package leadership

import (
	"fmt"
	"math"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/leading"
	"turnstile/nodes/row"
)

// A Belief is a stretch of time in which a node took another, or itself, for the leader.
type Belief struct {
	Node, Leader nodes.ID // Leader may be nodes.None, or nodes.Somebody
	Term         uint64
	From, To     int64
	Cut          bool // it ended because its node went down, or with the history
}

// Text says in words what the node believed.
func (b *Belief) Text() string {
	says := ""
	switch b.Leader {
	case b.Node:
		says = "says that it leads"
	case nodes.None:
		says = "knows of no leader"
	case nodes.Somebody:
		says = "says that somebody else leads"
	default:
		says = fmt.Sprintf("says that node %d leads", b.Leader)
	}
	if b.Term > 0 {
		says += fmt.Sprintf(", in term %d", b.Term)
	}
	return says
}

// Leads reports whether the node believed in itself.
func (b *Belief) Leads() bool { return b.Leader == b.Node }

// A Fold follows what nodes believe. Its fields are complete when the history is over.
type Fold struct {
	// Cuts are the faults that were asked for, in the order of their numbers; nil: it cuts no link.
	Cuts    []Cut
	Servers int           // how many nodes there are beside those that elect
	Grace   time.Duration // within which the scheme has a leader again; 0: it has no timeouts

	Beliefs   []Belief   // in the order of their beginnings
	Overlaps  []Overlap  // with two leaders or more that run, in order
	Elections []Election // that were completed, by what the scheme says, in order
	Open      *Election  // that was not completed when the history ended; nil: all were
	// Agreements are the same, completed when all nodes agreed that were up and ran; Apart is what Open is.
	Agreements []Election
	Apart      *Election
	Conflicts  []Conflict // terms with two leaders
	Backwards  []Belief   // in a lower term than the node had before
	Changes    []int64    // when a node came to lead, or to lead in another term

	Begun, End int64 // the run, from its first mark to when it was told to stop
	Ending     Ending

	// Forsaken is when a node that ran followed no elected leader that it reaches, by what the scheme says.
	Forsaken []Span

	Vacancies []Span // in which no node that ran led, in order

	Leaderless, TwoLeaders, TwoStopped, TwoInTerm int64 // nanoseconds: see docs/measures.md

	Flaps []Flap // leaders that were deposed while they were up, in order
	// Lost are the crashes of nodes that led, after which some whom they reached had no leader, in order.
	Lost     []Incident
	Restarts []Incident // of nodes, in order

	// Unasked is when, of the nodes that were up, none had been told to campaign in that life, or had said what
	// it believed; to math.MaxInt64: when the run ended.
	Unasked []Span

	Stretches []Stretch // of all nodes from Begun to End, in the order of their beginnings

	stack     int // clients
	voters    leading.Electorate
	nodes     []node
	byTerm    bool  // terms are told apart
	at        int64 // up to when time is counted
	latest    int64 // event, of whatever kind
	running   bool  // between Begun and End
	uncalled  bool  // it runs, and nobody has been told to campaign, has declared anything or was elected
	undecided int   // the first of Flaps of which it is not known who leads next
	votes     tally // who was elected by what the scheme says, and whom all agreed on
	unanimous tally
	turns     []int64 // when anything happened by which a leader may change
	rank      func(nodes.ID) uint32
}

// An Incident is what befell a node at a time.
type Incident struct {
	Node nodes.ID
	At   int64
}

// A Conflict is a term in which two nodes led, at any time.
type Conflict struct {
	Term          uint64
	First, Second nodes.ID
	At            int64 // when the second declared itself
}

type standing struct {
	leader nodes.ID
	term   uint64
}

// A node is what is known of one client, beside what makes it a voter.
type node struct {
	restarted int64 // when it came up last; 0: it never went down
	belief    int   // its current one, in Beliefs; -1: it has said nothing in this life
	stretch   int   // its current one, in Stretches; -1: the run has not begun
}

// New returns a fold of the history of a cluster whose electors promise this.
func New(c nodes.Config, promises *row.Leadership) *Fold {
	n, byTerm := c.N, promises.Terms
	f := &Fold{rank: func(id nodes.ID) uint32 { return promises.RankOf(c, id) }, stack: n, byTerm: byTerm,
		nodes: make([]node, n), voters: make(leading.Electorate, n), Begun: math.MaxInt64, End: math.MaxInt64}
	f.votes = newTally(f, promises.Follow, &f.Elections)
	f.unanimous = newTally(f, row.AllReached, &f.Agreements) // it knows of no cuts, so all reach all
	for i := range f.nodes {
		f.nodes[i] = node{belief: -1, stretch: -1}
		f.voters[i] = leading.Voter{Up: true, Belief: new(leading.Belief)}
		f.voters[i].Crash()
	}
	return f
}

// Add implements history.Fold.
func (f *Fold) Add(e history.Event) {
	f.latest = e.At
	switch e.Kind {
	case history.Entered:
		if last := len(f.Elections) - 1; last >= 0 && f.Elections[last].Served < 0 {
			f.Elections[last].Served = e.At
		}
		return
	case history.Elected, history.Marked:
	case history.Campaigned, history.Killed, history.Crashed, history.Restarted, history.Paused,
		history.Resumed:
		f.turn(e.At)
	case history.FaultBegan, history.FaultHealed:
		f.turn(e.At)
		if !f.relink(&e) {
			return
		}
	default:
		return
	}
	f.count(e.At)
	lost := false
	switch e.Kind {
	case history.Marked:
		f.mark(&e)
	case history.Elected:
		f.elected(&e)
	case history.Campaigned:
		if f.has(e.Node) {
			f.voters[e.Node].TakesPart = true
		}
		if f.uncalled {
			f.uncalled, f.votes.began, f.unanimous.began = false, e.At, e.At
		}
	case history.Killed, history.Crashed:
		f.votes.down[e.Node] = true
		lost = f.down(e.Node, e.At)
	case history.Restarted:
		f.votes.down[e.Node] = false
		f.rise(e.Node, e.At)
	case history.Paused, history.Resumed:
		if id := nodes.ID(e.Count); f.has(id) {
			f.voters[id].Stopped = e.Kind == history.Paused
			f.note(id, e.At)
		}
	}
	f.note(e.Node, e.At)
	if f.running {
		f.ask(e.At)
		f.follow(e.At)
		f.votes.elect(&e)
		f.unanimous.elect(&e)
		f.forsake(e.At)
		f.uncalled = f.uncalled && !f.unanimous.holds()
		if lost && f.votes.lacksLeader(e.Node) {
			f.Lost = append(f.Lost, Incident{e.Node, e.At})
		}
	}
}

func (f *Fold) has(id nodes.ID) bool { return id >= 0 && int(id) < f.stack }

// mark takes a mark of the run: what is measured lasts from its beginning until it is told to stop.
func (f *Fold) mark(e *history.Event) {
	switch e.Count {
	case history.Began:
		f.Begun, f.running = e.At, true
		for id := range f.nodes {
			f.note(nodes.ID(id), e.At)
		}
		f.uncalled, f.votes.began, f.unanimous.began = true, e.At, e.At
	case history.Stopped, history.Interrupted, history.Stalled:
		if f.running {
			f.stop(e.At)
		}
	}
}

// stop ends what is measured.
func (f *Fold) stop(at int64) {
	f.End, f.running = at, false
	for i := range f.nodes {
		if n := &f.nodes[i]; n.stretch >= 0 {
			f.Stretches[n.stretch].To = at
		}
	}
	f.endVacancy(at)
	f.endOverlap(at)
	f.endForsaken(at)
	f.Open, f.Apart, f.Ending = f.votes.unelected(), f.unanimous.unelected(), f.ending()
}

// elected takes what a node declares.
func (f *Fold) elected(e *history.Event) {
	if !f.has(e.Node) || !f.voters[e.Node].Up {
		return // it was killed and had not ended yet: its belief is over
	}
	f.Ending.Stirs, f.uncalled = f.Ending.Stirs || f.End != math.MaxInt64, false
	n := &f.nodes[e.Node]
	b := Belief{Node: e.Node, Leader: nodes.ID(int32(e.Count)), Term: uint64(e.Value),
		From: e.At, To: math.MaxInt64}
	backwards, first := f.voters[e.Node].Declare(e.Node, b.Leader, b.Term, f.byTerm)
	if backwards {
		f.Backwards = append(f.Backwards, b)
	}
	if first {
		f.claim(&b)
	}
	old := f.current(e.Node)
	switch {
	case b.Leads():
		f.succeed(e.Node)
		if f.running && (old == nil || !old.Leads() || old.Term != b.Term) {
			f.Changes = append(f.Changes, e.At)
		}
	case f.running && old != nil && old.Leads():
		f.depose(old, e.At)
	}
	f.endBelief(e.Node, e.At, false)
	n.belief = len(f.Beliefs)
	f.Beliefs = append(f.Beliefs, b)
}

// claim takes note of a node that leads in a term in which it never led before.
func (f *Fold) claim(b *Belief) {
	var before []nodes.ID
	for i := range f.voters {
		if id := nodes.ID(i); id != b.Node && f.voters[i].Led(b.Term) {
			before = append(before, id)
		}
	}
	if len(before) == 1 {
		f.Conflicts = append(f.Conflicts, Conflict{b.Term, before[0], b.Node, b.From})
	}
}

// current returns what a node believes; nil: it has said nothing in this life.
func (f *Fold) current(id nodes.ID) *Belief {
	if n := &f.nodes[id]; n.belief >= 0 {
		return &f.Beliefs[n.belief]
	}
	return nil
}

func (f *Fold) endBelief(id nodes.ID, at int64, cut bool) {
	if b := f.current(id); b != nil {
		b.To, b.Cut = at, cut
		f.nodes[id].belief = -1
	}
}

// down takes the end of a life of a node: its beliefs end with it. It reports whether it led.
func (f *Fold) down(id nodes.ID, at int64) (led bool) {
	if !f.has(id) || !f.voters[id].Up {
		return false
	}
	led = f.voters[id].Leader == id
	f.endBelief(id, at, true)
	f.voters[id].Up, f.voters[id].Stopped = false, false
	f.voters[id].Crash()
	if led && f.running {
		f.votes.leaderCrashed(id)
		f.unanimous.leaderCrashed(id)
	}
	return led
}

// rise takes the beginning of the next life of a node.
func (f *Fold) rise(id nodes.ID, at int64) {
	if f.has(id) {
		f.voters[id].Up, f.voters[id].Stopped, f.nodes[id].restarted = true, false, at
		f.Restarts = append(f.Restarts, Incident{id, at})
	}
}

// Close implements history.Fold.
func (f *Fold) Close([]*history.NodeLog) {
	if f.running { // it was not told to stop: whoever led did so as long as anything is known
		f.count(f.latest)
		f.stop(f.latest)
	}
	for id := range f.nodes {
		f.endBelief(nodes.ID(id), f.at, true)
	}
}
