package election

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var bullyAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "bully", Kind: nodes.Election,
		New:    func(c nodes.Config) nodes.Machine { return newBully(c) },
		Timers: bullyTimers,
		Messages: []nodes.MessageKind{{Zero: bullyElection{}}, {Zero: bullyOK{}}, {Zero: bullyCoordinator{}},
			{Zero: bullyNotice{}}, {Zero: bullyRejoin{}}},
		Options: []nodes.Option{answerOption, noticeOption},
		Detects: "heartbeat:period=50ms,timeout=250ms",
		// Two lead at once if a live node seems dead, or if an answer comes too late.
		Safe: nodes.Timing | nodes.NoPause | nodes.NoLoss | nodes.PerfectDetector,
		Live: nodes.Timing | nodes.NoPause | nodes.NoLoss | nodes.EventualDetector,
		// Two elections, each with a wait for answers and one for an announcement that does not come.
		Grace: func(c nodes.Config) time.Duration { return 8 * c.Duration(answerOption) },
	},
	Family: "complete network",
	Source: "H. Garcia-Molina, Elections in a distributed computing system, IEEE TC C-31(1), 1982, as " +
		"textbooks present it",
	Summary: "A node that finds the leader dead asks all higher nodes; if none answers in time, it leads and " +
		"tells all lower ones; otherwise the highest that answers leads.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins,
		// A node that comes up again leads beside the old leader while its announcement travels.
		Overlap: func(c nodes.Config) time.Duration { return c.Duration(answerOption) / 2 },
		Partitions: []algorithm.Partition{{Does: algorithm.TwoLead,
			Why: "each side takes the other for dead: split brain"}, severalBullies}},
	Published: []algorithm.Claim{
		bullyClaim("N^2-N-1, only the lowest finds the leader dead", "lowest", false,
			func(n float64) float64 { return n*n - n - 1 }),
		bullyClaim("N^2-N-1, all find it dead at once", "all", false,
			func(n float64) float64 { return n*n - n - 1 }),
		bullyClaim("N-1, the highest comes up again", "none", true, func(n float64) float64 { return n - 1 }),
	},
	Faults: splitting("two leaders: each side takes the other for dead (Garcia-Molina 1982 assumes a "+
		"network that does not fail)",
		under(recovers|starves|breaks, "a node that waits in vain asks again (L); but COORDINATOR is not "+
			"acknowledged, so two may lead (X), or one node may know of no leader (P)", "lossy-election")),
}

// bullyClaim returns a claim on the messages of an election after the highest node has died. It counts
// messages to that node.
func bullyClaim(says, initiators string, returns bool, cost func(n float64) float64) algorithm.Claim {
	t := algorithm.Trial{Initiators: initiators,
		Down: func(c nodes.Config) []nodes.ID { return []nodes.ID{nodes.ID(c.N - 1)} }}
	if returns {
		t.Back = time.Second
	}
	return algorithm.Claim{Figure: algorithm.MessagesPerElection, Source: says, Election: &t,
		Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(cost(float64(c.N))) }}
}

// answerOption is how long to wait for an answer: at least twice the longest delay of a message.
var answerOption = nodes.Option{Name: "answer", Default: "100ms",
	Usage: "how long a node waits for answers: twice the longest delay of a message at least",
	Check: func(_ nodes.Config, value string) error {
		return algorithm.CheckTime(value, time.Millisecond, time.Minute, "100ms")
	},
	Shows: []nodes.Shown{{Value: "40ms", Than: "100ms", Figure: "first leader", Least: 0.2, Most: 0.6,
		Load: "all",
		For:  6 * time.Second, Faults: []string{"kill: 4"}}},
	Bound: &nodes.TimeoutBound{Formula: "2T",
		Covers: func(_ nodes.Config, d nodes.Delays) time.Duration { return 2 * d.Message }}}

var noticeOption = nodes.Option{Name: "notice", Values: []string{"none", "lower"}, Default: "none",
	Usage: "which nodes are told of an election, beside the higher ones",
	Shows: []nodes.Shown{
		{Value: "none", Figure: "notice sent", Least: 0, Most: 0},
		{Value: "lower", Figure: "notice sent", Least: 1, Most: 20},
	}}

// bully is the algorithm that textbooks ascribe to Garcia-Molina.
//
// A node that finds the leader dead sends ELECTION to all higher nodes. Each that is up answers OK and holds
// an election of its own. A node that gets no OK in time is the highest that is up: it sends COORDINATOR to
// all lower nodes. A node that gets an OK waits for COORDINATOR, and begins again if it does not come. A
// node that comes up again holds an election, and so takes over if it is the highest.
//
// It is correct only if delays are bounded: a node that is silent for answerOption must be down. Otherwise
// two may lead, as after a partition or a pause.
//
// Textbooks leave open what happens when announcements cross or partitions heal: see bullyRejoin.
type bully struct {
	wait      time.Duration
	notice    bool
	leader    nodes.ID
	running   bool      // it holds an election
	suspected nodes.Set // by the detector of this node
	patient   bool      // it waits for COORDINATOR for ever: see bullyNoTimeoutRow
}

type (
	bullyOK          struct{} // the sender is higher, and holds an election
	bullyCoordinator struct{} // the sender leads
	bullyNotice      struct{} // the sender holds an election, and the receiver is lower: nothing to do
)

func newBully(c nodes.Config) *bully {
	return &bully{wait: c.Duration(answerOption), notice: c.Value(noticeOption) == "lower", leader: nodes.None}
}

// The timers of a bully.
const (
	bullyAnswer   nodes.TimerKind = iota // no OK came in time
	bullyAnnounce                        // no COORDINATOR came in time
	bullyDoubt                           // time to check whether the leader is still suspected
)

var bullyTimers = []nodes.TimerName{{Kind: bullyAnswer, Name: "answer"},
	{Kind: bullyAnnounce, Name: "announce"}, {Kind: bullyDoubt, Name: "doubt"}}

func (b *bully) Campaign(env *nodes.Env) {
	if !b.running {
		b.elect(env)
	}
}

// Recover implements nodes.Recoverer: a node that comes up again holds an election.
func (b *bully) Recover(env *nodes.Env, _ nodes.Message) { b.elect(env) }

// Suspect implements nodes.Suspecter.
func (b *bully) Suspect(env *nodes.Env, peer nodes.ID) {
	b.suspected.Add(peer)
	if peer == b.leader {
		b.Campaign(env)
	}
}

// Trust implements nodes.Truster.
func (b *bully) Trust(env *nodes.Env, peer nodes.ID) {
	b.suspected.Remove(peer)
	if trustAgain(env, peer, b.leader, b.running) {
		b.elect(env)
	}
}

// elect asks all higher nodes.
func (b *bully) elect(env *nodes.Env) {
	if env.Self() == nodes.ID(env.N()-1) {
		b.lead(env)
		return
	}
	b.running = true
	b.follow(env, nodes.None)
	toHigher(env, bullyElection{})
	if b.notice {
		toLower(env, bullyNotice{})
	}
	env.StopTimer(nodes.Timer{Kind: bullyAnnounce})
	env.SetTimer(nodes.Timer{Kind: bullyAnswer}, b.wait, b.wait)
}

// lead makes this node the leader.
func (b *bully) lead(env *nodes.Env) {
	b.follow(env, env.Self())
	toLower(env, bullyCoordinator{})
}

// follow records the leader. A known leader ends an election.
func (b *bully) follow(env *nodes.Env, leader nodes.ID) {
	env.StopTimer(nodes.Timer{Kind: bullyDoubt})
	if leader != nodes.None {
		b.running = false
		env.StopTimer(nodes.Timer{Kind: bullyAnswer})
		env.StopTimer(nodes.Timer{Kind: bullyAnnounce})
	}
	if b.suspected.Has(leader) {
		// The leader was suspected, and its next heartbeat is yet to come. If it dies before that, the detector
		// does not report it again.
		env.SetTimer(nodes.Timer{Kind: bullyDoubt}, 4*b.wait, 4*b.wait)
	}
	if leader != b.leader {
		b.leader = leader
		env.Elect(leader, 0)
	}
}

func (b *bully) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m.(type) {
	case bullyElection:
		env.Send(from, bullyOK{})
		b.Campaign(env)
	case bullyOK:
		if b.running {
			env.StopTimer(nodes.Timer{Kind: bullyAnswer})
			if b.patient {
				return
			}
			// The highest node waits as long as this one did, and then its announcement travels.
			env.SetTimer(nodes.Timer{Kind: bullyAnnounce}, 2*b.wait, 2*b.wait)
		}
	case bullyCoordinator:
		askAbove(env, from, b.leader, &b.suspected)
		b.follow(env, from)
	case bullyRejoin:
		if rejoins(env, from, b.leader, &b.suspected) {
			b.follow(env, from)
		}
	case bullyNotice:
	default:
		nodes.Unexpected(b, m)
	}
}

// Timeout implements nodes.Timed.
func (b *bully) Timeout(env *nodes.Env, t nodes.Timer) {
	switch t.Kind {
	case bullyAnswer:
		b.lead(env)
	case bullyAnnounce:
		b.elect(env)
	case bullyDoubt:
		if b.suspected.Has(b.leader) {
			b.Campaign(env)
		}
	}
}
