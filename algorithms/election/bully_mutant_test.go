package election

import (
	"fmt"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// bullyMutants are bullies with one rule changed, each with a scenario in which that goes wrong.
func bullyMutants() []bullyMutant {
	return []bullyMutant{
		{name: "announces itself without waiting", algorithm: &bullyAlgorithm, goes: highestWins,
			new: func(c nodes.Config) nodes.Machine { return &bullyRash{bully: *newBully(c)} }},
		{name: "does not answer", algorithm: &bullyAlgorithm, goes: highestWins,
			new: func(c nodes.Config) nodes.Machine { return &bullyMute{bully: *newBully(c)} }},
		{name: "does not rejoin", algorithm: &bullyAlgorithm, goes: oneLeaderAfter,
			new: func(c nodes.Config) nodes.Machine { return &bullyAloof{bully: *newBully(c)} }},
		{name: "forgets to check on a leader that was suspected", algorithm: &bullyAlgorithm, goes: shortLife,
			new: func(c nodes.Config) nodes.Machine { return &bullyTrusting{bully: *newBully(c)} }},
		{name: "nominates the lowest", algorithm: &fastBullyAlgorithm, goes: highestWins,
			new: func(c nodes.Config) nodes.Machine { return &fastBullyLow{*fastBullyAlgorithm.New(c).(*fastBully)} }},
		{name: "nominates once", algorithm: &fastBullyAlgorithm, goes: nomineeDead,
			new: func(c nodes.Config) nodes.Machine {
				return &fastBullyOnce{*fastBullyAlgorithm.New(c).(*fastBully)}
			}},
		{name: "counts no votes", algorithm: &bullyMajorityAlgorithm, goes: oneLeaderPerEpoch,
			new: func(c nodes.Config) nodes.Machine { return newBullyMajority(c, 1) }},
		{name: "half is a majority", algorithm: &bullyMajorityAlgorithm, goes: halves,
			new: func(c nodes.Config) nodes.Machine { return newBullyMajority(c, (c.N+1)/2) }},
		{name: "saves no epoch", algorithm: &bullyMajorityAlgorithm, goes: voterRestarts,
			new: func(c nodes.Config) nodes.Machine { return &majorityAmnesic{voting(c)} }},
		{name: "votes twice in an epoch", algorithm: &bullyMajorityAlgorithm, goes: lateOK,
			new: func(c nodes.Config) nodes.Machine { return &majorityTwice{voting(c)} }},
		{name: "does not compare epochs", algorithm: &bullyMajorityAlgorithm, goes: lateAnnouncement,
			new: func(c nodes.Config) nodes.Machine { return &majorityBlind{voting(c)} }},
		{name: "never gives way", algorithm: &bullyMajorityAlgorithm, goes: lapses,
			new: func(c nodes.Config) nodes.Machine { return &majorityStubborn{voting(c)} }},
		{name: "asks nobody over the second network", algorithm: &bullySecondNetworkAlgorithm, goes: oneNetworkCut,
			new: func(c nodes.Config) nodes.Machine { return newBullyMajority(c, 0) }},
		{name: "leads without the lock", algorithm: &bullySharedDiskAlgorithm, goes: diskOutOfReach,
			new: func(c nodes.Config) nodes.Machine {
				return &diskGreedy{*bullySharedDiskAlgorithm.New(c).(*bullySharedDisk)}
			}},
		{name: "goes on without the disk", algorithm: &bullySharedDiskAlgorithm, goes: diskOutOfReach,
			new: func(c nodes.Config) nodes.Machine {
				return &diskStubborn{*bullySharedDiskAlgorithm.New(c).(*bullySharedDisk)}
			}},
		{name: "a disk that does not count terms", algorithm: &bullySharedDiskAlgorithm, goes: leaderDies,
			disk: func(c nodes.Config) nodes.Machine { return &diskTermless{*newSharedDisk(c)} }},
		{name: "a disk whose lock lasts for ever", algorithm: &bullySharedDiskAlgorithm, goes: leaderDies,
			disk: func(c nodes.Config) nodes.Machine { return &diskForever{*newSharedDisk(c)} }},
		{name: "a disk that forgets", algorithm: &bullySharedDiskAlgorithm, goes: diskRestarts,
			disk: func(c nodes.Config) nodes.Machine { return &diskAmnesic{*newSharedDisk(c)} }},
	}
}

type bullyMutant struct {
	name      string
	algorithm *algorithm.Algorithm
	new       func(c nodes.Config) nodes.Machine
	disk      func(c nodes.Config) nodes.Machine // instead of the disk
	goes      func(t *testing.T, algo *algorithm.Algorithm) (wrong string)
}

// Each mutant fails in its scenario. The sound algorithm must pass there; otherwise the failure would show
// nothing.
func TestBullyMutants(t *testing.T) {
	for _, m := range bullyMutants() {
		if wrong := m.goes(t, m.algorithm); wrong != "" {
			t.Errorf("%s: %s", m.algorithm.Name, wrong)
		}
		algo := *m.algorithm
		if m.new != nil {
			algo.New = m.new
		}
		if m.disk != nil {
			algo.NewServer = func(c nodes.Config, _ nodes.ID) nodes.Machine { return m.disk(c) }
		}
		wrong := m.goes(t, &algo)
		if wrong == "" {
			t.Errorf("%s that %s is not caught", m.algorithm.Name, m.name)
		}
		t.Logf("%s, %s: %s", m.algorithm.Name, m.name, wrong)
	}
}

// The scenarios. Each function runs an algorithm, and returns what goes wrong; empty: nothing.

// highestWins: the leader is dead, and the lowest finds out.
func highestWins(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5}, initiators: "0", detector: "none",
		faults: faults(t, "kill: 4")}.simulated(t)
	if o.leader() != 3 || len(o.Overlaps) > 0 {
		return fmt.Sprintf("%d leads: %s", o.leader(), o.told(0))
	}
	return ""
}

// oneLeaderAfter: a partition is healed.
func oneLeaderAfter(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5},
		faults: faults(t, "cut: 0-2/3-4, at: 2s, for: 2s")}.simulated(t)
	if o.leader() != 4 {
		return fmt.Sprintf("%d leads: %s", o.leader(), o.told(4*time.Second))
	}
	return ""
}

// shortLife: a leader is back, announces itself, and dies before its heartbeat arrives.
func shortLife(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5}, faults: faults(t, "kill: 4, at: 2s, for: 1s",
		"loss: 100%, kind: beat, at: 2900ms", "kill: 4, at: 3010ms")}.simulated(t)
	if o.at(0, 9*time.Second) == 4 {
		return "all follow who is dead: " + o.told(3*time.Second)
	}
	return ""
}

// nomineeDead: the highest that answered is dead when it is nominated.
func nomineeDead(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5}, initiators: "0", detector: "none",
		faults: faults(t, "kill: 4", "kill: 3, at: 50ms"), duration: time.Second}.simulated(t)
	if o.leader() != 2 {
		return fmt.Sprintf("%d leads: %s", o.leader(), o.told(0))
	}
	return ""
}

// oneLeaderPerEpoch: there is a partition from the beginning.
func oneLeaderPerEpoch(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5},
		faults: faults(t, "cut: 0-2/3-4, for: 2s")}.simulated(t)
	if len(o.Conflicts) > 0 {
		return fmt.Sprint(o.Conflicts)
	}
	return ""
}

// halves: a partition from the beginning divides the nodes evenly.
func halves(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 4},
		faults: faults(t, "cut: 0-1/2-3, for: 2s")}.simulated(t)
	if len(o.Conflicts) > 0 {
		return fmt.Sprint(o.Conflicts)
	}
	return ""
}

// voterRestarts: a voter must not forget its vote. Node 0 votes for node 1 and restarts. Then node 2, which
// was down until then, asks node 0 for its vote.
func voterRestarts(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 3}, faults: faults(t, "kill: 2, for: 1s",
		"cut: 1/0,2, at: 900ms, for: 2s", "kill: 0, at: 910ms, for: 40ms")}.simulated(t)
	if len(o.Conflicts) > 0 {
		return fmt.Sprint(o.Conflicts)
	}
	return ""
}

// lateOK: an OK comes late, so that two nodes claim one epoch.
func lateOK(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5}, initiators: "2", detector: "none",
		faults: faults(t, late[:2]...)}.simulated(t)
	if len(o.Conflicts) > 0 || o.leader() != 3 {
		return fmt.Sprint(o.Conflicts, o.told(0))
	}
	return ""
}

// lateAnnouncement: the messages of TestLateMessages, with epochs.
func lateAnnouncement(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5}, initiators: "2", detector: "none",
		faults: faults(t, late...)}.simulated(t)
	for _, b := range o.Beliefs {
		if b.Node == 0 && b.Leader == 2 {
			return o.told(0)
		}
	}
	return ""
}

// lapses: a leader in a minority steps down within the lapse that its algorithm promises. So does a leader
// that the majority does not hear, and a leader that does not hear the majority.
func lapses(t *testing.T, algo *algorithm.Algorithm) string {
	for _, cut := range []string{"0-2/3-4", "0-2>3-4", "3-4>0-2"} {
		o := scenario{algorithm: algo, config: nodes.Config{N: 5},
			faults: faults(t, fmt.Sprintf("cut: %s, at: 2s, for: 2s", cut))}.simulated(t)
		within := algo.Elector.Lapse(nodes.Config{N: 5})
		if o.at(4, 2*time.Second-time.Nanosecond) != 4 {
			return "node 4 does not lead"
		}
		if at := 2*time.Second + within; o.at(4, at) == 4 {
			return fmt.Sprintf("cut %s: node 4 still leads at %v", cut, at)
		}
	}
	return ""
}

// oneNetworkCut: the first network is cut, and the second is not.
func oneNetworkCut(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5},
		faults: faults(t, "cut: 0-2/3-4, at: 2s, for: 2s, network: 0")}.simulated(t)
	return o.told(time.Second)
}

// diskOutOfReach: the leader, and then everybody, is cut off from the disk.
func diskOutOfReach(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5},
		faults: faults(t, "cut: 4/5, at: 2s, for: 2s", "cut: 0-4/5, at: 4s, for: 2s")}.simulated(t)
	for id := range nodes.ID(5) {
		if o.at(4, 2500*time.Millisecond) == 4 || o.at(id, 3900*time.Millisecond) != 3 ||
			o.at(id, 5900*time.Millisecond) != nodes.None {
			return o.told(2 * time.Second)
		}
	}
	if len(o.Conflicts) > 0 || len(o.Overlaps) > 0 || o.leader() == nodes.None {
		return o.told(2 * time.Second)
	}
	return ""
}

// leaderDies: the leader dies, and another node leads in a new term.
func leaderDies(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5}, faults: faults(t, "kill: 4, at: 2s")}.simulated(t)
	if o.leader() != 3 || len(o.Conflicts) > 0 {
		return fmt.Sprint(o.Conflicts, o.told(2*time.Second))
	}
	return ""
}

// diskRestarts: the disk is down for a moment, and then the leader dies.
func diskRestarts(t *testing.T, algo *algorithm.Algorithm) string {
	o := scenario{algorithm: algo, config: nodes.Config{N: 5},
		faults: faults(t, "kill: 5, at: 2s, for: 50ms", "kill: 4, at: 3s, for: 2s")}.simulated(t)
	if o.leader() == nodes.None || len(o.Conflicts)+len(o.Backwards) > 0 || o.at(0, 2900*time.Millisecond) != 4 {
		return fmt.Sprint(o.Conflicts, o.Backwards, o.told(2*time.Second))
	}
	return ""
}

func voting(c nodes.Config) bullyMajority { return *newBullyMajority(c, majority(c.N)) }

// The mutants.
type (
	bullyRash        struct{ bully }
	bullyMute        struct{ bully }
	bullyAloof       struct{ bully }
	bullyTrusting    struct{ bully }
	fastBullyLow     struct{ fastBully }
	fastBullyOnce    struct{ fastBully }
	majorityAmnesic  struct{ bullyMajority }
	majorityTwice    struct{ bullyMajority }
	majorityBlind    struct{ bullyMajority }
	majorityStubborn struct{ bullyMajority }
	diskGreedy       struct{ bullySharedDisk }
	diskStubborn     struct{ bullySharedDisk }
	diskTermless     struct{ sharedDisk }
	diskForever      struct{ sharedDisk }
	diskAmnesic      struct{ sharedDisk }
)

func (b *bullyRash) Campaign(env *nodes.Env) {
	b.bully.Campaign(env)
	b.lead(env)
}

func (b *bullyMute) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, asks := m.(bullyElection); asks {
		b.Campaign(env)
		return
	}
	b.bully.Receive(env, from, m)
}

func (b *bullyAloof) Trust(*nodes.Env, nodes.ID) {}

func (b *bullyTrusting) Timeout(env *nodes.Env, t nodes.Timer) {
	if t.Kind != bullyDoubt {
		b.bully.Timeout(env, t)
	}
}

func (f *fastBullyLow) Timeout(env *nodes.Env, t nodes.Timer) {
	if f.stage == fastAsking {
		for id := range f.answered.All() {
			f.answered = nodes.SetOf(id)
			break
		}
	}
	f.fastBully.Timeout(env, t)
}

func (f *fastBullyOnce) Timeout(env *nodes.Env, t nodes.Timer) {
	if f.stage != fastNominating && f.stage != fastAnswered {
		f.fastBully.Timeout(env, t)
	}
}

func (b *majorityAmnesic) Recover(env *nodes.Env, _ nodes.Message) { b.bullyMajority.Recover(env, nil) }

func (b *majorityTwice) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if claim, is := m.(majorityClaim); is && claim.Epoch == b.epoch && b.leader != env.Self() {
		env.Send(from, majorityVote{claim.Epoch, true})
		return
	}
	b.bullyMajority.Receive(env, from, m)
}

func (b *majorityBlind) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, is := m.(majorityCoordinator); is {
		m = majorityCoordinator{b.epoch}
	}
	b.bullyMajority.Receive(env, from, m)
}

func (b *majorityStubborn) Timeout(env *nodes.Env, t nodes.Timer) {
	for id := range b.heard {
		b.heard[id] = b.round
	}
	b.bullyMajority.Timeout(env, t)
}

func (b *diskGreedy) Timeout(env *nodes.Env, t nodes.Timer) {
	if t.Kind == diskStep && b.stage == diskReading && b.leader == nodes.None {
		b.lead(env, b.term+1)
		return
	}
	b.bullySharedDisk.Timeout(env, t)
}

func (b *diskStubborn) Timeout(env *nodes.Env, t nodes.Timer) {
	b.written = b.round
	b.bullySharedDisk.Timeout(env, t)
}

func (d *diskTermless) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, locks := m.(diskLock); locks && d.term > 0 {
		d.term--
	}
	d.sharedDisk.Receive(env, from, m)
}

func (d *diskForever) Timeout(*nodes.Env, nodes.Timer) {}

func (d *diskAmnesic) Recover(*nodes.Env, nodes.Message) {}
