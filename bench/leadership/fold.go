// Package leadership folds a history into who believed whom to lead, and from that into elections, their
// parts, and the time without a leader or with several. Measures and checks are made from the same fold.
//
// Only what a node says of itself makes it a leader. It leads from when it declares so until it declares
// another or none, or until it is down. While it stands still it neither leads nor gives way: such time is
// counted apart.
package leadership

import (
	"fmt"
	"math"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Belief is a stretch of time in which a node took another, or itself, for the leader.
type Belief struct {
	Node, Leader nodes.ID // Leader may be nodes.None, or nodes.Somebody
	Term         uint64
	From, To     int64
	Cut          bool // it ended because its node went down, or with the history
}

// Says says in words what the node believed.
func (b *Belief) Says() string {
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

	Vacancies []Span // in which no node that ran led, in order

	Leaderless, TwoLeaders, TwoStopped, TwoInTerm int64 // nanoseconds: see docs/measures.md

	Flaps    []Flap    // leaders that were deposed while they were up, in order
	Lost     []Loss    // of leaders that crashed, in order
	Restarts []Restart // of nodes, in order

	// Unasked is when, of the nodes that were up, none had been told to campaign in that life, or had said what
	// it believed; to math.MaxInt64: when the run ended.
	Unasked []Span

	Stretches []Stretch // of all nodes from Begun to End, in the order of their beginnings

	stack      int // clients
	nodes      []node
	terms      map[uint64]nodes.ID // who led first in each term
	byTerm     bool                // terms are told apart
	at         int64               // up to when time is counted
	latest     int64               // event, of whatever kind
	running    bool                // between Begun and End
	campaigned bool                // somebody was told to
	undecided  int                 // the first of Flaps of which it is not known who leads next
	apart      *Election           // in which not all agree, and that goes on
	settled    standing            // the last leader that all agreed on
	ledSince   int64               // when it had begun to lead
	votes      tally               // who was elected
	turns      []int64             // when anything happened by which a leader may change
	conflict   map[uint64]bool
	rank       func(nodes.ID) uint32
}

// A Restart is when a node came up again.
type Restart struct {
	Node nodes.ID
	At   int64
}

// A Loss is the crash of a node that led, after which some whom it reached had no leader.
type Loss struct {
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

// A node is what is known of one client.
type node struct {
	up, stopped bool
	restarted   int64 // when it came up last; 0: it never went down
	belief      int   // its current one, in Beliefs; -1: it has said nothing in this life
	stretch     int   // its current one, in Stretches; -1: the run has not begun
	term        uint64
	declared    bool // term is known
	campaigned  bool // in this life
}

// New returns a fold of the history of a cluster whose electors promise this.
func New(c nodes.Config, promises *nodes.Leadership) *Fold {
	n, byTerm := c.N, promises.Terms
	f := &Fold{rank: func(id nodes.ID) uint32 { return promises.RankOf(c, id) }, votes: newTally(n, promises),
		stack: n, byTerm: byTerm, nodes: make([]node, n), terms: map[uint64]nodes.ID{},
		conflict: map[uint64]bool{},
		settled:  standing{leader: nodes.None}, Begun: math.MaxInt64, End: math.MaxInt64}
	for i := range f.nodes {
		f.nodes[i] = node{up: true, belief: -1, stretch: -1}
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
	case history.Elected, history.Campaigned, history.Killed, history.Crashed, history.Restarted,
		history.Paused, history.Resumed, history.Marked:
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
	case history.Campaigned, history.Killed, history.Crashed, history.Restarted, history.Paused,
		history.Resumed:
		f.turn(e.At)
	}
	switch e.Kind {
	case history.Marked:
		f.mark(&e)
	case history.Elected:
		f.elected(&e)
	case history.Campaigned:
		if f.has(e.Node) {
			f.nodes[e.Node].campaigned = true
		}
		if x := f.apart; x != nil && x.Cause.What == RunBegan && x.Detected < 0 && !f.campaigned {
			f.campaigned, x.Begun, f.votes.began = true, e.At, e.At
		}
	case history.Killed, history.Crashed:
		f.votes.down[e.Node] = true
		lost = f.down(e.Node, e.At)
	case history.Restarted:
		f.votes.down[e.Node] = false
		f.rise(e.Node, e.At)
	case history.Paused, history.Resumed:
		if id := nodes.ID(e.Count); f.has(id) {
			f.nodes[id].stopped = e.Kind == history.Paused
			f.note(id, e.At)
		}
	}
	f.note(e.Node, e.At)
	if f.running {
		f.ask(e.At)
		f.follow(e.At)
		f.settle(&e)
		f.elect(&e)
		if lost && f.lacksLeader(e.Node) {
			f.Lost = append(f.Lost, Loss{e.Node, e.At})
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
		f.begin(e.At, Cause{What: RunBegan, Node: nodes.None})
		f.votes.began = e.At
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
	f.Open, f.Apart, f.apart, f.Ending = f.unelected(), f.apart, nil, f.ending()
}

// elected takes what a node declares.
func (f *Fold) elected(e *history.Event) {
	if !f.has(e.Node) || !f.nodes[e.Node].up {
		return // it was killed and had not ended yet: its belief is over
	}
	f.Ending.Stirs = f.Ending.Stirs || f.End != math.MaxInt64
	n := &f.nodes[e.Node]
	b := Belief{Node: e.Node, Leader: nodes.ID(int32(e.Count)), Term: uint64(e.Value),
		From: e.At, To: math.MaxInt64}
	if n.declared && b.Term < n.term {
		f.Backwards = append(f.Backwards, b)
	}
	n.term, n.declared = b.Term, true
	old := f.current(e.Node)
	if b.Leads() {
		f.claim(&b)
		if f.running && (old == nil || !old.Leads() || old.Term != b.Term) {
			f.Changes = append(f.Changes, e.At)
		}
	}
	switch {
	case b.Leads():
		f.succeed(e.Node)
	case f.running && old != nil && old.Leads():
		f.depose(old, e.At)
	}
	f.endBelief(e.Node, e.At, false)
	n.belief = len(f.Beliefs)
	f.Beliefs = append(f.Beliefs, b)
}

// claim takes note of the term of a leader.
func (f *Fold) claim(b *Belief) {
	first, taken := f.terms[b.Term]
	switch {
	case !f.byTerm:
	case !taken:
		f.terms[b.Term] = b.Node
	case first != b.Node && !f.conflict[b.Term]:
		f.conflict[b.Term] = true
		f.Conflicts = append(f.Conflicts, Conflict{b.Term, first, b.Node, b.From})
	}
}

// current returns what a node believes; nil: it has said nothing in this life.
func (f *Fold) current(id nodes.ID) *Belief {
	if n := &f.nodes[id]; n.belief >= 0 {
		return &f.Beliefs[n.belief]
	}
	return nil
}

// leader returns whom a node believes to lead.
func (f *Fold) leader(id nodes.ID) nodes.ID {
	if b := f.current(id); b != nil {
		return b.Leader
	}
	return nodes.None
}

func (f *Fold) endBelief(id nodes.ID, at int64, cut bool) {
	if b := f.current(id); b != nil {
		b.To, b.Cut = at, cut
		f.nodes[id].belief = -1
	}
}

// down takes the end of a life of a node: its beliefs end with it. It reports whether it led.
func (f *Fold) down(id nodes.ID, at int64) (led bool) {
	if !f.has(id) || !f.nodes[id].up {
		return false
	}
	led = f.leader(id) == id
	f.endBelief(id, at, true)
	f.nodes[id].up, f.nodes[id].stopped, f.nodes[id].campaigned = false, false, false
	if led && f.running {
		f.begin(at, Cause{What: LeaderCrashed, Node: id})
		f.blame(id)
	}
	return led
}

// rise takes the beginning of the next life of a node.
func (f *Fold) rise(id nodes.ID, at int64) {
	if f.has(id) {
		f.nodes[id].up, f.nodes[id].stopped, f.nodes[id].restarted = true, false, at
		f.Restarts = append(f.Restarts, Restart{id, at})
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
