// Package leadership folds a history into the beliefs of nodes about the leader, and from these into
// elections, their parts, and the time without a leader or with several. Measures and checks use the same
// fold. Package nodes/leading decides which nodes lead and agree at a moment.
//
// Only a node's own declaration makes it a leader. It leads until it declares another leader or that it knows
// of no leader, or until it is down. While it stands still it neither leads nor gives way: such time is
// counted apart.
package leadership

import (
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/leading"
)

// A Belief is a stretch of time in which a node believed in one leader, perhaps itself.
type Belief struct {
	Node, Leader nodes.ID // Leader may be nodes.None, or nodes.Somebody
	Term         uint64
	From, To     int64
	Cut          bool // the belief ended because its node went down or the history ended
}

// Text describes the belief, to follow the name of the node.
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
	return says + b.InTerm()
}

// InTerm names the term of the belief, to follow other words; "": it has none.
func (b *Belief) InTerm() string {
	if b.Term == 0 {
		return ""
	}
	return fmt.Sprintf(", in term %d", b.Term)
}

// Leads reports whether the node believed in itself.
func (b *Belief) Leads() bool { return b.Leader == b.Node }

// A Fold follows the beliefs of nodes. Its fields are complete when the history is over.
type Fold struct {
	// Cuts has a Cut for each planned fault, by its number less one; nil: the fault cuts no link.
	Cuts    []Cut
	Servers int           // how many further nodes there are, which do not elect
	Grace   time.Duration // how long the scheme may take to have a leader again; 0: no timeouts

	Beliefs   []Belief   // beliefs of all nodes, in the order of their beginnings
	Overlaps  []Overlap  // times with two or more running leaders, in order
	Elections []Election // elections completed by the rule of the scheme, in order
	Open      *Election  // the election that was not completed in the end, or nil
	// Agreements are the elections that end when all running nodes agree. Apart is the uncompleted one, or nil.
	Agreements []Election
	Apart      *Election
	Conflicts  []Conflict // terms with two leaders
	Backwards  []Belief   // beliefs in a lower term than the node had before
	Changes    []int64    // when a node came to lead, or to lead in another term

	Begun, End int64 // the run, from its first mark to when it was told to stop
	Ending     Ending

	// Forsaken are the times in which a running node followed no elected leader that it reaches, by the rule of
	// the scheme.
	Forsaken []Span

	Vacancies []Span // times in which no running node led, in order

	Leaderless, TwoLeaders, TwoStopped, TwoInTerm int64 // total times in nanoseconds: see docs/measures.md

	Flaps []Flap // leaders that gave way while they were up, in order
	// Lost are the crashes of leaders after which a node that they reached had no leader, in order.
	Lost     []Incident
	Restarts []Incident // restarts of nodes, in order

	// Unasked are the times in which no node that was up had been told to campaign in its life, or had declared
	// anything. The last may reach to math.MaxInt64, beyond the end of the run.
	Unasked []Span

	Stretches []Stretch // stretches of all nodes from Begun to End, in the order of their beginnings

	stack     int // number of clients
	voters    leading.Electorate
	nodes     []node
	byTerm    bool    // leaders have terms
	at        int64   // the time up to which the totals count
	latest    int64   // the time of the latest event
	running   bool    // the run has begun, and was not told to stop yet
	uncalled  bool    // running, and no node has been told to campaign, has declared anything or was elected
	undecided int     // index in Flaps of the first leader whose successor is unknown
	votes     tally   // elected leaders by the rule of the scheme
	unanimous tally   // leaders that all running nodes follow
	turns     []int64 // times at which something happened that may change the leader
	rank      func(nodes.ID) uint32
}

// An Incident is a crash or restart of a node.
type Incident struct {
	Node nodes.ID
	At   int64
}

// A Conflict is a term in which two nodes led, perhaps at different times.
type Conflict struct {
	Term          uint64
	First, Second nodes.ID
	At            int64 // when the second declared itself
}

type standing struct {
	leader nodes.ID
	term   uint64
}

// A node is the state of one client, beside its Voter.
type node struct {
	restarted int64 // when it came up last; 0: it never went down
	belief    int   // index of its current belief in Beliefs; -1: it has declared nothing in this life
	stretch   int   // index of its current stretch in Stretches; -1: the run has not begun
}

// New returns a fold of the history of a cluster whose electors have these promises.
func New(c nodes.Config, promises *algorithm.Leadership) *Fold {
	n, byTerm := c.N, promises.Terms
	f := &Fold{rank: func(id nodes.ID) uint32 { return promises.RankOf(c, id) }, stack: n, byTerm: byTerm,
		nodes: make([]node, n), voters: make(leading.Electorate, n), Begun: math.MaxInt64, End: math.MaxInt64}
	f.votes = newTally(f, promises.Follow, &f.Elections)
	f.unanimous = newTally(f, algorithm.AllReached, &f.Agreements) // it ignores cuts: all nodes reach each other
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

// mark takes a mark of the run. The fold measures from Began until the run is told to stop.
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

// stop ends the measuring.
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

// elected takes the declaration of a node.
func (f *Fold) elected(e *history.Event) {
	if !f.has(e.Node) || !f.voters[e.Node].Up {
		return // the node was killed: its belief is over, though its process had not ended yet
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

// claim notes a node that leads in a term in which it never led before.
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

// current returns the belief of a node; nil: it has declared nothing in this life.
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

// down takes the end of a life of a node, which ends its belief. It reports whether the node led.
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
	if f.running { // the run was not told to stop: it ends with the latest event
		f.count(f.latest)
		f.stop(f.latest)
	}
	for id := range f.nodes {
		f.endBelief(nodes.ID(id), f.at, true)
	}
}

// turn notes a time at which something happened that may change the leader.
func (f *Fold) turn(at int64) { f.turns = append(f.turns, at) }

// Steady returns how often a node came to lead, or to lead in another term, in steady time, and the length of
// that time in nanoseconds. Steady time begins a grace after each turn, since a scheme may elect within that,
// and ends with the next turn. A turn is the beginning or end of a fault, a crash, a restart, a pause or a
// campaign. A scheme without a grace has no steady time.
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

// An Ending has the beliefs of the running nodes when the run was told to stop.
type Ending struct {
	Leading []nodes.ID // the leaders
	// Without are the nodes that did not follow the only leader: all, unless exactly one led.
	Without []nodes.ID
	Stirs   bool // a node declared something after the run was told to stop
}

// ending returns the Ending by the current beliefs.
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

// Asked reports whether a node was up at the end that had been told to campaign, or had declared something.
func (f *Fold) Asked() bool {
	last := len(f.Unasked) - 1
	return last < 0 || f.Unasked[last].To < math.MaxInt64
}

// ask updates Unasked.
func (f *Fold) ask(now int64) {
	switch asked, was := f.voters.Asked(), f.Asked(); {
	case asked && !was:
		f.Unasked[len(f.Unasked)-1].To = now
	case !asked && was:
		f.Unasked = append(f.Unasked, Span{now, math.MaxInt64})
	}
}

// Agreed returns the leader that all running nodes agree on after the latest event, or None.
func (f *Fold) Agreed() nodes.ID { return f.voters.Agreed() }

// Follows reports whether a node follows another one after the latest event.
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

// AgreedAtEnd returns the latest of Agreements; nil: not all running nodes agree at the end.
func (f *Fold) AgreedAtEnd() *Election {
	if last := len(f.Agreements) - 1; f.Apart == nil && last >= 0 {
		return &f.Agreements[last]
	}
	return nil
}
