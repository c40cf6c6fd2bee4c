package mutex

import (
	"slices"
	"testing"
	"time"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
)

// longHold is a hold that is longer than it takes to hand on all units of a resource to a few nodes.
const longHold = 200 * time.Millisecond

func semaphoreMutants() []mutant {
	atServer := mutantsOf[semaphore](&semaphoreAlgorithm, nodes.Config{N: 3, Units: 2})
	return []mutant{
		atServer("the count is one too high", "exclusion",
			func(s semaphore) nodes.Machine { s.count++; return &s }),
		atServer("V does not say of which reply", "exclusion",
			func(s semaphore) nodes.Machine { return &semaphoreAnyV{s} }).copied(),
		atServer("a copy of a P is queued", "progress",
			func(s semaphore) nodes.Machine { return &semaphoreAnyP{s} }).copied(),
		atServer("the last unit is given to nobody", "capacity",
			func(s semaphore) nodes.Machine { s.count--; return &s }).holding(longHold),
	}
}

type (
	semaphoreAnyV struct{ semaphore }
	semaphoreAnyP struct{ semaphore }
)

func (s *semaphoreAnyV) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, is := m.(semaphoreV); is {
		s.out = slices.DeleteFunc(s.out, func(t ticket) bool { return t.Client == from })
		s.count++
		s.next(env)
		return
	}
	s.semaphore.Receive(env, from, m)
}

func (s *semaphoreAnyP) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if s.seen != nil {
		s.seen[from] = 0
	}
	s.semaphore.Receive(env, from, m)
}

// Unless told otherwise a resource has fewer units than clients, so that two nodes show a rule that lets one
// too many in.
func TestOneTooManyIsFoundByDefault(t *testing.T) {
	for _, m := range mutants() {
		switch m.rule {
		case "the count is one too high", "a node enters without one reply more",
			"who has not answered counts with no copies":
		default:
			continue
		}
		c := m.spec.Explicit(nodes.Config{N: 2})
		x := algotest.Explore(t, explore.Space{Spec: &m.spec, Config: c, Entries: 1, Reordering: true})
		if x.Violation == nil || x.Violation.Check != replay.CheckExclusion {
			t.Errorf("%s, in which %s: %+v", m.sound.Name, m.rule, x)
		}
	}
}
