package mutex

import "turnstile/nodes"

func singhalMutants() []mutant {
	change := mutantsOf[singhalDynamic](&singhalDynamicAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("all request sets are empty at first", "exclusion",
			func(s singhalDynamic) nodes.Machine { return &singhalEmpty{s} }),
		change("who waits does not ask the node that comes into its request set", "progress",
			func(s singhalDynamic) nodes.Machine { return &singhalSilent{s} }),
		change("who has left keeps out of its request set those whom it replies to", "exclusion",
			func(s singhalDynamic) nodes.Machine { return &singhalClinging{s} }),
	}
}

type (
	singhalEmpty    struct{ singhalDynamic }
	singhalSilent   struct{ singhalDynamic }
	singhalClinging struct{ singhalDynamic }
)

func (s *singhalEmpty) Start(*nodes.Env) {}

func (s *singhalSilent) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	silent := carvalhoSilent{s.carvalhoRoucairol}
	silent.Receive(env, from, m)
	s.carvalhoRoucairol = silent.carvalhoRoucairol
}

func (s *singhalClinging) Release(env *nodes.Env) {
	s.singhalDynamic.Release(env)
	s.lacks.Clear()
}
