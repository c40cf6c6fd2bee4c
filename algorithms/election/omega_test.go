package election

import (
	"slices"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// omegas are the algorithms that elect an eventual leader.
var omegas = []*algorithm.Algorithm{&omegaAlgorithm, &omegaEfficientAlgorithm}

// believed returns the leader that each node followed at a time of the run; None for one that is down.
func (o *outcome) believed(at time.Duration) []nodes.ID {
	all := make([]nodes.ID, o.stack.N())
	for id := range all {
		all[id] = nodes.None
	}
	for _, b := range o.Beliefs {
		if b.From <= int64(at) && int64(at) < b.To {
			all[b.Node] = b.Leader
		}
	}
	return all
}

// changed returns when a node last came to believe something else.
func (o *outcome) changed() (at time.Duration) {
	for _, b := range o.Beliefs {
		at = max(at, time.Duration(b.From))
	}
	return at
}

// An omega sends a heartbeat per period to all others, from all nodes.
func TestOmegaSendsFromAllToAll(t *testing.T) {
	for _, n := range []int{1, 2, 4, 5, 9, 16, 32} {
		const periods = 40
		from := time.Second
		all := &sends{from: int64(from), to: int64(from + periods*50*time.Millisecond)}
		s := scenario{algorithm: &omegaAlgorithm, config: nodes.Config{N: n}, duration: 4 * time.Second,
			beside: all}
		o := s.simulated(t)
		o.leads(t, 0)
		for id := range nodes.ID(n) {
			if all.by[id] != periods*(n-1) {
				t.Errorf("n=%d: node %d sent %d messages in %d periods", n, id, all.by[id], periods)
			}
		}
		if o.messages() > 0 {
			t.Errorf("n=%d: an election takes heartbeats alone, not %v", n, o.sent)
		}
	}
}

// In the end the leader alone sends, N-1 messages a period, and one fewer for each dead node below it.
func TestEfficientOmegaSendsFromTheLeaderAlone(t *testing.T) {
	for _, n := range []int{1, 2, 4, 5, 9, 16, 32} {
		for _, dead := range []int{0, 1, 3} {
			if dead >= n {
				continue
			}
			const periods = 40
			from := 10 * time.Second // all dead have been tried by then
			all := &sends{from: int64(from), to: int64(from + periods*50*time.Millisecond)}
			s := scenario{algorithm: &omegaEfficientAlgorithm, config: nodes.Config{N: n}, duration: 13 * time.Second,
				beside: all}
			for id := range dead {
				s.faults = append(s.faults, down(nodes.ID(id)))
			}
			o := s.simulated(t)
			leader := nodes.ID(dead)
			o.leads(t, leader)
			if want := periods * (n - 1 - dead); all.by[leader] != want || len(all.by) != min(1, want) {
				t.Errorf("n=%d, %d dead: in %d periods there were sent %v, not %d by node %d alone", n, dead, periods,
					all.by, want, leader)
			}
		}
	}
}

// While the leader is down, the lowest live node alone leads. The old leader leads again when it is up again.
func TestOmegasReplaceTheLeader(t *testing.T) {
	for _, algo := range omegas {
		for _, n := range []int{2, 3, 5, 9} {
			for seed := uint64(1); seed <= 20; seed++ {
				s := scenario{algorithm: algo, config: nodes.Config{N: n}, seed: seed,
					faults: faults(t, "kill: 0, at: 2s, jitter: 50ms, for: 3s")}
				o := s.simulated(t)
				want := slices.Repeat([]nodes.ID{1}, n)
				want[0] = nodes.None
				if got := o.believed(4900 * time.Millisecond); !slices.Equal(got, want) {
					t.Errorf("%s, n=%d, seed %d: when 0 is down, %v are believed to lead", algo.Name, n, seed, got)
				}
				if o.leader() != 0 {
					t.Errorf("%s, n=%d, seed %d: in the end %v", algo.Name, n, seed, o.last())
				}
				for _, two := range o.Overlaps { // while the first heartbeat of node 0 travels
					if length := time.Duration(two.Length()); length > hop || length > algo.Elector.Overlap(s.config) {
						t.Errorf("%s, n=%d, seed %d: two led for %v: %+v", algo.Name, n, seed, length, two)
					}
				}
			}
		}
	}
}

// In a partition each component has a leader, its lowest node. After the partition all nodes have one leader.
func TestOmegasInPartitions(t *testing.T) {
	for _, algo := range omegas {
		for cut, want := range map[string][]nodes.ID{
			"0-1/2-4":   {0, 0, 2, 2, 2},
			"0/1-4":     {0, 1, 1, 1, 1},
			"1,3/0,2,4": {0, 1, 0, 1, 0},
			"0/1/2/3/4": {0, 1, 2, 3, 4},
			"0-3/4":     {0, 0, 0, 0, 4},
		} {
			for seed := uint64(1); seed <= 10; seed++ {
				s := scenario{algorithm: algo, config: nodes.Config{N: 5}, seed: seed,
					network: algotest.NetworkOf("uniform:1ms,20ms"),
					faults:  faults(t, "cut: "+cut+", at: 2s, jitter: 50ms, for: 5s")}
				o := s.simulated(t)
				if got := o.believed(6900 * time.Millisecond); !slices.Equal(got, want) {
					t.Errorf("%s, cut %s: %v are believed to lead, not %v", algo.Name, cut, got, want)
				}
				healed := 7050 * time.Millisecond
				if o.leader() != 0 || o.changed() > healed+algo.Grace(s.config) {
					t.Errorf("%s, after cut %s: %v", algo.Name, cut, o.last())
				}
			}
		}
	}
}

// Messages that take up to 600 ms make nodes give up live nodes, at first after a silence of 250 ms. But the
// patience with these grows by 50 ms each time. Two heartbeats that are sent 50 ms apart arrive at most 650
// ms apart, so each node gives up the leader at most eight times.
func TestOmegasCeaseToBeMistaken(t *testing.T) {
	for _, algo := range omegas {
		for seed := range soak.Pick[uint64](2, 5, 100) {
			if wrong, leader := mistakes(t, algo, seed+1); wrong < 1 || wrong > mostMistakes || leader != 0 {
				t.Errorf("%s, seed %d: a node gave up the leader %d times; %d leads", algo.Name, seed+1, wrong, leader)
			}
		}
	}
}

// mostMistakes is how often a node may give up the leader wrongly under that latency.
const mostMistakes = 8

// mistakes returns how often a node wrongly gave up the leader in ten minutes, for the node that did so most
// often, and the leader at the end.
func mistakes(t testing.TB, algo *algorithm.Algorithm, seed uint64) (most int, leader nodes.ID) {
	s := scenario{algorithm: algo, config: nodes.Config{N: 4}, seed: seed,
		network:  algotest.NetworkOf("uniform:0s,600ms"),
		duration: 10 * time.Minute}
	o := s.simulated(t)
	ends := make([]int, s.config.N)
	for _, b := range o.Beliefs {
		if b.Leader == 0 && !b.Cut {
			ends[b.Node]++
		}
	}
	return slices.Max(ends), o.leader()
}

// Under any faults of messages and processes, an omega ends with one leader, the lowest node.
func TestOmegasInStorms(t *testing.T) {
	for _, algo := range omegas {
		for seed := uint64(1); seed <= soak.Pick[uint64](20, 200, 5000); seed++ {
			o := turmoil(t, algo, seed, "", "silence=120ms grow=20ms", "silence=400ms")
			if o.calm && o.leader() != 0 {
				t.Errorf("%s, seed %d: %v", algo.Name, seed, o.last())
			}
		}
	}
}

// Omegas with one rule changed.
type (
	omegaUnforgiving  struct{ omega }
	omegaHeedsTheDead struct{ omega }
	efficientStays    struct{ omegaEfficient }
	efficientTalks    struct {
		omegaEfficient
		led bool
	}
)

func (o *omegaUnforgiving) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if !o.given.Has(from) {
		o.omega.Receive(env, from, m)
	}
}

func (o *omegaHeedsTheDead) Timeout(env *nodes.Env, t nodes.Timer) {
	if t.Kind == omegaBeat {
		o.omega.Timeout(env, t)
	}
}

func (o *efficientStays) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if from >= o.tried {
		o.omegaEfficient.Receive(env, from, m)
	}
}

func (o *efficientTalks) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	o.led = o.led || o.tried == env.Self()
	o.omegaEfficient.Receive(env, from, m)
	if o.led {
		o.beat(env)
	}
}

func TestOmegaMutants(t *testing.T) {
	never := func(t testing.TB, algo *algorithm.Algorithm) bool {
		most, _ := mistakes(t, algo, 1)
		return most > 3*mostMistakes
	}
	disagree := func(t testing.TB, algo *algorithm.Algorithm) bool {
		s := scenario{algorithm: algo, config: nodes.Config{N: 5},
			faults: faults(t, "cut: 0-1/2-4, at: 2s, for: 2s")}
		o := s.simulated(t)
		return o.leader() != 0
	}
	many := func(t testing.TB, algo *algorithm.Algorithm) bool {
		all := &sends{from: int64(9 * time.Second)}
		s := scenario{algorithm: algo, config: nodes.Config{N: 5}, beside: all,
			faults: faults(t, "cut: 0-1/2-4, at: 2s, for: 2s")}
		s.simulated(t)
		return len(all.by) > 1
	}
	leaderless := func(t testing.TB, algo *algorithm.Algorithm) bool {
		s := scenario{algorithm: algo, config: nodes.Config{N: 3}, initiators: workload.NoneInitiates,
			faults: faults(t, "kill: 0, at: 2s")}
		o := s.simulated(t)
		return o.leader() == nodes.None
	}
	all := func(c nodes.Config) omega { return omega{patience: patienceOf(c), leader: nodes.None} }
	efficient := func(c nodes.Config) omegaEfficient {
		return omegaEfficient{patience: patienceOf(c), leader: nodes.None}
	}
	for _, m := range []struct {
		rule      string
		algorithm algorithm.Algorithm
		make      func(nodes.Config) nodes.Machine
		fails     func(testing.TB, *algorithm.Algorithm) bool
	}{
		{"timeouts do not grow", omegaAlgorithm,
			func(c nodes.Config) nodes.Machine { o := all(c); o.grow = 0; return &o }, never},
		{"who was given up is never trusted again", omegaAlgorithm,
			func(c nodes.Config) nodes.Machine { return &omegaUnforgiving{all(c)} }, disagree},
		{"nobody is given up", omegaAlgorithm,
			func(c nodes.Config) nodes.Machine { return &omegaHeedsTheDead{all(c)} }, leaderless},
		{"timeouts do not grow", omegaEfficientAlgorithm,
			func(c nodes.Config) nodes.Machine { o := efficient(c); o.grow = 0; return &o }, never},
		{"a lower leader is not followed again", omegaEfficientAlgorithm,
			func(c nodes.Config) nodes.Machine { return &efficientStays{efficient(c)} }, disagree},
		{"who leads no more sends on", omegaEfficientAlgorithm,
			func(c nodes.Config) nodes.Machine { return &efficientTalks{omegaEfficient: efficient(c)} }, many},
	} {
		t.Run(m.algorithm.Name+"/"+m.rule, func(t *testing.T) {
			sound := m.algorithm
			m.algorithm.New = m.make
			if !m.fails(t, &m.algorithm) {
				t.Error("it survives")
			}
			if m.fails(t, &sound) {
				t.Error("the algorithm itself is found to be wrong")
			}
		})
	}
}
