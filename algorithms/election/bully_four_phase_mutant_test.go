package election

import (
	"fmt"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// fourMutants are bully-four-phase with one rule changed, for fourFault to find.
var fourMutants = []algotest.Mutant{
	fourMutant("late answers count", func(f fourPhase) nodes.Machine { return &fourLate{f} }),
	fourMutant("who answers is not compared with ACTIVE",
		func(f fourPhase) nodes.Machine { return &fourUncompared{f} }),
	fourMutant("the coordinator does not poll", func(f fourPhase) nodes.Machine { return &fourSilent{f} }),
	fourMutant("answers to NEW_STATE are not awaited", func(f fourPhase) nodes.Machine { return &fourHasty{f} }),
	fourMutant("the poll does not ask who is followed",
		func(f fourPhase) nodes.Machine { return &fourTrusting{f} }),
	fourMutant("nobody acts on silence", func(f fourPhase) nodes.Machine { f.unwatchful = true; return &f }),
	fourMutant("NEW_STATE of any election counts", func(f fourPhase) nodes.Machine { return &fourCredulous{f} }),
	fourMutant("a late ELECTION is heeded", func(f fourPhase) nodes.Machine { return &fourBackward{f} }),
	fourMutant("ELECTION does not end one of its own",
		func(f fourPhase) nodes.Machine { return &fourStubborn{f} }),
	fourMutant("a leader does not give way", func(f fourPhase) nodes.Machine { return &fourLasting{f} }),
	fourMutant("higher nodes are not asked", func(f fourPhase) nodes.Machine { return &fourProud{f} }),
	fourMutant("who comes up again begins to count anew",
		func(f fourPhase) nodes.Machine { return &fourAnew{f} }),
}

var fourMutant = algotest.MutantsOf[fourPhase](&bullyFourPhaseAlgorithm)

type (
	fourLate       struct{ fourPhase }
	fourUncompared struct{ fourPhase }
	fourSilent     struct{ fourPhase }
	fourHasty      struct{ fourPhase }
	fourTrusting   struct{ fourPhase }
	fourCredulous  struct{ fourPhase }
	fourBackward   struct{ fourPhase }
	fourStubborn   struct{ fourPhase }
	fourLasting    struct{ fourPhase }
	fourProud      struct{ fourPhase }
	fourAnew       struct{ fourPhase }
)

func (f *fourLate) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(fourAnswer); ok {
		a.Epoch, a.Phase = f.count, uint8(f.doing)
		m = a
	}
	f.fourPhase.Receive(env, from, m)
}

func (f *fourUncompared) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == fourDeadline && (f.doing == fourPhase3 || f.doing == fourPhase4) {
		for id := range f.asked.All() {
			f.answers.Add(id)
		}
	}
	f.fourPhase.Timeout(env, t)
}

func (f *fourSilent) Timeout(env *nodes.Env, t nodes.Timer) {
	if t != fourNext || !f.leads(env) {
		f.fourPhase.Timeout(env, t)
	}
}

func (f *fourHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	was := f.doing
	f.fourPhase.Receive(env, from, m)
	if f.doing == fourPhase4 && was == fourPhase3 {
		f.answers, f.todo = f.active.Clone(), nodes.Set{}
		f.ask(env)
	}
}

func (f *fourTrusting) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(fourPollAnswer); ok {
		a.Coordinator = env.Self()
		m = a
	}
	f.fourPhase.Receive(env, from, m)
}

func (f *fourCredulous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(fourNewState); ok && from == f.coordinator {
		m = fourNewState{f.epoch}
	}
	f.fourPhase.Receive(env, from, m)
}

func (f *fourBackward) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(fourElection); ok {
		f.epoch = 0
	}
	f.fourPhase.Receive(env, from, m)
}

func (f *fourStubborn) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	was := f.fourPhase
	f.fourPhase.Receive(env, from, m)
	if _, ok := m.(fourElection); ok && was.doing >= fourPhase1 && was.doing <= fourPhase4 {
		f.doing, f.todo, f.asked, f.answers = was.doing, was.todo, was.asked, was.answers
		env.SetTimer(fourDeadline, f.wait, f.wait)
	}
}

func (f *fourLasting) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if e, ok := m.(fourElection); ok && f.leads(env) {
		env.Send(from, fourAnswer{e.Epoch, uint8(fourPhase2), uint8(statusElection)})
		return
	}
	f.fourPhase.Receive(env, from, m)
}

func (f *fourProud) Campaign(env *nodes.Env) {
	f.fourPhase.Campaign(env)
	f.pass(env)
}

func (f *fourProud) Timeout(env *nodes.Env, t nodes.Timer) {
	f.fourPhase.Timeout(env, t)
	f.pass(env)
}

func (f *fourProud) pass(env *nodes.Env) {
	if f.doing == fourPhase1 {
		f.todo.Clear()
		f.ask(env)
	}
}

func (f *fourAnew) Recover(env *nodes.Env, _ nodes.Message) { f.elect(env) }

// fourFault runs an algorithm in scenarios that bully-four-phase must survive. It returns what failed; "":
// nothing.
func fourFault(t testing.TB, algo *algorithm.Algorithm, seed uint64) string {
	n := 2 + int(seed%4)
	c := nodes.Config{N: n}.With("phases", phasesOption.Values[seed/4%2])
	ce16 := scenario{config: nodes.Config{N: 5}, initiators: "0", duration: 4 * time.Second,
		faults: []chaos.Fault{down(4)}}
	comes := ce16
	comes.initiators = "3"
	comes.faults = []chaos.Fault{killed(4, 0, chaos.When{}, time.Duration(2+seed%140)*hop)}
	copies := scenario{config: c, seed: seed, faults: []chaos.Fault{{Effect: &effect.Duplicate{Of: 0.3}}}}
	late := storm(algo, c, seed, false)
	late.faults = nil
	for _, kind := range []string{"newstate", "election"} {
		late.faults = append(late.faults, chaos.Fault{Filter: chaos.Filter{Kind: kind},
			Effect:   &effect.Reorder{Later: algotest.Drawn("uniform:0s,250ms")},
			Schedule: chaos.Schedule{For: late.duration / 3}})
	}
	for _, test := range []struct {
		name string
		scenario
		inside bool // the algorithm's assumptions hold
		quiet  bool // and no node goes down or comes up in the run
	}{
		{"crashes", crashes(algo, c, seed), true, false},
		{"storm", storm(algo, c, seed, false), false, false},
		{"the lowest alone notices", ce16, true, true},
		{"the highest comes up", comes, true, false},
		{"copies", copies, true, true},
		{"late messages", late, false, false},
		{"a cut", unnoticed(t, algo), false, false},
	} {
		w := newFourWatch()
		test.algorithm = w.of(algo)
		o := test.simulated(t)
		switch {
		case w.wrong != "":
			return fmt.Sprintf("%s: %s", test.name, w.wrong)
		case o.leader() == nodes.None || o.leader() != highest(o.up()):
			return fmt.Sprintf("%s: node %d leads of %v", test.name, o.leader(), o.up())
		case test.inside && len(o.Overlaps) > 0:
			return fmt.Sprintf("%s: two lead at once: %v", test.name, o.Overlaps)
		case test.quiet && len(o.Flaps)+w.restarts > 0:
			return fmt.Sprintf("%s: %d flaps, and %d elections begin again", test.name, len(o.Flaps), w.restarts)
		}
	}
	return ""
}

func TestFourPhaseMutantsAreCaught(t *testing.T) {
	algotest.Hunt(t, &bullyFourPhaseAlgorithm, fourMutants, 60, fourFault)
}
