package leadership

import (
	"math"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// An Election is a stretch of time that ends when enough nodes follow a running leader: in Fold.Elections as
// many as the scheme demands (algorithm.Following), in Fold.Agreements all running nodes, even if they are
// cut off.
type Election struct {
	Cause  Cause
	Begun  int64
	Leader nodes.ID // the leader that they agreed on; None if it was not completed
	Term   uint64

	// When a node first declared anything after the beginning, when the new leader last declared itself, and
	// when enough nodes followed it; -1: not yet.
	Detected, Declared, Agreed int64

	// Served is when a client first entered after the election, if the leader serves clients; -1: not yet.
	Served int64

	// Again means that the leader and its term are the same as before: some node only learned of the leader.
	Again bool
	// Takeover means that the old leader gave way to a node that had restarted since the old one began to lead.
	Takeover bool

	// The highest and the lowest by rank of the nodes that run at its end, were up all the time, and can reach
	// the leader; None: unknown, since nodes were cut off or joined again meanwhile.
	Highest, Lowest nodes.ID
}

// Elects reports whether the election chose a new leader or term, other than by a take-over.
func (e *Election) Elects() bool { return !e.Again && !e.Takeover }

// Elected returns how many completed elections do not have Again set.
func (f *Fold) Elected() int { return f.ElectedSince(math.MinInt64) }

// ElectedSince returns how many elections were completed at a time or later and do not have Again set.
func (f *Fold) ElectedSince(at int64) (n int) {
	for i := range f.Elections {
		if e := &f.Elections[i]; !e.Again && e.Agreed >= at {
			n++
		}
	}
	return n
}

// A Cause is the event that an election began with.
type Cause struct {
	What What
	Node nodes.ID // the node of the event; None: no node in particular
}

// A What is a kind of cause.
type What uint8

// The kinds of causes.
const (
	RunBegan      What = iota // no node leads when the run begins
	LeaderCrashed             // the leader is down
	nodeRestarted             // a node restarted, and knows of no leader
	doubted                   // a node declared another leader, or that it knows of no leader
	nodeStopped               // a node began or ceased to stand still
	linksCut                  // nodes were cut off from each other
	linksHealed               // such a cut was healed
)

func (w What) String() string {
	return [...]string{"the run began", "the leader crashed", "a node came up again", "a node declared",
		"a node stood still", "nodes were cut off", "a cut was healed"}[w]
}

// causeOf returns the cause of an election that begins with an event.
func causeOf(e *history.Event) Cause {
	switch e.Kind {
	case history.Restarted:
		return Cause{nodeRestarted, e.Node}
	case history.Paused, history.Resumed:
		return Cause{nodeStopped, nodes.ID(e.Count)}
	case history.Killed, history.Crashed:
		return Cause{LeaderCrashed, e.Node}
	case history.FaultBegan:
		return Cause{linksCut, nodes.None}
	case history.FaultHealed:
		return Cause{linksHealed, nodes.None}
	}
	return Cause{doubted, e.Node}
}

// A Cut reports whether a fault loses all messages from one node to another, given the victim that the run
// determined, or None.
type Cut func(from, to, victim nodes.ID) bool

// A tally finds the elected leaders by a rule: how many nodes must follow a leader.
type tally struct {
	f        *Fold
	rule     algorithm.Following
	done     *[]Election       // completed elections
	began    int64             // when the run began or, without a leader, a node was first told to campaign
	cuts     []cutInForce      // cuts that are in force
	relinked int64             // when a cut last began or ended
	down     map[nodes.ID]bool // nodes that are down, servers included

	led []tenure // by leader: its latest tenure
	by  []tenure // by node: the tenure of the elected leader that it follows, or followed last
}

type cutInForce struct {
	number  uint32
	between func(from, to nodes.ID) bool
}

// A tenure is a time in which a leader was elected, or in which a node followed it.
type tenure struct {
	standing
	held  bool  // the tenure goes on
	began int64 // when the leader declared itself
	lost  int64 // when the tenure ended
	cause Cause // why the tenure ended
}

// A party is an elected leader with its followers.
type party struct {
	standing
	members []nodes.ID
}

func newTally(f *Fold, rule algorithm.Following, done *[]Election) tally {
	t := tally{f: f, rule: rule, done: done, led: make([]tenure, f.stack), by: make([]tenure, f.stack),
		relinked: math.MinInt64, down: map[nodes.ID]bool{}}
	for i := range t.led {
		t.led[i].leader, t.by[i].leader = nodes.None, nodes.None
	}
	return t
}

// relink takes the beginning or end of a fault, and reports whether the fault cuts links.
func (f *Fold) relink(e *history.Event) bool {
	if e.Count < 1 || int(e.Count) > len(f.Cuts) || f.Cuts[e.Count-1] == nil {
		return false
	}
	t, cut, victim := &f.votes, f.Cuts[e.Count-1], nodes.ID(e.Entry)-1
	t.cuts = slices.DeleteFunc(t.cuts, func(c cutInForce) bool { return c.number == e.Count })
	if e.Kind == history.FaultBegan {
		t.cuts = append(t.cuts, cutInForce{e.Count,
			func(from, to nodes.ID) bool { return cut(from, to, victim) }})
	}
	t.relinked = e.At
	return true
}

// reaches reports whether messages pass between two nodes both ways, directly or through a server.
func (t *tally) reaches(a, b nodes.ID) bool {
	if a == b || len(t.cuts) == 0 || t.linked(a, b) {
		return true
	}
	for id := range nodes.ID(t.f.Servers) {
		if id += nodes.ID(t.f.stack); !t.down[id] && t.linked(a, id) && t.linked(b, id) {
			return true
		}
	}
	return false
}

func (t *tally) linked(a, b nodes.ID) bool {
	return !slices.ContainsFunc(t.cuts, func(c cutInForce) bool { return c.between(a, b) || c.between(b, a) })
}

// parties returns the elected leaders, which enough nodes follow by the rule, and their followers.
func (t *tally) parties() (all []party) {
	for i := range t.f.voters {
		if id := nodes.ID(i); t.f.voters.Leads(id) {
			if members := t.following(id); members != nil {
				all = append(all, party{standing{id, t.f.voters[i].Term}, members})
			}
		}
	}
	return all
}

// following returns the nodes that a leader reaches and that follow it; nil if these are too few by the rule.
func (t *tally) following(leader nodes.ID) (members []nodes.ID) {
	majority := t.rule == algorithm.MajorityReached
	for i := range t.f.voters {
		id := nodes.ID(i)
		if !t.f.voters[i].Runs() || !t.reaches(leader, id) {
			continue
		}
		switch {
		case t.f.voters.Follows(id, leader) && (!majority || t.f.voters[i].Term == t.f.voters[leader].Term):
			members = append(members, id)
		case !majority:
			return nil
		}
	}
	if majority && 2*len(members) <= t.f.stack {
		return nil
	}
	return members
}

// elect updates the tenures after an event, and completes elections.
func (t *tally) elect(e *history.Event) {
	parties, why := t.parties(), causeOf(e)
	led := make([]standing, t.f.stack) // by node: the elected leader that it follows
	for i := range led {
		led[i].leader = nodes.None
	}
	for _, p := range parties {
		for _, id := range p.members {
			led[id] = p.standing
		}
	}
	for i := range led {
		for _, x := range []*tenure{&t.led[i], &t.by[i]} {
			if x.held && led[i] != x.standing {
				x.held, x.lost, x.cause = false, e.At, why
			}
		}
	}
	for _, p := range parties {
		if x := &t.led[p.leader]; !x.held {
			t.complete(&p, e.At)
			*x = tenure{standing: p.standing, held: true, began: t.f.current(p.leader).From}
		}
		for _, id := range p.members {
			t.by[id] = t.led[p.leader]
		}
	}
}

// losses returns the tenures that ended last, maybe several at once, and when they ended. A tenure counts if
// a member of the party followed its leader, or if the new leader reaches its leader.
func (t *tally) losses(leader nodes.ID, members []nodes.ID) (all []tenure, at int64) {
	at = t.began
	add := func(x *tenure) {
		switch {
		case x.leader == nodes.None || x.lost < at:
		case x.lost > at:
			all, at = []tenure{*x}, x.lost
		default:
			all = append(all, *x)
		}
	}
	for _, id := range members {
		if x := &t.by[id]; !x.held {
			add(x)
		}
	}
	for i := range t.led {
		if x := &t.led[i]; !x.held && x.leader != nodes.None && t.reaches(leader, x.leader) {
			add(x)
		}
	}
	return all, at
}

// complete adds an election that a party has completed.
func (t *tally) complete(p *party, at int64) {
	lost, begun := t.losses(p.leader, p.members)
	done := Election{Cause: causeOfLoss(lost), Begun: begun, Leader: p.leader, Term: p.term, Agreed: at,
		Declared: max(begun, t.f.current(p.leader).From), Served: -1}
	if done.Detected = t.firstWord(p.leader, begun); done.Detected < 0 {
		done.Detected = done.Declared
	}
	for i := range lost {
		done.Again = done.Again || lost[i].standing == p.standing
		done.Takeover = done.Takeover || lost[i].leader != p.leader && lost[i].cause.What != LeaderCrashed &&
			t.f.nodes[p.leader].restarted > lost[i].began
	}
	if done.Again && done.Agreed == done.Begun {
		return // nothing has changed
	}
	done.Takeover = done.Takeover && !done.Again
	done.Highest, done.Lowest = t.extremes(p.leader, begun)
	*t.done = append(*t.done, done)
}

// causeOfLoss returns why a leader was lost. A crash comes before other causes.
func causeOfLoss(lost []tenure) Cause {
	if len(lost) == 0 {
		return Cause{RunBegan, nodes.None}
	}
	for i := range lost {
		if lost[i].cause.What == LeaderCrashed {
			return lost[i].cause
		}
	}
	return lost[0].cause
}

// firstWord returns when a node that a leader reaches first declared anything, from a time on, or -1.
func (t *tally) firstWord(leader nodes.ID, from int64) int64 {
	first := int64(-1)
	for i := len(t.f.Beliefs) - 1; i >= 0 && t.f.Beliefs[i].From >= from; i-- {
		if b := &t.f.Beliefs[i]; t.reaches(leader, b.Node) {
			first = b.From
		}
	}
	return first
}

// extremes returns the highest and the lowest by rank of the nodes that run, have been up since a time and
// reach a leader. It returns None if links were cut or healed since then, or if these nodes do not all reach
// each other: then their ranks do not determine which of them should be elected.
func (t *tally) extremes(leader nodes.ID, since int64) (highest, lowest nodes.ID) {
	highest, lowest = nodes.None, nodes.None
	if t.relinked > since || !t.together(leader) {
		return highest, lowest
	}
	for i := range t.f.nodes {
		id := nodes.ID(i)
		if !t.f.voters[i].Runs() || t.f.nodes[i].restarted > since || !t.reaches(leader, id) {
			continue
		}
		if highest == nodes.None || t.f.rank(id) > t.f.rank(highest) {
			highest = id
		}
		if lowest == nodes.None || t.f.rank(id) < t.f.rank(lowest) {
			lowest = id
		}
	}
	return highest, lowest
}

// together reports whether all running nodes that reach a node reach the same nodes as it.
func (t *tally) together(with nodes.ID) bool {
	if len(t.cuts) == 0 {
		return true
	}
	for i := range t.f.voters {
		id := nodes.ID(i)
		if !t.f.voters[i].Runs() || !t.reaches(with, id) {
			continue
		}
		for j := range t.f.voters {
			if t.f.voters[j].Runs() && t.reaches(with, nodes.ID(j)) != t.reaches(id, nodes.ID(j)) {
				return false
			}
		}
	}
	return true
}

// holds reports whether a leader is elected.
func (t *tally) holds() bool {
	return slices.ContainsFunc(t.led, func(x tenure) bool { return x.held })
}

// lacks reports whether a running node has no elected leader; if a majority elects, whether no leader is
// elected.
func (t *tally) lacks() bool {
	if t.rule == algorithm.MajorityReached {
		return !t.holds()
	}
	for i := range t.by {
		if t.f.voters[i].Runs() && !t.by[i].held {
			return true
		}
	}
	return false
}

// leaderCrashed notes that a leader is down. This becomes the cause for all nodes without a leader.
func (t *tally) leaderCrashed(crashed nodes.ID) {
	why := Cause{LeaderCrashed, crashed}
	for i := range t.by {
		t.by[i].cause = why
		if x := &t.led[i]; !x.held {
			x.cause = why
		}
	}
}

// lacksLeader reports whether a running node that could reach a crashed one has no elected leader.
func (t *tally) lacksLeader(crashed nodes.ID) bool {
	held := t.holds()
	if !held || t.rule == algorithm.MajorityReached {
		return !held
	}
	for i := range t.f.nodes {
		if t.f.voters[i].Runs() && !t.by[i].held && t.reaches(nodes.ID(i), crashed) {
			return true
		}
	}
	return false
}

// unelected returns the election that goes on, or nil. If several groups elect, it returns the one that began
// first; if a majority elects, the one that began last.
func (t *tally) unelected() (open *Election) {
	held := t.holds()
	majority := t.rule == algorithm.MajorityReached
	if held && majority {
		return nil
	}
	for i := range t.f.nodes {
		if !t.f.voters[i].Runs() || t.by[i].held {
			continue
		}
		lost, begun := t.losses(nodes.ID(i), []nodes.ID{nodes.ID(i)})
		if open == nil || majority && begun > open.Begun || !majority && begun < open.Begun {
			open = openSince(lost, begun)
		}
	}
	if open == nil && !held { // no node runs that could agree
		open = openSince(t.losses(0, nil))
	}
	return open
}

func openSince(lost []tenure, begun int64) *Election {
	return &Election{Cause: causeOfLoss(lost), Begun: begun, Leader: nodes.None, Detected: -1, Declared: -1,
		Agreed: -1, Served: -1}
}
