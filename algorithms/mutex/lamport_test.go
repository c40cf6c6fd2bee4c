package mutex

import (
	"slices"

	"turnstile/nodes"
)

func lamportMutants() []mutant {
	change := mutantsOf[lamport](&lamportAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("the first of its own queue enters, acknowledged or not", "exclusion",
			func(l lamport) nodes.Machine { return &lamportUnheard{l} }),
		change("whoever is acknowledged enters, first or not", "exclusion",
			func(l lamport) nodes.Machine { return &lamportUnordered{l} }),
		change("a clock does not advance when a message comes", "exclusion",
			func(l lamport) nodes.Machine { return &lamportDeaf{l} }),
		change("ACK does not say of which request", "exclusion",
			func(l lamport) nodes.Machine { return &lamportAnyAck{l} }).copied(),
		change("a copy of a request is queued", "progress",
			func(l lamport) nodes.Machine { return &lamportAnyRequest{l} }).copied(),
	}
}

type (
	lamportUnheard    struct{ lamport }
	lamportUnordered  struct{ lamport }
	lamportDeaf       struct{ lamport }
	lamportAnyAck     struct{ lamport }
	lamportAnyRequest struct{ lamport }
)

func (l *lamportUnheard) Request(env *nodes.Env) {
	l.lamport.Request(env)
	l.awaiting.Clear()
	l.enter(env)
}

func (l *lamportUnordered) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	l.lamport.Receive(env, from, m)
	if !l.ours.isZero() && !l.inside && l.awaiting.Empty() {
		l.inside = true
		env.Grant()
	}
}

func (l *lamportDeaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	clock := l.clock
	l.lamport.Receive(env, from, m)
	l.clock = clock
}

func (l *lamportAnyAck) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(lamportAck); ok && !l.ours.isZero() {
		m = lamportAck{l.ours.Clock}
	}
	l.lamport.Receive(env, from, m)
}

func (l *lamportAnyRequest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	l.seen[from] = 0
	l.lamport.Receive(env, from, m)
}

var lamportSavingAlgorithm = variantOf(&lamportAlgorithm, "lamport-saving",
	func(l lamport) nodes.Machine { return &lamportSaving{l} }, nodes.MessageKind{Zero: lamportSaved{}})

// lamportSaving is Lamport's algorithm by nodes that do not forget what they have stamped and acknowledged.
type lamportSaving struct{ lamport }

// lamportSaved is what a node knew.
type lamportSaved struct {
	Clock uint64
	Queue []stamp
}

func (l *lamportSaving) save(env *nodes.Env, s stamp) {
	env.Save(lamportSaved{max(l.clock, s.Clock), insert(slices.Clone(l.queue), s)})
}

func (l *lamportSaving) Request(env *nodes.Env) {
	l.save(env, stamp{l.clock + 1, env.Self()})
	l.lamport.Request(env)
}

func (l *lamportSaving) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(lamportRequest); ok {
		l.save(env, stamp{q.Clock, from})
	}
	l.lamport.Receive(env, from, m)
}

// Recover takes back what we had asked for: our client is a new one.
func (l *lamportSaving) Recover(env *nodes.Env, m nodes.Message) {
	saved, _ := m.(lamportSaved)
	l.clock = saved.Clock
	for _, s := range saved.Queue {
		if s.ID == env.Self() {
			env.Broadcast(lamportRelease{s.Clock})
		} else {
			l.hear(s)
		}
	}
}
