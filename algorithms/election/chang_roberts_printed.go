package election

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var changRobertsPrintedAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "chang-roberts-printed", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			return &changPrinted{ids: c.Value(idsOption), announces: c.Value(printedAnnounceOption) == "circulate",
				leader: nodes.None}
		},
		Messages: []nodes.MessageKind{{Zero: printedElection{}}, {Zero: printedElected{}}},
		Options:  append(shownWith("announce=circulate", idsOption), printedAnnounceOption),
		Edges:    nextOnly,
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "ring",
	Source: "lecture notes that list the rules of Chang and Roberts in another order",
	Summary: "Chang-Roberts with its rules in the order of a print: a node always replaces a lower " +
		"identity by its own, and nothing ends an election, so the winner sends its " +
		"identity round twice.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins, Rank: rankInRing},
	Flaw: &algorithm.Flaw{
		Check: "agreement",
		At:    nodes.Config{N: 2},
	},
	Faults: silent(
		under(starves, "known to be broken: only the leader learns the outcome", "stopped-leader",
			"stopped-node", "slow-node", "skewed-clocks", "late-election", "overtaking-election",
			"copied-election"),
		under(starves|unhit, "known to be broken: only the leader learns the outcome (P), or no message was on "+
			"its way (-)", "broker-restart"),
		under(starves|blocks|unhit, "known to be broken: only the leader learns the outcome, or its "+
			"identity is lost (B)",
			"lossy-election")),
}

var printedAnnounceOption = nodes.Option{Name: "announce", Values: []string{"none", "circulate"},
	Default: "none", Usage: "how the others learn the leader",
	Shows: []nodes.Shown{
		{Value: "none", Figure: "leader", Least: -1, Most: -1},
		{Value: "circulate", Figure: "leader", Least: 4, Most: 4},
	}}

// changPrinted follows the rules as printed. The first one that applies counts:
//
//   - an identity higher than the node's own is passed on;
//
//   - a lower one is replaced by the node's own;
//
//   - a participant discards a lower one: never, since the rule before applies;
//
//   - the node's own identity makes it the leader.
//
// Sending makes a node a participant for ever, so that it begins no election of its own. So the highest
// identity returns to its owner once for each candidate. The printed algorithm has no announcement; the value
// circulate of the option announce adds one, to count how often that goes round.
type changPrinted struct {
	ids         string // see idsOption
	ring        ring
	announces   bool
	participant bool
	leader      nodes.ID
}

type (
	printedElection struct{ Identity uint32 } // the highest identity on the path of this message so far
	printedElected  struct{ Leader nodes.ID } // Leader has got its own identity back
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
