package election

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var bullySharedDiskAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "bully-shared-disk", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			return &bullySharedDisk{wait: c.Duration(answerOption), beat: c.Duration(lockOption) / 2 / lapseBeats,
				leader: nodes.None}
		},
		Servers:     func(nodes.Config) int { return 1 },
		NewServer:   func(c nodes.Config, _ nodes.ID) nodes.Machine { return newSharedDisk(c) },
		Coordinator: func(c nodes.Config) nodes.ID { return nodes.ID(c.N) },
		Timers:      diskTimers,
		Messages: []nodes.MessageKind{{Zero: bullyElection{}}, {Zero: diskOK{}}, {Zero: diskCoordinator{}},
			{Zero: diskResign{}}, {Zero: diskRead{}}, {Zero: diskLock{}}, {Zero: diskState{}},
			{Zero: diskWrite{}, Heartbeat: true}, {Zero: diskWritten{}, Heartbeat: true},
			{Zero: diskBeat{}, Heartbeat: true}},
		Options: []nodes.Option{answerOption, lockOption},
		Detects: bullyAlgorithm.Detects,
		Safe:    nodes.NoAmnesia,
		// Nobody leads without the disk. Crashes of clients are survived.
		Live:       nodes.ServersUp | nodes.NoAmnesia | nodes.NoPause | nodes.Timing | nodes.EventualDetector,
		Circulates: true, // the heartbeats of a leader
		Grace: func(c nodes.Config) time.Duration {
			return 12*c.Duration(answerOption) + c.Duration(lockOption)
		},
	},
	Family: "complete network",
	Source: "the bully algorithm with a heartbeat file and a lock on a shared disk, as an answer to its " +
		"split brain (A. I. Kistijantoro, ITB IF3130)",
	Summary: "As bully, but a leader owns a lock on a shared disk, and while its heartbeats reach the " +
		"disk it is not taken for dead.",
	Elector: &algorithm.Leadership{Terms: true, Partitions: []algorithm.Partition{
		{Does: algorithm.OneLeads, Why: "the leader's heartbeats reach the disk, and it owns the lock"},
		{Cuts: algorithm.SomeLinks, Does: algorithm.OneLeads,
			Why: "the leader's heartbeats reach the disk, and it owns the lock"},
		{Cuts: algorithm.ServersToo, Does: algorithm.Blocked, Why: "without the disk nobody leads"}}},
	Faults: single("the lock on the disk decides; no cut between nodes touches it, and a node that does not "+
		"reach it gives way",
		under(blocks, "without the disk nobody leads", "dead-coordinator")),
}

// lockOption is how long the lock lasts.
var lockOption = nodes.Option{Name: "lock", Default: "500ms",
	Usage: "how long the lock on the disk lasts after the latest heartbeat of its owner",
	Shows: []nodes.Shown{{Value: "2s", Than: "500ms", Figure: "leaderless", Least: 2, Most: 5,
		For:    6 * time.Second,
		Faults: []string{"kill: 4, at: 1s"}}},
	Check: func(c nodes.Config, value string) error {
		if err := algorithm.CheckTime(value, 10*time.Millisecond, time.Minute, "500ms"); err != nil {
			return err
		}
		lock, _ := time.ParseDuration(value)
		if answer := c.Duration(answerOption); lock < 4*answer {
			return fmt.Errorf("%v is less than four times the time to wait for an answer, %v, so that an owner would "+
				"give the lock up while answers are on their way: take %v or more", lock, answer, 4*answer)
		}
		return nil
	}, Bound: &nodes.TimeoutBound{Suits: func(c nodes.Config, _ nodes.Delays) time.Duration {
		return 5 * c.Duration(answerOption)
	}}}

// bullySharedDisk is the bully algorithm with a lock on a shared disk, which decides on the leader:
// see sharedDisk.
//
// A node that gets no OK in time takes the lock, and leads in the lock's term if it gets it. Before it holds
// an election, a node reads the owner of the lock. It follows the owner as long as that writes its heartbeat,
// even if it suspects the owner. So a partition between nodes changes nothing, and each term has one leader.
// The lock decides, not the rank: a higher node that comes up waits until the owner is gone.
//
// A leader stops when the disk has answered none of its writes of the last half of lockOption. The lock
// lasts twice as long, so the leader stops before another node can take the lock, unless its clock is half
// as fast as the disk's or it stands still. A leader that stood still for longer believes that it leads
// until its next timer or the disk's answer. It does so in its old term, which a resource that demands terms
// refuses.
//
// A leader sends heartbeats to the others too, for nodes that have missed its COORDINATOR. A node that hears
// none for as long as a lock lasts reads the disk: its leader may have given way.
//
// A node that cannot reach the disk may not lead. It tells its followers so, and does not answer ELECTION,
// or it would keep lower nodes from leading. So the disk is a single point of failure: without it nobody
// leads.
type bullySharedDisk struct {
	wait, beat time.Duration

	leader    nodes.ID
	term      uint64 // of the latest leader
	free      uint64 // the lock's term when last read as free or as this node's
	resigned  uint64 // the term of a leader that has resigned
	stage     diskStage
	cutOff    bool      // the disk has not answered
	suspected nodes.Set // by the detector of this node
	round     uint32    // number of the latest write
	written   uint32    // number of the latest answered write
}

// A diskStage is what a node waits for.
type diskStage uint8

const (
	diskIdle    diskStage = iota // no election
	diskReading                  // waits for the disk to name the owner of the lock
	diskAsking                   // waits for OK
	diskLocking                  // waits for the lock
	diskWaiting                  // waits for COORDINATOR
	diskPausing                  // waits for a while, before it reads again
)

type (
	diskOK          struct{}              // the sender is higher, and reaches the disk as far as it knows
	diskCoordinator struct{ Term uint64 } // the sender owns the lock
	diskResign      struct{ Term uint64 } // the sender has lost the disk, or the lock
	diskBeat        struct{ Term uint64 } // the sender still leads
)

// The timers of a bullySharedDisk.
const (
	diskStep  nodes.TimerKind = iota // the wait of the current stage is over
	diskDoubt                        // the leader is silent: read the owner of the lock again
	diskTick                         // the leader is to write its heartbeat
)

var diskTimers = []nodes.TimerName{{Kind: diskStep, Name: "step"}, {Kind: diskDoubt, Name: "doubt"},
	{Kind: diskTick, Name: "tick"}, {Kind: diskExpiry.Kind, Name: "expiry", Server: true}}

func (b *bullySharedDisk) disk(env *nodes.Env) nodes.ID { return nodes.ID(env.N()) }

func (b *bullySharedDisk) Campaign(env *nodes.Env) {
	switch {
	case b.leader == env.Self(): // another node doubts that this node leads
		env.Broadcast(diskCoordinator{b.term})
	case b.stage == diskIdle:
		b.read(env)
	}
}

// Recover implements nodes.Recoverer. Late messages of terms below the saved one still have no effect.
func (b *bullySharedDisk) Recover(env *nodes.Env, saved nodes.Message) {
	if s, some := saved.(diskState); some {
		b.term = s.Term
	}
	b.read(env)
}

// Suspect implements nodes.Suspecter.
func (b *bullySharedDisk) Suspect(env *nodes.Env, peer nodes.ID) {
	b.suspected.Add(peer)
	if peer == b.leader {
		b.Campaign(env)
	}
}

// Trust implements nodes.Truster.
func (b *bullySharedDisk) Trust(_ *nodes.Env, peer nodes.ID) { b.suspected.Remove(peer) }

// enter begins a stage, which times out after longest.
func (b *bullySharedDisk) enter(env *nodes.Env, stage diskStage, longest time.Duration) {
	b.stage = stage
	env.SetTimer(nodes.Timer{Kind: diskStep}, longest, longest)
}

// read asks the disk for the owner of the lock.
func (b *bullySharedDisk) read(env *nodes.Env) {
	env.Send(b.disk(env), diskRead{})
	b.enter(env, diskReading, b.wait)
}

// elect asks all higher nodes.
func (b *bullySharedDisk) elect(env *nodes.Env) {
	b.follow(env, nodes.None, b.term)
	if env.Self() == nodes.ID(env.N()-1) {
		b.lock(env)
		return
	}
	toHigher(env, bullyElection{})
	b.enter(env, diskAsking, b.wait)
}

// lock asks the disk for the lock.
func (b *bullySharedDisk) lock(env *nodes.Env) {
	env.Send(b.disk(env), diskLock{b.free})
	b.enter(env, diskLocking, b.wait)
}

// lead makes this node the leader.
func (b *bullySharedDisk) lead(env *nodes.Env, term uint64) {
	b.follow(env, env.Self(), term)
	env.Broadcast(diskCoordinator{term})
	b.written = b.round
	env.SetTimer(nodes.Timer{Kind: diskTick}, b.beat, b.beat)
}

// tick writes the heartbeat of a leader, or makes it give way if the disk does not answer.
func (b *bullySharedDisk) tick(env *nodes.Env) {
	if b.round++; b.round-b.written >= lapseBeats {
		env.Broadcast(diskResign{b.term})
		b.lose(env)
		return
	}
	env.Send(b.disk(env), diskWrite{b.term, b.round})
	env.Broadcast(diskBeat{b.term})
	env.SetTimer(nodes.Timer{Kind: diskTick}, b.beat, b.beat)
}

// lose handles a disk that does not answer.
func (b *bullySharedDisk) lose(env *nodes.Env) {
	b.cutOff = true
	b.follow(env, nodes.None, b.term)
	b.enter(env, diskPausing, 2*b.wait)
}

// follow records the leader and its term, and ends an election.
func (b *bullySharedDisk) follow(env *nodes.Env, leader nodes.ID, term uint64) {
	env.StopTimer(nodes.Timer{Kind: diskDoubt})
	env.StopTimer(nodes.Timer{Kind: diskTick})
	env.StopTimer(nodes.Timer{Kind: diskStep})
	b.stage = diskIdle
	if leader != nodes.None && leader != env.Self() {
		b.await(env, leader)
	}
	if leader != b.leader || leader != nodes.None && term != b.term {
		if term != b.term {
			env.Save(diskState{leader, term})
		}
		b.leader, b.term = leader, term
		env.Elect(leader, term)
	}
}

// await makes a node read the disk if its leader is silent for as long as a lock lasts: the leader may have
// given way, though it is up. If the node suspects the leader already, it reads sooner, since the detector
// does not report the leader again.
func (b *bullySharedDisk) await(env *nodes.Env, leader nodes.ID) {
	longest := 2 * lapseBeats * b.beat
	if b.suspected.Has(leader) {
		longest = 2 * b.wait
	}
	env.SetTimer(nodes.Timer{Kind: diskDoubt}, longest, longest)
}

func (b *bullySharedDisk) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case bullyElection:
		b.answer(env, from)
	case diskOK:
		if b.stage == diskAsking {
			b.enter(env, diskWaiting, 4*b.wait)
		}
	case diskCoordinator:
		if m.Term >= b.term {
			b.follow(env, from, m.Term)
		}
	case diskBeat:
		if from == b.leader && m.Term == b.term {
			b.await(env, from)
		}
		if m.Term > b.term || m.Term == b.term && b.leader == nodes.None && m.Term != b.resigned {
			b.follow(env, from, m.Term)
		}
	case diskResign:
		if from == b.leader && m.Term == b.term {
			b.resigned = m.Term
			b.follow(env, nodes.None, b.term)
			b.read(env)
		}
	case diskState:
		b.cutOff = false
		if m.Term >= b.term {
			b.learn(env, m)
		}
	case diskWritten:
		b.cutOff = false
		if b.leader == env.Self() && m.Term == b.term {
			b.written = max(b.written, m.Round)
		}
	default:
		nodes.Unexpected(b, m)
	}
}

// answer answers ELECTION. Its sender does not lead any more.
func (b *bullySharedDisk) answer(env *nodes.Env, from nodes.ID) {
	if from == b.leader {
		b.follow(env, nodes.None, b.term)
	}
	if b.cutOff {
		return
	}
	env.Send(from, diskOK{})
	if b.leader == env.Self() || b.leader == nodes.None {
		b.Campaign(env)
	}
}

// learn acts on what the disk says of the lock.
func (b *bullySharedDisk) learn(env *nodes.Env, lock diskState) {
	ours := lock.Owner == env.Self()
	switch {
	case b.leader == env.Self():
		if !ours || lock.Term != b.term { // this node stood still for too long
			env.Broadcast(diskResign{b.term})
			b.follow(env, nodes.None, b.term)
			b.read(env)
		}
	case b.stage == diskLocking && lock.Term <= b.free && (ours || lock.Owner == nodes.None):
		// An answer to an earlier request: nobody has taken the lock yet.
	case b.stage == diskLocking && ours:
		b.lead(env, lock.Term)
	case b.stage != diskReading && b.stage != diskLocking:
	case ours: // this node took the lock before a crash
		b.free = lock.Term
		b.lock(env)
	case lock.Owner == nodes.None && b.stage == diskReading:
		b.free = lock.Term
		b.elect(env)
	case lock.Owner == nodes.None || lock.Term == b.resigned: // the lock is about to be free
		b.follow(env, nodes.None, b.term)
		b.enter(env, diskPausing, b.wait)
	default:
		b.follow(env, lock.Owner, lock.Term)
	}
}

// Timeout implements nodes.Timed.
func (b *bullySharedDisk) Timeout(env *nodes.Env, t nodes.Timer) {
	switch {
	case t.Kind == diskTick:
		b.tick(env)
	case t.Kind == diskDoubt:
		b.Campaign(env)
	case b.stage == diskReading, b.stage == diskLocking:
		b.lose(env)
	case b.stage == diskAsking:
		b.lock(env)
	default:
		b.read(env)
	}
}
