// Package leadership folds a history into who believed whom to lead, and from that into elections, their
// parts, and the time without a leader or with several. Measures and checks are made from the same fold. Who
// leads and who agrees at a moment is decided in nodes/leading.
//
// Only what a node says of itself makes it a leader. It leads from when it declares so until it declares
// another or none, or until it is down. While it stands still it neither leads nor gives way: such time is
// counted apart.
package leadership

import (
	"fmt"
	"math"
	"slices"
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

// turn notes a time at which something happened that may change the leader.
func (f *Fold) turn(at int64) { f.turns = append(f.turns, at) }

// Steady returns how often another node came to lead, or one in another term, in the time in which no fault
// began or ended, nobody crashed, came up again, stood still or was told to campaign, and how long that was,
// in nanoseconds. It begins anew a grace after each of these moments: within that a scheme may elect. A
// scheme without a grace elects when it is told to.
func (f *Fold) Steady() (changes int, length int64) {
	if f.Grace == 0 {
		return 0, 0
	}
	turns := append([]int64{f.Begun}, f.turns...)
	turns = append(turns, f.End)
	slices.Sort(turns)
	for i := range len(turns) - 1 {
		from, to := max(turns[i], f.Begun)+int64(f.Grace), min(turns[i+1], f.End)
		if from >= to {
			continue
		}
		length += to - from
		changes += f.ChangesIn(from, to)
	}
	return changes, length
}

// An Ending is whom the nodes that were up and ran took for the leader when the run was told to stop.
type Ending struct {
	Leading []nodes.ID // those that led
	// Without are those that did not take the only one that led for the leader: all, unless one led.
	Without []nodes.ID
	Stirs   bool // a node declared something after that
}

// ending returns whom the nodes that are up and run take for the leader.
func (f *Fold) ending() (e Ending) {
	e.Leading = f.voters.Leaders()
	for i := range f.voters {
		v := &f.voters[i]
		if v.Runs() && (len(e.Leading) != 1 || v.Leader != e.Leading[0] && v.Leader != nodes.Somebody) {
			e.Without = append(e.Without, nodes.ID(i))
		}
	}
	return e
}

// Asked reports whether somebody was up at the end who had been told to campaign, or had said something.
func (f *Fold) Asked() bool {
	last := len(f.Unasked) - 1
	return last < 0 || f.Unasked[last].To < math.MaxInt64
}

// ask follows when nobody that is up has a reason to elect a leader.
func (f *Fold) ask(now int64) {
	switch asked, was := f.voters.Asked(), f.Asked(); {
	case asked && !was:
		f.Unasked[len(f.Unasked)-1].To = now
	case !asked && was:
		f.Unasked = append(f.Unasked, Span{now, math.MaxInt64})
	}
}

// Agreed returns whom all nodes that are up and run take for the leader after the latest event; None: they do
// not all take the same one.
func (f *Fold) Agreed() nodes.ID { return f.voters.Agreed() }

// Follows reports whether a node takes another for the leader after the latest event.
func (f *Fold) Follows(id nodes.ID) bool {
	if !f.has(id) || !f.voters[id].Up {
		return false
	}
	leader := f.voters[id].Leader
	return leader != nodes.None && leader != id
}

// LeadersAt returns the nodes that led just before a time, in the order of their numbers.
func (f *Fold) LeadersAt(at int64) (ids []nodes.ID) {
	for i := range f.Stretches {
		if s := &f.Stretches[i]; s.State == Leads && s.From < at && at <= s.To {
			ids = append(ids, s.Node)
		}
	}
	slices.Sort(ids)
	return ids
}

// ChangesIn returns how often a node came to lead, or to lead in another term, in [from, to).
func (f *Fold) ChangesIn(from, to int64) int {
	first, _ := slices.BinarySearch(f.Changes, from)
	past, _ := slices.BinarySearch(f.Changes, to)
	return max(0, past-first)
}

// AgreedAtEnd returns the latest of Agreements; nil: at the end, not all nodes that are up and run agree.
func (f *Fold) AgreedAtEnd() *Election {
	if last := len(f.Agreements) - 1; f.Apart == nil && last >= 0 {
		return &f.Agreements[last]
	}
	return nil
}
