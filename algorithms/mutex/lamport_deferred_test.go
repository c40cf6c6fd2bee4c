package mutex

import (
	"slices"

	"turnstile/nodes"
)

func lamportDeferredMutants() []mutant {
	change := mutantsOf[lamportDeferred](&lamportDeferredAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("RELEASE does not say of which request", "exclusion",
			func(l lamportDeferred) nodes.Machine { return &lamportDeferredAnyRelease{l} }),
		change("who is inside acknowledges at once", "exclusion",
			func(l lamportDeferred) nodes.Machine { return &lamportDeferredHasty{l} }),
		change("who waits acknowledges when it has left, too", "progress",
			func(l lamportDeferred) nodes.Machine { return &lamportDeferredStubborn{l} }),
		change("who has left acknowledges the last request alone", "progress",
			func(l lamportDeferred) nodes.Machine { return &lamportDeferredForgetful{l} }),
	}
}

type (
	lamportDeferredAnyRelease struct{ lamportDeferred }
	lamportDeferredHasty      struct{ lamportDeferred }
	lamportDeferredStubborn   struct{ lamportDeferred }
	lamportDeferredForgetful  struct{ lamportDeferred }
)

func (l *lamportDeferredAnyRelease) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(lamportRelease); ok {
		l.queue = slices.DeleteFunc(l.queue, func(s stamp) bool { return s.ID == from })
		l.enter(env)
		return
	}
	l.lamportDeferred.Receive(env, from, m)
}

func (l *lamportDeferredHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	l.lamport.Receive(env, from, m)
}

func (l *lamportDeferredStubborn) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(lamportRequest); ok && !l.ours.isZero() {
		l.hear(stamp{q.Clock, from})
		l.withheld = append(l.withheld, stamp{q.Clock, from})
		return
	}
	l.lamportDeferred.Receive(env, from, m)
}

func (l *lamportDeferredForgetful) Release(env *nodes.Env) {
	if last := len(l.withheld) - 1; last > 0 {
		l.withheld = l.withheld[last:]
	}
	l.lamportDeferred.Release(env)
}
