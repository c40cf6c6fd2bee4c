package chaos

import (
	"reflect"
	"testing"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/port"
)

// Every drawn plan can be carried out, under any seed of the run, and a plan that should leave an algorithm
// inside its model breaks none of its assumptions.
func TestRandomPlansCanBeCarriedOut(t *testing.T) {
	machine := func(nodes.Config) nodes.Machine { return elector{} }
	spec := &algorithm.Algorithm{Spec: nodes.Spec{
		New:  machine,
		Safe: nodes.FIFO,
		Live: nodes.NoLoss | nodes.NoCrash,
	}}
	for seed := range soak.Pick[uint64](600, 3000, 100_000) {
		s := &Scene{Spec: spec, Config: nodes.Config{N: 2 + int(seed%6)}, Measured: time.Second}
		for _, draw := range []func(*Scene, uint64) *Plan{RandomPlan, InsidePlan} {
			p := draw(s, seed)
			for run := range uint64(3) {
				faults, err := Resolve(p.Faults, s, seed+run)
				if err != nil {
					t.Fatalf("%s, %d nodes, seed %d: %v", p.Name, s.Config.N, seed+run, err)
				}
				for i := range faults {
					f := &faults[i]
					if broken := f.Breaks() & (spec.Safe | spec.Live); p.Name[0] == 'i' && broken != 0 {
						t.Errorf("%s: %v breaks %v", p.Name, f, broken)
					}
				}
			}
		}
	}
	everything := &Scene{Spec: &algorithm.Algorithm{Spec: nodes.Spec{
		New:  machine,
		Safe: ^nodes.Assumption(0),
	}}, Config: nodes.Config{N: 3},
		Measured: time.Second}
	for _, f := range InsidePlan(everything, 1).Faults {
		if f.Breaks() != 0 {
			t.Errorf("an algorithm that rests on everything has %v", &f)
		}
	}
}

// If an algorithm rests on saved state, no restart of an InsidePlan loses this state. If an algorithm rests
// on a failure detector, no fault of the plan may make the detector suspect a node that is up.
func TestPlansInsideTheModelBreakNothingThatTheyMay(t *testing.T) {
	saves := func(nodes.Config) nodes.Machine { return saver{} }
	forgets := func(nodes.Config) nodes.Machine { return elector{} }
	for _, spec := range []nodes.Spec{
		{New: saves, Safe: nodes.NoAmnesia}, {New: forgets, Safe: nodes.NoAmnesia},
		{New: forgets, Live: nodes.EventualDetector}, {New: saves, Live: nodes.PerfectDetector | nodes.FIFO},
	} {
		s, kills := &Scene{Spec: &algorithm.Algorithm{Spec: spec}, Config: nodes.Config{N: 5},
			Measured: time.Second}, 0
		for seed := range uint64(200) {
			p := InsidePlan(s, seed)
			for i := range p.Faults {
				f := &p.Faults[i]
				kill := f.downs() && f.For > 0
				if kill {
					kills++
				}
				amnesia := kill && (effect.Forgets(f.Effect) || spec.New(s.Config) == elector{})
				suspects := f.Breaks()&(nodes.NoLoss|nodes.NoPause|nodes.Timing) != 0
				switch needs := spec.Safe | spec.Live; {
				case amnesia && needs&nodes.NoAmnesia != 0, f.Breaks()&needs != 0,
					suspects && needs&(nodes.PerfectDetector|nodes.EventualDetector) != 0:
					t.Errorf("of what rests on %v, %s has %v", needs, p.Name, f)
				}
			}
		}
		if none := spec.Safe != 0 && spec.New(s.Config) == (elector{}); (kills == 0) != none {
			t.Errorf("of what rests on %v, %d nodes are killed and come up again", spec.Safe|spec.Live, kills)
		}
	}
}

// Random plans have faults of every layer that the run can carry out, and no others: with one broker no cut
// of routes, with a foreign broker no faults of brokers and connections. A simulated run has the same plan as
// a real run.
func TestRandomPlansHaveFaultsOfEveryLayer(t *testing.T) {
	elect := &algorithm.Algorithm{
		Spec: nodes.Spec{
			Kind:     nodes.Election,
			Messages: []nodes.MessageKind{{Zero: ballot{}}},
			New:      func(nodes.Config) nodes.Machine { return elector{} },
		},
		Elector: &algorithm.Leadership{},
	}
	keys := func(s Scene) map[string]int {
		count := map[string]int{}
		s.Config, s.Measured = nodes.Config{N: 5}, 5*time.Second
		for seed := range soak.Pick[uint64](500, 1000, 20_000) {
			for _, draw := range []func(*Scene, uint64) *Plan{RandomPlan, InsidePlan} {
				p := draw(&s, seed)
				if _, err := Resolve(p.Faults, &s, seed); err != nil {
					t.Fatalf("%s: %v", p.Name, err)
				}
				simulated := s
				simulated.Simulated = true
				if again := draw(&simulated, seed); !reflect.DeepEqual(again.Faults, p.Faults) {
					t.Fatalf("%s is another plan in a simulation: %v", p.Name, again.Faults)
				}
				for i := range p.Faults {
					count[p.Faults[i].kind().Name()]++
				}
			}
		}
		return count
	}
	for name, spec := range map[string]*algorithm.Algorithm{"mutual exclusion": {}, "elections": elect} {
		all := keys(Scene{Spec: spec, Brokers: 3})
		one, foreign := keys(Scene{Spec: spec}), keys(Scene{Spec: spec, Foreign: true})
		for _, k := range effect.Kinds {
			// RandomPlan draws no faults that kernels of hosts carry out, and no faults of servers and their clients
			if k.Role == port.Host || k.Layer == effect.OfServers || k == effect.Find("leave") {
				continue
			}
			key := k.Name()
			if all[key] < 10 {
				t.Errorf("%s: %s occurs %d times", name, key, all[key])
			}
			routes := key == "cut of brokers"
			if (one[key] > 0) == routes {
				t.Errorf("%s, one broker: %s occurs %d times", name, key, one[key])
			}
			if carries := k.StandIn != ""; carries == (foreign[key] > 0) {
				t.Errorf("%s, the broker of others: %s occurs %d times", name, key, foreign[key])
			}
		}
	}
}

// A random kill hits a node that no other fault hits at that time, if there is such a node.
func TestKillsByChanceLeaveOthersTheirVictims(t *testing.T) {
	s := &Scene{Spec: &algorithm.Algorithm{
		Spec: nodes.Spec{},
	}, Config: nodes.Config{N: 3}, Measured: time.Second}
	for seed := range uint64(50) {
		faults, err := Resolve([]Fault{
			{Effect: &effect.Pause{Who: effect.Target{List: nodes.Group{0}}},
				Schedule: Schedule{At: 500 * time.Millisecond, For: 10 * time.Millisecond}},
			{Effect: &effect.Kill{Who: effect.Target{Word: "random", Many: 1}},
				Schedule: Schedule{At: 400 * time.Millisecond, For: 200 * time.Millisecond}},
			{Effect: &effect.Pause{Who: effect.Target{Word: "random", Many: 1}},
				Schedule: Schedule{At: 500 * time.Millisecond, For: 10 * time.Millisecond}},
		}, s, seed)
		if err != nil {
			t.Fatal(err)
		}
		killed := faults[1].target().List[0]
		if killed == 0 || faults[2].target().List[0] == killed {
			t.Errorf("seed %d: %v", seed, faults)
		}
	}
}

// Plans for elections can be carried out too, under any seed of the run.
func TestRandomPlansForElectionsCanBeCarriedOut(t *testing.T) {
	algos := []*algorithm.Algorithm{
		{Spec: nodes.Spec{Live: nodes.NoLoss | nodes.NoPause}},
		{Spec: nodes.Spec{Safe: nodes.NoAmnesia, Servers: func(nodes.Config) int { return 1 },
			Coordinator: func(c nodes.Config) nodes.ID { return nodes.ID(c.N) }}},
		{Flaw: &algorithm.Flaw{By: nodes.NoCrash}}}
	words := map[string]int{}
	for seed := range soak.Pick[uint64](600, 3000, 100_000) {
		spec := *algos[seed%3]
		spec.Name, spec.Kind, spec.Elector = "an elector", nodes.Election, &algorithm.Leadership{}
		spec.New = func(nodes.Config) nodes.Machine { return elector{} }
		spec.Messages = []nodes.MessageKind{{Zero: ballot{}}, {Zero: aside{}, Net: 1}}
		s := &Scene{Spec: &spec, Config: nodes.Config{N: 1 + int(seed%7)}, Measured: 10 * time.Second}
		for _, draw := range []func(*Scene, uint64) *Plan{RandomPlan, InsidePlan} {
			p := draw(s, seed)
			faults, err := Resolve(p.Faults, s, seed)
			if err != nil {
				t.Fatalf("%s, %d nodes: %v", p.Name, s.Config.N, err)
			}
			for i := range faults {
				f := &faults[i]
				words[effect.KindOf(f.Effect).Key]++
				words[f.target().Word]++
				if f.For > 2*time.Second || f.At+f.For > 9*time.Second {
					t.Errorf("%s: %v leaves no time to agree", p.Name, f)
				}
				if broken := f.Breaks() & spec.Live &^ nodes.NoPause; p.Name[0] == 'i' && broken != 0 {
					t.Errorf("%s: %v breaks %v", p.Name, f, broken)
				}
			}
		}
	}
	for _, word := range []string{"cut", "loss", "delay", "duplicate", "reorder", "kill", "pause", "slow",
		"clock", "leader"} {
		if words[word] < 10 {
			t.Errorf("%s occurs %d times", word, words[word])
		}
	}
}

// A saver goes on with what it has saved.
type saver struct{ elector }

func (saver) Recover(*nodes.Env, nodes.Message) {}

type elector struct{}

func (elector) Campaign(*nodes.Env) {}

func (elector) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

type (
	ballot struct{}
	aside  struct{}
)
