package leadership

import (
	"math"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An Election is a stretch of time in which those who were to follow a running node, itself included, did
// not: in Fold.Elections those that the scheme says (nodes.Following), in Fold.Agreements all that were up
// and ran, whatever cut them off. It is over when they do.
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

	// Again says that the leader is the one whom they had agreed on before, in the same term: nobody was
	// elected, somebody only learned who leads.
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
	NodeRestarted             // a node came up again, which knows of no leader
	Doubted                   // a node declared another leader, or none
	NodeStopped               // the leader stands still, or goes on
	LinksCut                  // nodes were cut off from each other
	LinksHealed               // such a cut was healed
)

func (w What) String() string {
	return [...]string{"the run began", "the leader crashed", "a node came up again", "a node declared",
		"a node stood still", "nodes were cut off", "a cut was healed"}[w]
}

// begin notes that no leader is agreed on from now on, unless that was so before.
func (f *Fold) begin(at int64, why Cause) {
	if f.apart != nil {
		if why.What == LeaderCrashed && f.apart.Cause.What != RunBegan { // the more telling cause
			f.apart.Cause = why
		}
		return
	}
	f.apart = &Election{Cause: why, Begun: at, Leader: nodes.None, Detected: -1, Declared: -1,
		Agreed: -1, Served: -1}
}

// settle follows when all agree: e has just been taken.
func (f *Fold) settle(e *history.Event) {
	agreed := f.agreed()
	if agreed.leader == nodes.None && f.apart == nil {
		f.begin(e.At, causeOf(e))
	}
	if f.apart == nil {
		if agreed != f.settled { // all of one node
			f.begin(e.At, causeOf(e))
		} else {
			return
		}
	}
	if e.Kind == history.Elected && f.apart.Detected < 0 && f.has(e.Node) && f.nodes[e.Node].up {
		f.apart.Detected = e.At
	}
	if agreed.leader == nodes.None {
		return
	}
	done := f.apart
	f.apart = nil
	done.Leader, done.Term, done.Agreed = agreed.leader, agreed.term, e.At
	done.Declared = max(done.Begun, f.current(agreed.leader).From)
	if done.Detected < 0 {
		done.Detected = done.Declared
	}
	done.Again = agreed == f.settled
	if before := f.settled.leader; before != nodes.None && done.Cause.What != LeaderCrashed {
		done.Takeover = agreed.leader != before && f.nodes[agreed.leader].restarted > f.ledSince
	}
	f.settled, f.ledSince = agreed, f.current(agreed.leader).From
	if done.Again && done.Agreed == done.Begun {
		return // at no time was it otherwise
	}
	f.Agreements = append(f.Agreements, *done)
}

// causeOf returns what an election begins with that an event brings about.
func causeOf(e *history.Event) Cause {
	switch e.Kind {
	case history.Restarted:
		return Cause{NodeRestarted, e.Node}
	case history.Paused, history.Resumed:
		return Cause{NodeStopped, nodes.ID(e.Count)}
	case history.Killed, history.Crashed:
		return Cause{LeaderCrashed, e.Node}
	case history.FaultBegan:
		return Cause{LinksCut, nodes.None}
	case history.FaultHealed:
		return Cause{LinksHealed, nodes.None}
	}
	return Cause{Doubted, e.Node}
}

// agreed returns the leader that all nodes that are up and run agree on; None: there is none.
func (f *Fold) agreed() standing {
	none := standing{leader: nodes.None}
	leader, somebody := nodes.None, false
	for i := range f.nodes {
		if n := &f.nodes[i]; !n.up || n.stopped {
			continue
		}
		switch l := f.leader(nodes.ID(i)); {
		case l == nodes.None:
			return none
		case l == nodes.Somebody:
			somebody = true
		case leader != nodes.None && leader != l:
			return none
		default:
			leader = l
		}
	}
	if leader == nodes.None || !f.has(leader) || !f.nodes[leader].up || f.nodes[leader].stopped ||
		f.leader(leader) != leader || somebody && !f.alone(leader) {
		return none
	}
	return standing{leader, f.current(leader).Term}
}

// alone reports whether nobody else leads.
func (f *Fold) alone(leader nodes.ID) bool {
	for i := range f.nodes {
		if id := nodes.ID(i); id != leader && f.nodes[i].up && f.leader(id) == id {
			return false
		}
	}
	return true
}
