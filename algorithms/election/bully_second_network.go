package election

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var bullySecondNetworkAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "bully-second-network", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			quorum := 0
			if needsMajority(c) {
				quorum = majority(c.N)
			}
			b := newBullyMajority(c, quorum)
			b.second = true
			return b
		},
		Timers: majorityTimers,
		Messages: append(slices.Clip(bullyMajorityAlgorithm.Messages), nodes.MessageKind{Zero: bullyRejoin{}},
			nodes.MessageKind{Zero: secondAsk{}, Net: 1}, nodes.MessageKind{Zero: secondAlive{}, Net: 1}),
		Options: []nodes.Option{answerOption, majorityOption, secondLapseOption},
		Detects: bullyAlgorithm.Detects,
		Safe:    nodes.Timing | nodes.NoPause | nodes.NoLoss,
		Live:    bullyAlgorithm.Live,
		Besides: func(c nodes.Config) (safe, live nodes.Assumption) {
			if needsMajority(c) {
				live = nodes.Majority
			}
			return safe, live
		},
		// As bully, with two waits more per election, for answers over the second network; or as
		// bully-majority.
		Grace: func(c nodes.Config) time.Duration { return 20*c.Duration(answerOption) + c.Duration(lapseOption) },
	},
	Family: "complete network",
	Source: "the bully algorithm with a redundant network that confirms deaths, as an answer to its split " +
		"brain (A. I. Kistijantoro, ITB IF3130)",
	Summary: "As bully, but a node is taken for dead only if it does not answer over a second network either.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins, Overlap: bullyAlgorithm.Elector.Overlap,
		Partitions: []algorithm.Partition{
			{Cuts: algorithm.FirstNetwork, Does: algorithm.OneLeads,
				Why: "the second network says that nobody is dead"},
			{Does: algorithm.TwoLead, Why: "nothing tells a partition of both networks from deaths"}, severalBullies}},
	Faults: beside(append(
		under(recovers, "the second network has a broker of its own, and over it nobody seems dead",
			"broker-restart", "first-network-cut"),
		under(recovers, "the first network is whole, and alone elects as bully does",
			"second-network-cut", "second-network-dead")...),
		bullyAlgorithm.Faults),
}

// majorityOption makes a leader need the votes of a majority as well.
var majorityOption = nodes.Option{Name: "majority", Values: []string{"off", "on"}, Default: "off",
	Usage: "whether a leader needs the votes of a majority as well",
	Shows: []nodes.Shown{
		{Value: "off", Figure: "two leaders", Least: 1, Most: 3, For: 5 * time.Second,
			Faults: []string{"cut: 0-2/3-4, at: 1s, for: 3s"}},
		{Value: "on", Figure: "two leaders", Least: 0, Most: 0.5, For: 5 * time.Second,
			Faults: []string{"cut: 0-2/3-4, at: 1s, for: 3s"}},
	}}

func needsMajority(c nodes.Config) bool { return c.Value(majorityOption) == "on" }

// secondLapseOption is lapseOption, checked against the other options only if it matters: with a majority.
var secondLapseOption = nodes.Option{Name: lapseOption.Name, Default: lapseOption.Default,
	Usage: lapseOption.Usage, Bound: lapseOption.Bound, Shows: lapsing("majority=on"),
	Check: func(c nodes.Config, value string) error {
		if !needsMajority(c) {
			return algorithm.CheckTime(value, time.Millisecond, time.Minute, lapseOption.Default)
		}
		return lapseOption.Check(c, value)
	}}

// The second network carries two messages. It confirms deaths three times: of a suspected leader, before an
// election; of all higher nodes, before a node leads; and of these again when COORDINATOR is missing, before
// the election begins anew. So a partition of the first network begins no election, and a node that comes up
// during it finds the leader. If both networks are cut alike, two lead as in bully, unless a majority is
// needed. A leader that needs a majority also asks, over the second network, the nodes that do not answer its
// heartbeats. Votes and heartbeats use only the first network.
type (
	secondAsk   struct{ Round uint32 } // is the receiver up?
	secondAlive struct {
		Leads bool   // the sender leads
		May   bool   // the sender may lead: it trusts a majority, if one is needed
		Epoch uint64 // the highest that it knows of
		Round uint32 // of the question that it answers
	}
)

// askLeader asks a suspected leader whether it is up.
func (b *bullyMajority) askLeader(env *nodes.Env) {
	b.asked = true
	env.Send(b.leader, secondAsk{})
	env.SetTimer(nodes.Timer{Kind: majorityDoubt}, b.wait, b.wait)
}

// stillDoubted runs when the doubt timer ends. It gives up a suspected leader that was asked in vain, and
// asks a suspected leader that was not asked yet.
func (b *bullyMajority) stillDoubted(env *nodes.Env) {
	switch {
	case !b.suspected.Has(b.leader):
	case b.asked:
		b.Campaign(env)
	default:
		b.doubt(env)
	}
}

// askHigher asks all higher nodes whether they are up.
func (b *bullyMajority) askHigher(env *nodes.Env, stage majorityStage) {
	b.alive = false
	b.enter(env, stage, b.wait)
	toHigher(env, secondAsk{})
}

// confirm takes an answer over the second network.
func (b *bullyMajority) confirm(env *nodes.Env, from nodes.ID, m secondAlive) {
	confirming := b.stage == majorityConfirming || b.stage == majorityReconfirming
	switch {
	case b.leader == env.Self():
		b.hear(env, from, m.Epoch, m.Round)
	case from == b.leader && m.Leads && b.asked:
		b.asked = false
		env.SetTimer(nodes.Timer{Kind: majorityDoubt}, 4*b.wait, 4*b.wait) // to ask a suspected leader once more
	case confirming && from > env.Self() && m.Leads && m.Epoch >= b.epoch:
		b.raise(env, m.Epoch)
		b.follow(env, from)
	case confirming && from > env.Self() && m.May:
		b.alive = true
	}
}
