package algorithm

import (
	"time"

	"turnstile/nodes"
)

// A Leadership is what an elector promises. To elect at most one leader it needs Spec.Safe; for all nodes to
// agree in the end on a leader that is up, it needs only Spec.Live.
type Leadership struct {
	// Terms says that a term has at most one leader: two leaders of one term are a violation, two of
	// different terms are not. Without terms, any two leaders at once are a violation.
	Terms bool
	// Follow says which nodes must follow a leader for it to be elected; zero: all nodes that it can reach.
	Follow Following
	// Wins says which node is to be elected; zero: any.
	Wins winner
	// Overlap is how long two nodes that are up may both lead, since a new leader takes over before the old
	// leader hears of it. Nil: they never may. Without terms this bound holds while Safe does; with terms, only
	// without faults and after recovery.
	Overlap func(c nodes.Config) time.Duration
	// Lapse is how long a leader that cannot reach a majority takes to notice that it no longer leads. If it is
	// nil, or returns zero for some options, such a leader may never notice.
	Lapse func(c nodes.Config) time.Duration
	// Partitions say which nodes lead in a partition that is healed; nil: not known.
	Partitions []Partition
	// Costs is how many messages an election takes without faults; nil: not known.
	Costs func(c nodes.Config) ElectionCost
	// LeaderAlone says that only the leader sends messages once all nodes that are up agree on this leader.
	LeaderAlone bool
	// Mistakes bounds how often a node gives up the right leader (see Wins) although this leader is up, if no
	// message takes longer than longest; nil: no bound.
	Mistakes func(c nodes.Config, longest time.Duration) int
	// Rank is the rank of a node, different for each; nil: its number.
	Rank func(c nodes.Config, id nodes.ID) uint32
}

// An ElectionCost is how many messages an election takes, including the announcement of the leader. AtOnce is
// the exact number if all nodes begin at once and messages have equal delays; Most bounds the number of any
// election.
type ElectionCost struct{ AtOnce, Most int }

// InTerms reports whether leaders are elected for terms. A nil Leadership has no terms.
func (l *Leadership) InTerms() bool { return l != nil && l.Terms }

// LapseOf returns how long a leader without a majority takes to notice; 0: it may never notice.
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

// A Following says which nodes must follow a leader, itself included, for the election to be over. A leader
// reaches the nodes that are up, not paused, and exchange messages with it both ways.
type Following uint8

// The values of Following: which nodes must follow.
const (
	AllReached      Following = iota // all nodes that the leader can reach
	MajorityReached                  // more than half of all nodes, in the term of the leader
)

func (f Following) String() string {
	return [...]string{"all nodes that the new leader can reach follow it",
		"a majority follows the new leader in its term"}[f]
}

// A winner says which of the nodes that are up is to be elected.
type winner uint8

// The values of winner: which node is to be elected.
const (
	AnyWins     winner = iota // any of them
	HighestWins               // the one of the highest rank: see RankOf
	LowestWins
)

// A Partition says which nodes lead while a cluster is cut into sides, and why. After the heal all nodes
// agree on one leader.
type Partition struct {
	Cuts Severed
	Does Parted
	Why  string // the reason, with its source if it is published
	// In reports whether the promise holds in a configuration; nil: it holds in all.
	In func(c nodes.Config) bool
	// Mend is the option with which the algorithm promises more, as in "pre-vote on"; empty: no option does.
	Mend string
}

// PartitionsIn returns the partitions of the algorithm for a configuration: if someLinks is set, the ones
// with Cuts of SomeLinks, and otherwise all others.
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

// The possible cuts.
const (
	everything   Severed = iota // all networks between nodes; links to servers stay
	FirstNetwork                // one network only: see MessageKind.Net
	ServersToo                  // all networks, and every server is cut off from all nodes
	SomeLinks                   // some links between nodes, or one direction of some links: there are no sides
)

func (s Severed) String() string {
	return [...]string{"all between nodes", "the first network", "servers as well", "some links"}[s]
}

// Parted says which nodes lead when a partition has lasted long enough.
type Parted uint8

// The possible leaders; zero: the algorithm promises nothing.
const (
	TwoLead       Parted = iota + 1 // one node on each side leads, until the heal
	PerSide                         // one node on each side leads, by design: each side is a group
	MajorityLeads                   // one node on the side with a majority leads; without such a side, none
	OneLeads                        // the leader from before the cut leads, and no other node at any time
	Blocked                         // no node becomes leader
	OneStays                        // if a node can reach a majority, such a node leads and stays the leader
	OneOrNone                       // at most one node leads, and stays the leader
	Restless                        // one node leads per term, but the leader may change again and again
	SeveralLead                     // several nodes may lead, and they change, until the heal
	SeveralStay                     // several nodes may lead, and two of them may go on for good
)

func (p Parted) String() string {
	return [...]string{"", "two leaders until healed", "one per side by design", "the majority only",
		"one leader", "blocks", "one leader that stays", "one that stays, or none",
		"it may change again and again", "several until healed", "several, maybe for good"}[p]
}

// A Detection is what a failure detector promises while the assumptions in its Live hold, and as long as it
// has suspected no node wrongly.
type Detection struct {
	// Tells is the longest time until every node that is up suspects a crashed node. c.N counts all nodes,
	// message is the longest message delay, and down is the greatest number of nodes that are down at once.
	Tells func(c nodes.Config, message time.Duration, down int) time.Duration
	// Shows are figures of its accuracy and speed with the default options; Value and Than are not used.
	Shows []nodes.Shown
}
