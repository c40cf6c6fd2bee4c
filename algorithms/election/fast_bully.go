package election

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var fastBullyAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "fast-bully", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			return &fastBully{wait: c.Duration(answerOption), leader: nodes.None, last: nodes.None}
		},
		Timers: []nodes.TimerName{{Kind: fastTimer.Kind, Name: "step"}, {Kind: fastDoubt.Kind, Name: "doubt"}},
		Messages: []nodes.MessageKind{{Zero: bullyElection{}}, {Zero: fastAnswer{}}, {Zero: fastNomination{}},
			{Zero: fastCoordinator{}}, {Zero: fastUp{}}, {Zero: fastView{}}, {Zero: bullyRejoin{}}},
		Options: []nodes.Option{answerOption},
		Detects: bullyAlgorithm.Detects,
		Safe:    bullyAlgorithm.Safe,
		Live:    bullyAlgorithm.Live,
		// Two elections, each with a wait for answers and one for each dead nominee.
		Grace: func(c nodes.Config) time.Duration { return time.Duration(2*c.N+8) * c.Duration(answerOption) },
	},
	Family: "complete network",
	Source: "S.-H. Lee and H. Choi, The fast bully algorithm: for electing a coordinator process in " +
		"distributed systems, ICOIN 2002, LNCS 2344",
	Summary: "A node that finds the leader dead asks all higher nodes and appoints the highest that answers, " +
		"so nobody else holds an election.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins, Overlap: bullyAlgorithm.Elector.Overlap,
		Partitions: []algorithm.Partition{bullyAlgorithm.Elector.Partitions[0],
			{Cuts: algorithm.SomeLinks, Does: algorithm.SeveralStay,
				Why: "a node takes another for dead that it does not hear, and an appointed leader may never learn " +
					"that the others kept the old one"}}},
	Published: []algorithm.Claim{bullyClaim("3N-4, only the lowest finds the leader dead", "lowest", false,
		func(n float64) float64 { return 3*n - 4 })},
	Faults: bullyAlgorithm.Faults,
}

// fastBully is the algorithm of Lee and Choi.
//
// A node that finds the leader dead sends ELECTION to all higher nodes, and each that is up sends ANSWER
// back. It nominates the highest that answered in time, which announces itself with COORDINATOR to all lower
// nodes. If that does not come in time, it nominates the next highest. If nobody answers, it announces
// itself. Nodes that answer hold no election of their own, unless they hear neither NOMINATION nor
// COORDINATOR in time.
//
// A node that comes up again says so to all (IAMUP), and each answers with its VIEW, the nodes that are up.
// If no higher node is up, the node announces itself; otherwise it follows the highest, which leads. From a
// view a node needs only that its sender is up, which the answer itself shows, and the leader; so a view here
// is the leader of its sender. The leaders of two partitions become one as in the bully algorithm: see
// bullyRejoin.
//
// If the lowest node finds the leader dead, an election takes 3N-4 messages, with the ELECTION to the dead
// leader. The bully algorithm takes N^2-N-1.
type fastBully struct {
	wait      time.Duration
	leader    nodes.ID
	last      nodes.ID // the latest leader that it followed
	stage     fastStage
	answered  nodes.Set // higher nodes that have answered and were not nominated yet, or have sent a view
	suspected nodes.Set // by the detector of this node
}

// A fastStage is what a node waits for.
type fastStage uint8

const (
	fastIdle       fastStage = iota // no election
	fastAsking                      // waits for ANSWERs
	fastNominating                  // waits for COORDINATOR of its nominee
	fastAnswered                    // waits for NOMINATION or COORDINATOR
	fastReturning                   // waits for VIEWs
)

type (
	fastAnswer      struct{}                  // the sender is higher
	fastNomination  struct{}                  // the receiver is the highest that answered: it leads
	fastCoordinator struct{}                  // the sender leads
	fastUp          struct{}                  // the sender is up again
	fastView        struct{ Leader nodes.ID } // the leader of the sender
)

// fastTimer ends the wait of the current stage.
var fastTimer = nodes.Timer{}

// fastDoubt is the time to check whether the leader is still suspected, like bullyDoubt.
var fastDoubt = nodes.Timer{Kind: 1}

func (f *fastBully) Campaign(env *nodes.Env) {
	if f.stage == fastIdle {
		f.elect(env)
	}
}

// Recover implements nodes.Recoverer.
func (f *fastBully) Recover(env *nodes.Env, _ nodes.Message) {
	env.Broadcast(fastUp{})
	f.enter(env, fastReturning, f.wait)
}

// Suspect implements nodes.Suspecter.
func (f *fastBully) Suspect(env *nodes.Env, peer nodes.ID) {
	f.suspected.Add(peer)
	if peer == f.leader {
		f.Campaign(env)
	}
}

// Trust implements nodes.Truster.
func (f *fastBully) Trust(env *nodes.Env, peer nodes.ID) {
	f.suspected.Remove(peer)
	if trustAgain(env, peer, f.leader, f.stage == fastAsking) {
		f.elect(env)
	}
}

// elect asks all higher nodes.
func (f *fastBully) elect(env *nodes.Env) {
	if env.Self() == nodes.ID(env.N()-1) {
		f.lead(env)
		return
	}
	f.enter(env, fastAsking, f.wait)
	toHigher(env, bullyElection{})
}

// enter begins a stage, which times out after longest.
func (f *fastBully) enter(env *nodes.Env, stage fastStage, longest time.Duration) {
	f.stage = stage
	if stage != fastNominating {
		f.answered.Clear()
	}
	f.follow(env, nodes.None)
	env.SetTimer(fastTimer, longest, longest)
}

// nominate nominates the highest node that answered and was not nominated before.
func (f *fastBully) nominate(env *nodes.Env) {
	highest := nodes.None
	for id := range f.answered.All() {
		highest = id
	}
	if highest == nodes.None { // all nodes that answered have died since
		f.elect(env)
		return
	}
	f.answered.Remove(highest)
	f.enter(env, fastNominating, f.wait)
	env.Send(highest, fastNomination{})
}

// lead makes this node the leader.
func (f *fastBully) lead(env *nodes.Env) {
	f.follow(env, env.Self())
	toLower(env, fastCoordinator{})
}

// follow records the leader. A known leader ends an election.
func (f *fastBully) follow(env *nodes.Env, leader nodes.ID) {
	env.StopTimer(fastDoubt)
	if leader != nodes.None {
		f.last = leader
		f.stage = fastIdle
		f.answered.Clear()
		env.StopTimer(fastTimer)
	}
	if f.suspected.Has(leader) { // see bully.follow
		env.SetTimer(fastDoubt, 4*f.wait, 4*f.wait)
	}
	if leader != f.leader {
		f.leader = leader
		env.Elect(leader, 0)
	}
}

func (f *fastBully) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case bullyElection:
		f.answer(env, from)
	case fastAnswer:
		if f.stage == fastAsking {
			f.answered.Add(from)
		}
	case fastNomination:
		switch {
		case f.leader == env.Self(): // all know that this node leads, but the sender may doubt it
			env.Send(from, fastCoordinator{})
		case f.leader < env.Self(): // unless this node follows a higher leader, which has announced itself
			f.lead(env)
		}
	case fastCoordinator:
		f.heed(env, from)
	case bullyRejoin:
		if rejoins(env, from, f.leader, &f.suspected) {
			f.heed(env, from)
		}
	case fastUp:
		env.Send(from, fastView{f.leader})
	case fastView:
		switch {
		case f.stage != fastReturning || from < env.Self():
		case m.Leader == from:
			f.follow(env, from)
		default:
			f.answered.Add(from)
		}
	default:
		nodes.Unexpected(f, m)
	}
}

// heed follows a node that announces itself as the leader. As in bully, a higher node may have come up again,
// and its announcement may have overtaken this one. A node that only answers in an election asks nobody by
// itself, so it asks the leader that it followed before.
func (f *fastBully) heed(env *nodes.Env, from nodes.ID) {
	askAbove(env, from, f.last, &f.suspected)
	f.follow(env, from)
}

// answer answers ELECTION. A leader announces itself again, since the sender doubts it.
func (f *fastBully) answer(env *nodes.Env, from nodes.ID) {
	if f.leader == env.Self() {
		f.lead(env)
		return
	}
	env.Send(from, fastAnswer{})
	if f.stage == fastIdle || f.stage == fastReturning {
		// The sender waits for answers, then for its nominee and, if that is down, for the next.
		f.enter(env, fastAnswered, 3*f.wait)
	}
}

// Timeout implements nodes.Timed.
func (f *fastBully) Timeout(env *nodes.Env, t nodes.Timer) {
	switch {
	case t == fastDoubt:
		if f.suspected.Has(f.leader) {
			f.Campaign(env)
		}
	case f.stage == fastNominating, f.stage == fastAsking && !f.answered.Empty():
		f.nominate(env)
	case f.stage == fastAnswered, f.stage == fastReturning && !f.answered.Empty():
		f.elect(env)
	default: // nobody higher is up
		f.lead(env)
	}
}
