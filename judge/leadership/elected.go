package leadership

import (
	"math"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
)

// An Election is a stretch of time that ends when enough nodes follow one that runs: in Fold.Elections those
// that the scheme demands (row.Following), in Fold.Agreements all that are up and run, whatever cuts them
// off.
type Election struct {
	Cause  Cause
	Begun  int64
	Leader nodes.ID // whom they agreed on; None if it was not completed
	Term   uint64

	// When a node first declared anything after it had begun, when the later leader declared itself last, and
	// when all of them followed it; -1: not yet.
	Detected, Declared, Agreed int64

	// Served is when a client first entered after it, where the leader serves clients; -1: none did.
	Served int64

	// Again says that the leader and its term are those of before: nobody was elected, some node only learned
	// who leads.
	Again bool
	// Takeover says that the leader of before gave way to a node that had come up again since it began to lead.
	Takeover bool

	// The highest and the lowest by rank of those that ran when it was over and had been up all the time, and
	// that the leader could reach; None: there was none, or somebody was cut off, or joined again, meanwhile.
	Highest, Lowest nodes.ID
}

// Elects reports whether somebody was elected, and not by a take-over.
func (e *Election) Elects() bool { return !e.Again && !e.Takeover }

// Elected returns how many elections were completed that elected somebody: see Election.Again.
func (f *Fold) Elected() int { return f.ElectedSince(math.MinInt64) }

// ElectedSince returns how many of them were completed at a time or later.
func (f *Fold) ElectedSince(at int64) (n int) {
	for i := range f.Elections {
		if e := &f.Elections[i]; !e.Again && e.Agreed >= at {
			n++
		}
	}
	return n
}

// A Cause is what an election began with.
type Cause struct {
	What What
	Node nodes.ID // that crashed, came up again or declared; None: no node in particular
}

// What an election begins with.
type What uint8

// The causes.
const (
	RunBegan      What = iota // nobody leads when the run begins
	LeaderCrashed             // the leader is down
	nodeRestarted             // a node came up again, which knows of no leader
	doubted                   // a node declared another leader, or none
	nodeStopped               // the leader stands still, or goes on
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

// A Cut reports whether a fault loses all messages from one node to another, if it hit a victim that came out
// in the run, or None.
type Cut func(from, to, victim nodes.ID) bool

// A tally follows who was elected, by a rule.
type tally struct {
	f        *Fold
	rule     row.Following
	done     *[]Election       // that were completed
	began    int64             // when the run did, or somebody was first told to campaign
	cuts     []cutInForce      // of the faults that are in force
	relinked int64             // when one of these last began or ended
	down     map[nodes.ID]bool // nodes, servers included

	led []tenure // by leader: the latest time for which it was elected
	by  []tenure // by node: of the elected leader that it follows, or did last
}

type cutInForce struct {
	number  uint32
	between func(from, to nodes.ID) bool
}

// A tenure is a time for which a leader was elected, or in which a node followed it.
type tenure struct {
	standing
	held  bool  // it goes on
	began int64 // when the node declared itself
	lost  int64 // when it ended
	cause Cause // of that
}

// A party is an elected leader with those who follow it.
type party struct {
	standing
	members []nodes.ID
}

func newTally(f *Fold, rule row.Following, done *[]Election) tally {
	t := tally{f: f, rule: rule, done: done, led: make([]tenure, f.stack), by: make([]tenure, f.stack),
		relinked: math.MinInt64, down: map[nodes.ID]bool{}}
	for i := range t.led {
		t.led[i].leader, t.by[i].leader = nodes.None, nodes.None
	}
	return t
}

// relink takes the beginning or the end of a fault, and reports whether it cuts links.
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

// reaches reports whether messages pass between two nodes, both ways: from one to the other or by a server
// that both reach.
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

// parties returns the leaders that enough nodes follow, by the rule.
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

// following returns the nodes that a leader reaches and that follow it; nil: too few, by the rule.
func (t *tally) following(leader nodes.ID) (members []nodes.ID) {
	majority := t.rule == row.MajorityReached
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

// elect follows elections: e has just been taken.
func (t *tally) elect(e *history.Event) {
	parties, why := t.parties(), causeOf(e)
	led := make([]standing, t.f.stack) // by node: whom it follows that is elected
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

// losses returns the latest elected leader that the members of a party lost, and when: one of them followed
// it, or leader reaches it. Several may be lost at once.
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

// complete takes an election that is over.
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
		return // at no time was it otherwise
	}
	done.Takeover = done.Takeover && !done.Again
	done.Highest, done.Lowest = t.extremes(p.leader, begun)
	*t.done = append(*t.done, done)
}

// causeOfLoss returns why a leader was lost: of several causes the most telling one.
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

// firstWord returns when a node that a leader reaches first declared anything, from a time on; -1: none did.
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
// reach a leader; None, if links were cut or healed since then, or if they do not all reach each other: then
// their ranks do not say which of them can be elected.
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

// together reports whether those that run and reach a node reach the same nodes as it.
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

// holds reports whether somebody is elected.
func (t *tally) holds() bool {
	return slices.ContainsFunc(t.led, func(x tenure) bool { return x.held })
}

// lacks reports whether a node that runs has no elected leader; of a majority, whether there is none.
func (t *tally) lacks() bool {
	if t.rule == row.MajorityReached {
		return !t.holds()
	}
	for i := range t.by {
		if t.f.voters[i].Runs() && !t.by[i].held {
			return true
		}
	}
	return false
}

// leaderCrashed notes that a leader is down: for nodes without a leader this becomes the cause.
func (t *tally) leaderCrashed(crashed nodes.ID) {
	why := Cause{LeaderCrashed, crashed}
	for i := range t.by {
		t.by[i].cause = why
		if x := &t.led[i]; !x.held {
			x.cause = why
		}
	}
}

// lacksLeader reports whether a node that runs and could reach one that is down has no elected leader.
func (t *tally) lacksLeader(crashed nodes.ID) bool {
	held := t.holds()
	if !held || t.rule == row.MajorityReached {
		return !held
	}
	for i := range t.f.nodes {
		if t.f.voters[i].Runs() && !t.by[i].held && t.reaches(nodes.ID(i), crashed) {
			return true
		}
	}
	return false
}

// unelected returns the election that goes on: of several groups, the one that began first; of a majority, as
// it was lost last; nil: none does.
func (t *tally) unelected() (open *Election) {
	held := t.holds()
	majority := t.rule == row.MajorityReached
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
	if open == nil && !held { // nobody is left who could agree
		open = openSince(t.losses(0, nil))
	}
	return open
}

func openSince(lost []tenure, begun int64) *Election {
	return &Election{Cause: causeOfLoss(lost), Begun: begun, Leader: nodes.None, Detected: -1, Declared: -1,
		Agreed: -1, Served: -1}
}
