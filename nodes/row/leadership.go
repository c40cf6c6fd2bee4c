package row

import (
	"time"

	"turnstile/nodes"
)

// A Leadership is what an elector promises. That it never elects two leaders needs Spec.Safe; that in the end
// all agree on one that is up needs only Spec.Live.
type Leadership struct {
	// Terms says that a term has at most one leader: two leaders of one term are a violation, two of
	// different terms are not. Without terms, any two leaders at once are a violation.
	Terms bool
	// Follow says which nodes must follow a leader for it to be elected; zero: all that it can reach.
	Follow Following
	// Wins says which node is to be elected; zero: any.
	Wins winner
	// Overlap is how long two nodes that are up may both lead, since a new leader takes over before the old
	// one hears of it. Nil: not at all. Without terms it holds while Safe does; with terms, only without
	// faults and after recovery.
	Overlap func(c nodes.Config) time.Duration
	// Lapse is how long a leader that cannot reach a majority takes to notice that it no longer leads; nil,
	// or zero with some options: it may never notice.
	Lapse func(c nodes.Config) time.Duration
	// Partitions say which nodes lead in a partition that is healed; nil: not known.
	Partitions []Partition
	// Costs is how many messages an election takes without faults; nil: not known.
	Costs func(c nodes.Config) ElectionCost
	// LeaderAlone says that only the leader sends messages once all nodes that are up agree on it.
	LeaderAlone bool
	// Mistakes bounds how often a node gives up the leader that all should agree on (see Wins) while that is
	// up, if no message takes longer than longest; nil: no bound.
	Mistakes func(c nodes.Config, longest time.Duration) int
	// Rank is the rank of a node, different for each; nil: its number.
	Rank func(c nodes.Config, id nodes.ID) uint32
}

// An ElectionCost is how many messages an election takes, with the announcement of the leader. AtOnce is for
// one that all nodes begin at once, with equal message delays; Most is the bound for any.
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
	AnyWins     winner = iota // any of them
	HighestWins               // the one of the highest rank: see RankOf
	LowestWins
)

// A Partition says which nodes lead while a cluster is cut into sides, and why. After the heal all agree on
// one leader.
type Partition struct {
	Cuts Severed
	Does Parted
	Why  string // with its source if it is published
	// In reports whether it holds in a configuration; nil: in all.
	In func(c nodes.Config) bool
	// Mend is the option with which the row promises more, as in "pre-vote on"; empty: no option does.
	Mend string
}

// PartitionsIn returns the partitions of the row for a configuration: those with Cuts of SomeLinks, or all
// others.
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
	everything   Severed = iota // all networks between nodes; links to servers stay
	FirstNetwork                // one network only: see MessageKind.Net
	ServersToo                  // all networks, and every server is cut off from all
	SomeLinks                   // some links between nodes, or one direction of some: no sides
)

func (s Severed) String() string {
	return [...]string{"all between nodes", "the first network", "servers as well", "some links"}[s]
}

// Parted says which nodes lead when a partition has lasted long enough.
type Parted uint8

// The possible leaders; zero: the row does not say.
const (
	TwoLead       Parted = iota + 1 // a node on each side, until the heal
	PerSide                         // the same by design: each side is a group
	MajorityLeads                   // a node on the side with a majority; no node if no side has one
	OneLeads                        // the leader from before, and no other at any time
	Blocked                         // no node becomes leader
	OneStays                        // if some node reaches a majority: one that does, and it stays
	OneOrNone                       // one that stays, if any
	Restless                        // one per term, but it may change again and again
	SeveralLead                     // maybe several, and they change, until the heal
	SeveralStay                     // maybe several, and two of them for good
)

func (p Parted) String() string {
	return [...]string{"", "two leaders until healed", "one per side by design", "the majority only",
		"one leader", "blocks", "one leader that stays", "one that stays, or none",
		"it may change again and again", "several until healed", "several, maybe for good"}[p]
}

// A Detection is what a failure detector promises while its Live holds and it has suspected no node wrongly.
type Detection struct {
	// Tells is how long at most until every node that is up suspects a crashed one: c.N counts all nodes,
	// message is the longest message delay, and down the most nodes that are down at once.
	Tells func(c nodes.Config, message time.Duration, down int) time.Duration
}
