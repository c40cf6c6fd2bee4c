package election

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// An observer is called in place of each handler of a machine, and calls it once.
type observer func(env *nodes.Env, m nodes.Machine, handle func())

// observedBy returns an algorithm whose machines have an observer around their handlers.
func observedBy(algo *algorithm.Algorithm, around observer) *algorithm.Algorithm {
	o := *algo
	o.New = func(c nodes.Config) nodes.Machine { return &observed{algo.New(c).(timedElector), around} }
	return &o
}

// A timedElector is an elector with all the handlers around which an observer is called.
type timedElector interface {
	nodes.Elector
	nodes.Starter
	nodes.Recoverer
	nodes.Timed
	nodes.Suspecter
}

type observed struct {
	timedElector
	around observer
}

func (o *observed) Start(env *nodes.Env) {
	o.around(env, o.timedElector, func() { o.timedElector.Start(env) })
}

func (o *observed) Recover(env *nodes.Env, saved nodes.Message) {
	o.around(env, o.timedElector, func() { o.timedElector.Recover(env, saved) })
}

func (o *observed) Campaign(env *nodes.Env) {
	o.around(env, o.timedElector, func() { o.timedElector.Campaign(env) })
}

func (o *observed) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	o.around(env, o.timedElector, func() { o.timedElector.Receive(env, from, m) })
}

func (o *observed) Timeout(env *nodes.Env, t nodes.Timer) {
	o.around(env, o.timedElector, func() { o.timedElector.Timeout(env, t) })
}

func (o *observed) Suspect(env *nodes.Env, peer nodes.ID) {
	o.around(env, o.timedElector, func() { o.timedElector.Suspect(env, peer) })
}

// storm returns a scenario with faults drawn by a seed. The faults end early enough for the algorithm to
// recover before the run ends. inside leaves out faults that break the algorithm's assumptions.
func storm(algo *algorithm.Algorithm, c nodes.Config, seed uint64, inside bool) scenario {
	s := scenario{algorithm: algo, config: c, seed: seed, duration: 4*algo.GraceOf(c) + time.Second}
	scene := &chaos.Scene{Spec: algo, Config: algo.Explicit(c), Measured: s.duration, Simulated: true}
	plan := chaos.RandomPlan(scene, seed)
	if inside {
		plan = chaos.InsidePlan(scene, seed)
	}
	s.faults = plan.Faults
	for len(s.faults) > 0 { // some cannot hold together in so few nodes
		if _, err := chaos.Resolve(s.faults, scene, seed); err == nil {
			break
		}
		s.faults = s.faults[1:]
	}
	return s
}

// crashes returns a scenario: nodes crash and restart, and several nodes may be down at the same time.
// Messages may be doubled if the algorithm's assumptions allow that.
func crashes(algo *algorithm.Algorithm, c nodes.Config, seed uint64) scenario {
	s := storm(algo, c, seed, true)
	s.faults = slices.DeleteFunc(s.faults, func(f chaos.Fault) bool {
		_, copies := f.Effect.(*effect.Duplicate)
		return !copies
	})
	dice, count := chance.Dice(seed), uint64(0)
	draw := func(n int) int {
		count++
		return dice.Below(chance.Roll{Purpose: chance.ForTrial, Count: count}, n)
	}
	const slots = 12
	slot := s.duration / 2 / slots
	busy := make([]int, c.N) // until which slot a node is down
	for at := range slots {
		victim := draw(c.N)
		if busy[victim] > at {
			continue
		}
		// From a few messages to longer than anybody waits.
		lasts := slot * time.Duration(1+draw(200)) / 100
		busy[victim] = at + 3
		f := killed(nodes.ID(victim), time.Duration(at)*slot+time.Duration(draw(int(slot/2))), chaos.When{}, lasts)
		f.Effect.(*effect.Kill).Forget = draw(2) == 0
		s.faults = append(s.faults, f)
	}
	return s
}

// up returns the nodes that were up when the run ended, and had named a leader.
func (o *outcome) up() (all nodes.Set) {
	for _, b := range o.Beliefs {
		if b.To >= o.End {
			all.Add(b.Node)
		}
	}
	return all
}

// highest returns the highest of a set.
func highest(s nodes.Set) nodes.ID {
	top := nodes.None
	for id := range s.All() {
		top = max(top, id)
	}
	return top
}

// when reads a moment.
func when(t testing.TB, text string) chaos.When {
	t.Helper()
	w, err := chaos.ParseWhen(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// killed has a node go down at a time or a moment, and come up again some time later, unless that is zero.
func killed(id nodes.ID, at time.Duration, moment chaos.When, lasts time.Duration) chaos.Fault {
	return chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{id}}},
		Schedule: chaos.Schedule{At: at, When: moment, For: lasts}}
}

// parted cuts the nodes into groups, in the notation of fault plans, for the time lasts; zero: for an hour.
func parted(t testing.TB, groups string, at, lasts time.Duration) chaos.Fault {
	t.Helper()
	cut := algotest.Cut(groups)
	return chaos.Fault{Effect: &effect.Partition{Cut: cut},
		Schedule: chaos.Schedule{At: at, For: cmp.Or(lasts, time.Hour)}}
}
