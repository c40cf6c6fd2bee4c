package election

import (
	"time"

	"turnstile/nodes"
)

var bullyRow = nodes.Spec{
	Info: nodes.Info{
		Name: "bully", Family: "complete network",
		Source: "H. Garcia-Molina, Elections in a distributed computing system, IEEE TC C-31(1), 1982, in the " +
			"form of its textbooks",
		Summary: "Whoever finds the leader dead asks all higher nodes; if none answers in time, it leads and " +
			"says so to all lower ones, and otherwise the highest that answers does.",
	},
	New: func(c nodes.Config) nodes.Machine {
		return &bully{wait: c.Duration(answerOption), notice: c.Value(noticeOption) == "lower", leader: nodes.None}
	},
	Messages: []nodes.Kind{{Zero: bullyElection{}}, {Zero: bullyOK{}}, {Zero: bullyCoordinator{}},
		{Zero: bullyNotice{}}},
	Options: []nodes.Option{answerOption, noticeOption},
	Detects: "heartbeat:period=50ms,timeout=250ms",
	// Two lead at once if a node that is up seems dead, or if an answer comes too late.
	Safe: nodes.Timing | nodes.NoPause | nodes.NoLoss | nodes.PerfectDetector,
	Leads: &nodes.Leadership{Wins: nodes.HighestWins,
		// A node that comes up again takes over while its announcement travels.
		Overlap: func(c nodes.Config) time.Duration { return c.Duration(answerOption) / 2 }},
	Published: []nodes.Claim{
		bullyClaim("N^2-N-1, only the lowest finds the leader dead", "lowest", false,
			func(n float64) float64 { return n*n - n - 1 }),
		bullyClaim("N^2-N-1, all find it dead at once", "all", false,
			func(n float64) float64 { return n*n - n - 1 }),
		bullyClaim("N-1, the highest comes up again", "none", true, func(n float64) float64 { return n - 1 }),
	},
	// A wait for answers, one for the announcement that does not come, and the same once more.
	Grace: func(c nodes.Config) time.Duration { return 8 * c.Duration(answerOption) },
}

// bullyClaim is how many messages an election takes after the highest has died, those to it included.
func bullyClaim(says, initiators string, returns bool, cost func(n float64) float64) nodes.Claim {
	t := nodes.Trial{Initiators: initiators,
		Down: func(c nodes.Config) []nodes.ID { return []nodes.ID{nodes.ID(c.N - 1)} }}
	if returns {
		t.Back = time.Second
	}
	return nodes.Claim{Figure: nodes.MessagesPerElection, Source: says, Election: &t,
		Value: func(c nodes.Config) nodes.Range { return nodes.Exactly(cost(float64(c.N))) }}
}

// answerOption is how long to wait for an answer, which is twice the delay of a message at least.
var answerOption = nodes.Option{Name: "answer", Default: "100ms",
	Usage: "how long a node waits for answers: twice the longest delay of a message at least",
	Check: func(_ nodes.Config, value string) error {
		return nodes.CheckTime(value, time.Millisecond, time.Minute, "100ms")
	}}

var noticeOption = nodes.Option{Name: "notice", Values: []string{"none", "lower"}, Default: "none",
	Usage: "who is told that an election takes place, beside those that are asked"}

// bully is the algorithm that textbooks give as Garcia-Molina's.
//
// A node that finds the leader dead sends ELECTION to all nodes that are higher. Each that is up answers OK
// and holds an election of its own. A node that gets no OK in time is the highest that is up: it sends
// COORDINATOR to all lower nodes. One that gets an OK waits for that, and begins again if it does not come.
// A node that comes up again holds an election, and so takes over if it is the highest.
//
// It is right only if delays are bounded: whoever is silent for as long as answerOption says must be down.
type bully struct {
	wait    time.Duration
	notice  bool
	leader  nodes.ID
	running bool // it holds an election
}

type (
	bullyElection    struct{} // who is higher?
	bullyOK          struct{} // the sender is, and holds an election
	bullyCoordinator struct{} // the sender leads
	bullyNotice      struct{} // the sender holds an election, and the receiver is lower: nothing to do
)

// The timers of a bully.
const (
	bullyAnswer   nodes.TimerKind = iota // an OK is to come by then
	bullyAnnounce                        // a COORDINATOR is
)

func (b *bully) Campaign(env *nodes.Env) {
	if !b.running {
		b.elect(env)
	}
}

// Recover implements nodes.Recoverer: a node that comes up again holds an election.
func (b *bully) Recover(env *nodes.Env, _ nodes.Message) { b.elect(env) }

// Suspect implements nodes.Suspecter.
func (b *bully) Suspect(env *nodes.Env, peer nodes.ID) {
	if peer == b.leader {
		b.Campaign(env)
	}
}

// Trust implements nodes.Truster: a peer that seemed dead may follow another.
func (b *bully) Trust(env *nodes.Env, peer nodes.ID) {
	if b.leader == env.Self() && peer < env.Self() {
		env.Send(peer, bullyCoordinator{})
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
	for id := env.Self() + 1; int(id) < env.N(); id++ {
		env.Send(id, bullyElection{})
	}
	if b.notice {
		b.tellLower(env, bullyNotice{})
	}
	env.StopTimer(nodes.Timer{Kind: bullyAnnounce})
	env.SetTimer(nodes.Timer{Kind: bullyAnswer}, b.wait, b.wait)
}

// lead takes over.
func (b *bully) lead(env *nodes.Env) {
	b.follow(env, env.Self())
	b.tellLower(env, bullyCoordinator{})
}

func (b *bully) tellLower(env *nodes.Env, m nodes.Message) {
	for id := range env.Self() {
		env.Send(id, m)
	}
}

// follow takes note of who leads. That ends an election.
func (b *bully) follow(env *nodes.Env, leader nodes.ID) {
	if leader != nodes.None {
		b.running = false
		env.StopTimer(nodes.Timer{Kind: bullyAnswer})
		env.StopTimer(nodes.Timer{Kind: bullyAnnounce})
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
			// The highest waits for as long as this node did, and then its announcement travels.
			env.SetTimer(nodes.Timer{Kind: bullyAnnounce}, 2*b.wait, 2*b.wait)
		}
	case bullyCoordinator:
		if from < env.Self() { // which should have asked
			b.Campaign(env)
			return
		}
		b.follow(env, from)
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
	}
}
