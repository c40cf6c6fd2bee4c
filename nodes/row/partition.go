package row

import "turnstile/nodes"

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
