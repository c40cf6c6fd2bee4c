package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

func lamportMutants() []mutant {
	change := mutantsOf[lamport](&lamportRow, nodes.Config{N: 3})
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
		mutantsOf[lamportWithholding](&lamportWithholdingRow, nodes.Config{N: 3})(
			"RELEASE does not say of which request", "exclusion",
			func(l lamportWithholding) nodes.Machine { return &lamportAnyRelease{l} }),
	}
}

type (
	lamportUnheard    struct{ lamport }
	lamportUnordered  struct{ lamport }
	lamportDeaf       struct{ lamport }
	lamportAnyAck     struct{ lamport }
	lamportAnyRequest struct{ lamport }
	lamportAnyRelease struct{ lamportWithholding }
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

func (l *lamportAnyRelease) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(lamportRelease); ok {
		l.queue = slices.DeleteFunc(l.queue, func(s stamp) bool { return s.ID == from })
		l.enter(env)
		return
	}
	l.lamportWithholding.Receive(env, from, m)
}

var lamportWithholdingRow = inAnyOrder(variantOf(&lamportRow, "lamport-withholding",
	func(l lamport) nodes.Machine { return &lamportWithholding{lamport: l} }))

func inAnyOrder(v row.Row) row.Row {
	v.Safe &^= nodes.FIFO
	return v
}

// lamportWithholding is Lamport's algorithm as some teach it: a node inside acknowledges when it has left.
// Then nothing rests on the order of messages. Let P be inside, and Q have all acknowledgements. P gave its
// own before it entered; so it had Q's request in its queue, and its own came first. That is in Q's queue
// too, since Q has acknowledged it, and stays there until P releases it.
type lamportWithholding struct {
	lamport
	withheld []stamp // what we have queued inside and not acknowledged yet
}

func (l *lamportWithholding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	q, ok := m.(lamportRequest)
	if !ok || !l.inside {
		l.lamport.Receive(env, from, m)
		return
	}
	l.hear(stamp{q.Clock, from})
	l.withheld = append(l.withheld, stamp{q.Clock, from})
}

func (l *lamportWithholding) Release(env *nodes.Env) {
	l.lamport.Release(env)
	for _, s := range l.withheld {
		env.Send(s.ID, lamportAck{s.Clock})
	}
	l.withheld = l.withheld[:0]
}

var lamportSavingRow = variantOf(&lamportRow, "lamport-saving",
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
