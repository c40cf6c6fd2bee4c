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

// A Partition is what becomes of the leaders of a cluster that is cut into sides and healed, and why. In the
// end all agree on one leader.
type Partition struct {
	Cuts Severed // what is cut between the sides
	Does Parted
	Why  string // with its source if it is published
	// In says in which configurations it holds; nil: in all.
	In func(c nodes.Config) bool
	// Mend is the option with which the row promises more, as in "pre-vote on"; empty: there is none.
	Mend string
}

// PartitionsIn returns what the row says of partitions in a configuration: of those that part the cluster
// into sides, or of those that cut some links, or one direction of some.
func (l *Leadership) PartitionsIn(c nodes.Config, someLinks bool) (all []Partition) {
	for _, p := range l.Partitions {
		if (p.Cuts == SomeLinks) == someLinks && (p.In == nil || p.In(c)) {
			all = append(all, p)
		}
	}
	return all
}

// Severed says what a partition cuts between the sides.
type Severed uint8

// What is cut.
const (
	everything   Severed = iota // all networks between nodes; nobody is cut off from servers
	FirstNetwork                // one network alone: see Kind.Net
	ServersToo                  // all networks, and every server is cut off from all
	SomeLinks                   // some links between nodes, or one direction of some: there are no sides
)

func (s Severed) String() string {
	return [...]string{"all between nodes", "the first network", "servers as well", "some links"}[s]
}

// Parted says who leads when a partition has lasted for long enough.
type Parted uint8

// Who leads then; zero: the row does not say.
const (
	TwoLead       Parted = iota + 1 // a node on each side, until the cut is healed
	PerSide                         // the same by design: each side is a group of its own
	MajorityLeads                   // a node on the side with a majority; without a majority there is none
	OneLeads                        // whoever led before, and nobody else at any time
	Blocked                         // nobody comes to lead who did not before
	OneStays                        // if some node reaches a majority: one that does, and it stays
	OneOrNone                       // one that stays, if any
	Restless                        // one per term; but another may come to lead again and again
	SeveralLead                     // several may, and change, until it is healed
	SeveralStay                     // several may, and two of them for good
)

func (p Parted) String() string {
	return [...]string{"", "two leaders until healed", "one per side by design", "the majority only",
		"one leader", "blocks", "one leader that stays", "one that stays, or none",
		"it may change again and again", "several until healed", "several, maybe for good"}[p]
}

// A Detection is what a failure detector promises, as long as what its Live names holds and it has suspected
// nobody wrongly.
type Detection struct {
	// Tells is within what time every node that is up suspects one that has crashed, where c.N is the number of
	// all nodes, a message takes so long at most, and so many nodes are down at once at most.
	Tells func(c nodes.Config, message time.Duration, down int) time.Duration
}
