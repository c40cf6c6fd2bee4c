package leadership

import (
	"math"

	"turnstile/nodes"
	"turnstile/nodes/history"
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
