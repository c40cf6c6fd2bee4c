package election

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var bullyMajorityAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "bully-majority", Kind: nodes.Election,
		New:    func(c nodes.Config) nodes.Machine { return newBullyMajority(c, majority(c.N)) },
		Timers: majorityTimers,
		Messages: []nodes.MessageKind{{Zero: bullyElection{}}, {Zero: majorityOK{}}, {Zero: majorityClaim{}},
			{Zero: majorityVote{}}, {Zero: majorityCoordinator{}}, {Zero: majorityBeat{}, Heartbeat: true},
			{Zero: majorityHere{}, Heartbeat: true}, {Zero: majoritySaved{}}},
		Options: []nodes.Option{answerOption, lapseOption},
		Detects: bullyAlgorithm.Detects,
		Safe:    nodes.NoAmnesia,
		// A lost message is sent again, in another election or with the next heartbeat.
		Live: nodes.NoAmnesia | nodes.NoPause | nodes.Timing | nodes.EventualDetector | nodes.Majority,
		// Grace: two elections, since the first may fail because its epoch is taken.
		Circulates: true, // the heartbeats of a leader
		Grace: func(c nodes.Config) time.Duration {
			return 12*c.Duration(answerOption) + c.Duration(lapseOption)
		},
	},
	Family: "complete network",
	Source: "the bully algorithm with epochs and a majority, against its split brain; votes as in " +
		"R. H. Thomas, A majority consensus approach to concurrency control, ACM TODS 4(2), 1979",
	Summary: "As bully, but a leader needs the votes of a majority for an epoch, and gives way when no " +
		"majority answers.",
	Elector: &algorithm.Leadership{Terms: true, Follow: algorithm.MajorityReached, Wins: algorithm.HighestWins,
		Lapse: func(c nodes.Config) time.Duration { return c.Duration(lapseOption) },
		// The old leader learns the next epoch from the answer to a heartbeat.
		Overlap: func(c nodes.Config) time.Duration { return c.Duration(lapseOption) },
		Partitions: []algorithm.Partition{{Does: algorithm.MajorityLeads,
			Why: "a leader needs a majority, and steps down when fewer answer its heartbeats"},
			{Cuts: algorithm.SomeLinks, Does: algorithm.OneOrNone,
				Why: "a node that trusts its leader votes for no other; but " +
					"it waits for a higher node that it hears, even if that reaches no majority"}}},
	Faults: single("a leader needs a majority, and steps down when fewer answer its heartbeats",
		under(recovers|breaks, "as raft-election: two lead in one epoch if enough nodes forget their votes "+
			"and vote again (X)", "empty-restarts", "forgetful-election")),
}

// bullyMajority is the bully algorithm for partitioned networks and nodes that stand still.
//
// A node that gets no OK in time claims the epoch after the highest that it knows of. Lower nodes vote for a
// claim if its epoch is higher than all they know of, so that each node votes once in an epoch. With the
// votes of a majority, its own among them, the node leads in that epoch. Two majorities have a node in
// common, so an epoch has one leader, however messages and clocks behave. Nodes save epochs before they send
// them, so this holds over crashes too. A message of a lower epoch does not change its receiver's state.
//
// A leader sends heartbeats, and gives way when no majority has answered one that it sent within lapseOption.
// A heartbeat informs nodes that have missed COORDINATOR, and from its answer the leader learns a higher
// epoch. So one leader is left when a partition heals.
//
// The detector serves progress alone. A node that suspects too many for a majority does not claim, nor
// answer ELECTION, which would keep lower nodes from leading. A node that trusts its leader follows it and
// votes for no lower node.
//
// With two nodes a majority is both of them, so the algorithm survives no crash.
//
// With a second network (see bullySecondNetworkRow), a node that answers over it is not taken for dead, and
// votes are optional.
type bullyMajority struct {
	wait, beat time.Duration
	quorum     int  // how many votes a leader needs; 0: no votes, no epochs
	second     bool // there is a second network

	leader    nodes.ID
	term      uint64 // the epoch of that leader
	epoch     uint64 // the highest epoch that this node knows of
	stage     majorityStage
	votes     nodes.Set // for the claim of this node
	suspected nodes.Set // by the detector of this node
	round     uint32    // the round of its latest heartbeat
	heard     []uint32  // by peer: the last round that it answered

	asked bool // the leader was asked over the second network
	alive bool // a higher node that may lead has answered over the second network
}

// A majorityStage is what a node waits for.
type majorityStage uint8

const (
	majorityIdle         majorityStage = iota // no election
	majorityAsking                            // waits for OK
	majorityConfirming                        // no OK came: waits for answers over the second network
	majorityClaiming                          // waits for votes
	majorityWaiting                           // waits for COORDINATOR
	majorityReconfirming                      // no COORDINATOR came: waits for answers over the second network
)

type (
	majorityOK    struct{}               // the sender is higher, and may lead
	majorityClaim struct{ Epoch uint64 } // the sender wants to lead in Epoch
	majorityVote  struct {
		Epoch uint64 // the highest that the sender knows of
		Yes   bool   // the sender votes for the claim of Epoch
	}
	majorityCoordinator struct{ Epoch uint64 } // the sender leads
	majorityBeat        struct {
		Epoch uint64
		Round uint32
	} // the sender still leads
	majorityHere struct {
		Epoch uint64 // the highest that the sender knows of
		Round uint32 // of the heartbeat that it answers
	}
	majoritySaved struct{ Epoch uint64 } // what a node must not forget
)

// The timers of a bullyMajority.
const (
	majorityStep  nodes.TimerKind = iota // the wait of the current stage is over
	majorityDoubt                        // the leader is suspected: see bullyMajority.doubt
	majorityTick                         // the leader is to send a heartbeat
)

var majorityTimers = []nodes.TimerName{{Kind: majorityStep, Name: "step"},
	{Kind: majorityDoubt, Name: "doubt"}, {Kind: majorityTick, Name: "tick"}}

func newBullyMajority(c nodes.Config, quorum int) *bullyMajority {
	return &bullyMajority{wait: c.Duration(answerOption), beat: c.Duration(lapseOption) / lapseBeats,
		quorum: quorum, leader: nodes.None, heard: make([]uint32, c.N)}
}

func (b *bullyMajority) Campaign(env *nodes.Env) {
	switch {
	case b.leader == env.Self(): // another node doubts that this node leads
		b.announce(env)
	case b.stage == majorityIdle:
		b.elect(env)
	}
}

// Recover implements nodes.Recoverer: a node that comes up again holds an election.
func (b *bullyMajority) Recover(env *nodes.Env, saved nodes.Message) {
	if s, some := saved.(majoritySaved); some {
		b.epoch = s.Epoch
	}
	b.elect(env)
}

// Suspect implements nodes.Suspecter.
func (b *bullyMajority) Suspect(env *nodes.Env, peer nodes.ID) {
	b.suspected.Add(peer)
	if peer == b.leader {
		b.doubt(env)
	}
}

// Trust implements nodes.Truster. Without votes there are no heartbeats, and REJOIN merges partitions: see
// bullyRejoin.
func (b *bullyMajority) Trust(env *nodes.Env, peer nodes.ID) {
	b.suspected.Remove(peer)
	asking := b.stage == majorityAsking || b.stage == majorityConfirming
	if b.quorum == 0 && trustAgain(env, peer, b.leader, asking) {
		b.elect(env)
	}
}

// doubt acts on the suspicion that the leader is dead.
func (b *bullyMajority) doubt(env *nodes.Env) {
	if b.second {
		b.askLeader(env)
		return
	}
	b.Campaign(env)
}

// mayLead reports whether enough nodes are up, as far as the detector knows.
func (b *bullyMajority) mayLead(env *nodes.Env) bool { return env.N()-b.suspected.Len() >= b.quorum }

// elect asks all higher nodes.
func (b *bullyMajority) elect(env *nodes.Env) {
	b.follow(env, nodes.None)
	if env.Self() == nodes.ID(env.N()-1) {
		b.claim(env)
		return
	}
	b.enter(env, majorityAsking, b.wait)
	toHigher(env, bullyElection{})
}

// enter begins a stage, which times out after longest.
func (b *bullyMajority) enter(env *nodes.Env, stage majorityStage, longest time.Duration) {
	b.stage = stage
	env.SetTimer(nodes.Timer{Kind: majorityStep}, longest, longest)
}

// claim asks lower nodes for votes, as no higher node is up; without votes it leads at once.
func (b *bullyMajority) claim(env *nodes.Env) {
	switch {
	case b.quorum == 0:
		b.lead(env)
		return
	case !b.mayLead(env):
		b.enter(env, majorityWaiting, 3*b.wait)
		return
	}
	b.raise(env, b.epoch+1)
	b.votes = nodes.SetOf(env.Self())
	b.enter(env, majorityClaiming, 2*b.wait)
	toLower(env, majorityClaim{b.epoch})
	b.count(env)
}

// raise records an epoch if it is the highest so far.
func (b *bullyMajority) raise(env *nodes.Env, epoch uint64) {
	if epoch > b.epoch {
		b.epoch = epoch
		env.Save(majoritySaved{epoch})
	}
}

// learn records an epoch that another node has claimed: a leader gives way.
func (b *bullyMajority) learn(env *nodes.Env, epoch uint64) {
	if epoch <= b.epoch {
		return
	}
	b.raise(env, epoch)
	b.votes.Clear()
	if b.leader == env.Self() {
		b.elect(env)
	}
}

// count makes this node the leader if it has enough votes.
func (b *bullyMajority) count(env *nodes.Env) {
	if b.votes.Len() >= b.quorum {
		b.lead(env)
	}
}

// lead makes this node the leader.
func (b *bullyMajority) lead(env *nodes.Env) {
	b.follow(env, env.Self())
	b.announce(env)
	if b.quorum < 2 {
		return
	}
	b.round += lapseBeats // answers to earlier heartbeats are out of date
	for id := range b.votes.All() {
		b.heard[id] = b.round
	}
	env.SetTimer(nodes.Timer{Kind: majorityTick}, b.beat, b.beat)
}

func (b *bullyMajority) announce(env *nodes.Env) { toLower(env, majorityCoordinator{b.epoch}) }

// follow records the leader of the current epoch and ends an election. None: no leader is known.
func (b *bullyMajority) follow(env *nodes.Env, leader nodes.ID) {
	env.StopTimer(nodes.Timer{Kind: majorityDoubt})
	env.StopTimer(nodes.Timer{Kind: majorityTick})
	env.StopTimer(nodes.Timer{Kind: majorityStep})
	b.stage, b.asked = majorityIdle, false
	if b.suspected.Has(leader) { // see bully.follow
		env.SetTimer(nodes.Timer{Kind: majorityDoubt}, 4*b.wait, 4*b.wait)
	}
	if leader != b.leader || leader != nodes.None && b.epoch != b.term {
		b.leader, b.term = leader, b.epoch
		env.Elect(leader, b.epoch)
	}
}

func (b *bullyMajority) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case bullyElection:
		b.answer(env, from)
	case majorityOK:
		if b.stage == majorityAsking || b.stage == majorityConfirming {
			b.enter(env, majorityWaiting, 3*b.wait)
		}
	case majorityClaim:
		b.vote(env, from, m.Epoch)
	case majorityVote:
		b.take(env, from, m)
	case majorityCoordinator:
		if m.Epoch >= b.epoch {
			if b.quorum == 0 {
				askAbove(env, from, b.leader, &b.suspected)
			}
			b.raise(env, m.Epoch)
			b.follow(env, from)
		}
	case majorityBeat:
		b.heed(env, from, m)
	case majorityHere:
		b.hear(env, from, m.Epoch, m.Round)
	case bullyRejoin:
		if rejoins(env, from, b.leader, &b.suspected) {
			b.follow(env, from)
		}
	case secondAsk:
		env.Send(from, secondAlive{b.leader == env.Self(), b.mayLead(env), b.epoch, m.Round})
		if from < env.Self() && b.leader == nodes.None {
			b.Campaign(env)
		}
	case secondAlive:
		b.confirm(env, from, m)
	default:
		nodes.Unexpected(b, m)
	}
}

// answer answers ELECTION.
func (b *bullyMajority) answer(env *nodes.Env, from nodes.ID) {
	if b.leader != env.Self() && !b.mayLead(env) {
		return
	}
	env.Send(from, majorityOK{})
	if b.leader == env.Self() || b.leader == nodes.None {
		b.Campaign(env)
	}
}

// vote answers a claim.
func (b *bullyMajority) vote(env *nodes.Env, from nodes.ID, epoch uint64) {
	if epoch <= b.epoch || b.leader > from && !b.suspected.Has(b.leader) {
		env.Send(from, majorityVote{Epoch: b.epoch})
		return
	}
	b.raise(env, epoch)
	b.follow(env, nodes.None)
	b.enter(env, majorityWaiting, 2*b.wait)
	env.Send(from, majorityVote{epoch, true})
}

// take counts a vote.
func (b *bullyMajority) take(env *nodes.Env, from nodes.ID, m majorityVote) {
	newer := m.Epoch > b.epoch
	b.learn(env, m.Epoch)
	switch {
	case b.stage != majorityClaiming:
	case newer: // the claim was for too low an epoch, as after a crash
		b.claim(env)
	case m.Yes && m.Epoch == b.epoch:
		b.votes.Add(from)
		b.count(env)
	}
}

// Timeout implements nodes.Timed.
func (b *bullyMajority) Timeout(env *nodes.Env, t nodes.Timer) {
	switch {
	case t.Kind == majorityTick:
		b.tick(env)
	case t.Kind == majorityDoubt:
		b.stillDoubted(env)
	case b.second && b.stage == majorityAsking:
		b.askHigher(env, majorityConfirming)
	case b.stage == majorityAsking, b.stage == majorityConfirming && !b.alive:
		b.claim(env)
	case b.stage == majorityConfirming:
		b.enter(env, majorityWaiting, 3*b.wait)
	case b.second && b.stage == majorityWaiting:
		b.askHigher(env, majorityReconfirming)
	default:
		b.elect(env)
	}
}
