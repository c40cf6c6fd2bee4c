package election

import (
	"turnstile/nodes"
	"turnstile/nodes/row"
)

var changRobertsPrintedRow = row.Row{
	Spec: nodes.Spec{
		Name: "chang-roberts-printed", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			return &changPrinted{ids: c.Value(idsOption), announces: c.Value(printedAnnounceOption) == "circulate",
				leader: nodes.None}
		},
		Messages: []nodes.MessageKind{{Zero: printedElection{}}, {Zero: printedElected{}}},
		Options:  []nodes.Option{idsOption, printedAnnounceOption},
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "ring",
	Source: "lecture notes that list the rules of Chang and Roberts in another order",
	Summary: "Chang-Roberts with the rules taken in the order of a print: a node always puts its own " +
		"identity in the place of a lower one, and nothing ends an election, so the winner sends its " +
		"identity round twice.",
	Elector: &row.Leadership{Wins: row.HighestWins, Rank: rankInRing},
	Flaw: &row.Flaw{
		Check: "agreement",
		At:    nodes.Config{N: 2},
	},
	Faults: silent(
		under(starves, "known to be broken: nobody but the leader learns who leads", "stopped-leader",
			"stopped-node", "slow-node", "skewed-clocks", "late-election", "overtaking-election",
			"copied-election"),
		under(starves|unhit, "known to be broken: the same, and nothing is sent that could be lost",
			"broker-restart"),
		under(starves|blocks|unhit, "known to be broken: the same, or the leader's identity is lost (B)",
			"lossy-election")),
}

var printedAnnounceOption = nodes.Option{Name: "announce", Values: []string{"none", "circulate"},
	Default: "none", Usage: "how the others learn who leads"}

// changPrinted follows the rules as they are printed, the first that applies:
//
//   - an identity higher than one's own is passed on;
//   - a lower one is replaced by one's own;
//   - a lower one is discarded by a node that has taken part already, which never comes to it;
//   - one's own makes one the leader.
//
// Sending makes a node a participant, so that it begins no election of its own; nothing ends that. So as many
// copies of the highest identity come back to their owner as there were candidates. The print has no
// announcement; circulate adds one, to count how often it goes round.
type changPrinted struct {
	ids         string // see idsOption
	ring        ring
	announces   bool
	participant bool
	leader      nodes.ID
}

type (
	printedElection struct{ Identity uint32 } // of the highest node that it has passed
	printedElected  struct{ Leader nodes.ID } // has had its own identity back
)

// Start implements nodes.Starter.
func (c *changPrinted) Start(env *nodes.Env) { c.ring = ringOf(env, c.ids) }

func (c *changPrinted) Campaign(env *nodes.Env) {
	if !c.participant {
		c.send(env, c.ring.identity)
	}
}

func (c *changPrinted) send(env *nodes.Env, identity uint32) {
	c.participant = true
	env.Send(c.ring.next, printedElection{identity})
}

func (c *changPrinted) follow(env *nodes.Env, leader nodes.ID) {
	if leader != c.leader {
		c.leader = leader
		env.Elect(leader, 0)
	}
}

func (c *changPrinted) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case printedElection:
		if m.Identity != c.ring.identity {
			c.send(env, max(m.Identity, c.ring.identity))
			return
		}
		c.follow(env, env.Self())
		if c.announces {
			env.Send(c.ring.next, printedElected{env.Self()})
		}
	case printedElected:
		if m.Leader != env.Self() {
			c.follow(env, m.Leader)
			env.Send(c.ring.next, m)
		}
	default:
		nodes.Unexpected(c, m)
	}
}
