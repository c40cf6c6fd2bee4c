package row

import (
	"time"

	"turnstile/nodes"
)

// A Leadership is what an elector promises of its leaders. That it does not elect two rests on Spec.Safe, and
// that in the end all agree on one that is up, on Spec.Live alone.
type Leadership struct {
	// Terms says that each leader is elected for a term that no other leader has: two leaders of one term are a
	// violation, whoever else leads in another. Without terms, any two leaders at once are.
	Terms bool
	// Follow says who has to follow a leader for it to be elected; zero: all that it can reach.
	Follow Following
	// Wins says who is to be elected; zero: anybody.
	Wins winner
	// Overlap is for how long two that are up may both lead: a new leader takes over before the old one hears of
	// it. Nil: not at all. Without terms that holds as long as what safety rests on; with terms, while nothing
	// goes wrong, and once it has recovered.
	Overlap func(c nodes.Config) time.Duration
	// Lapse is within what time a leader that cannot reach a majority knows that it leads no more; nil, or
	// zero with some options: it may never know.
	Lapse func(c nodes.Config) time.Duration
	// Partitions say what becomes of its leaders in a partition that is healed; none: it is not known.
	Partitions []Partition
	// Costs is how many messages an election takes if nothing goes wrong; nil: it is not known.
	Costs func(c nodes.Config) ElectionCost
	// LeaderAlone says that nobody but the leader sends anything once all that are up agree on it.
	LeaderAlone bool
	// Mistakes is how often at most a node gives up the leader that all should agree on (see Wins), though that
	// is up, if no message takes longer than so long; nil: any number of times.
	Mistakes func(c nodes.Config, longest time.Duration) int
	// Rank is the rank of a node, of which there are no two; nil: its number.
	Rank func(c nodes.Config, id nodes.ID) uint32
}

// An ElectionCost is how many messages an election takes, the announcement of the leader included: one that
// all begin at once where every message takes the same time, and any at most.
type ElectionCost struct{ AtOnce, Most int }

// InTerms reports whether each leader is elected for a term. Of nothing that elects it says no.
func (l *Leadership) InTerms() bool { return l != nil && l.Terms }

// LapseOf returns within what time a leader without a majority knows it; 0: it may never know.
func (l *Leadership) LapseOf(c nodes.Config) time.Duration {
	if l.Lapse == nil {
		return 0
	}
	return l.Lapse(c)
}

// RankOf returns the rank of a node.
func (l *Leadership) RankOf(c nodes.Config, id nodes.ID) uint32 {
	if l.Rank == nil {
		return uint32(id)
	}
	return l.Rank(c, id)
}

// A Following says who has to follow a leader, itself included, for it to be elected: an election is over
// when they do. Whom it can reach is who is up and runs, and exchanges messages with it, both ways.
type Following uint8

// The followings.
const (
	AllReached      Following = iota // all that it can reach
	MajorityReached                  // more than half of all nodes, in its term
)

func (f Following) String() string {
	return [...]string{"all that the next can reach follow it", "a majority follows the next in its term"}[f]
}

// A winner says which of the nodes that are up is to be elected.
type winner uint8

// The winners.
const (
	AnyWins     winner = iota // whoever it turns out to be
	HighestWins               // the one of the highest rank: see RankOf
	LowestWins
)
