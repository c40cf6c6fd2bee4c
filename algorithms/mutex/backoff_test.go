package mutex

import (
	"testing"
	"time"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

func backoffMutants() []mutant {
	change := mutantsOf[backoff](&backoffAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("a node that tries answers that it does not", "exclusion",
			func(b backoff) nodes.Machine { return &backoffDeaf{b} }),
		change("a node inside answers that it does not try", "exclusion",
			func(b backoff) nodes.Machine { return &backoffAbsent{b} }),
		change("an attempt is not given up", "exclusion or panic",
			func(b backoff) nodes.Machine { return &backoffStubborn{b} }),
		change("CLEAR does not say to which attempt", "exclusion",
			func(b backoff) nodes.Machine { return &backoffAnyClear{b} }).copied(),
		change("who leaves goes on answering that it is inside", "progress",
			func(b backoff) nodes.Machine { return &backoffStaying{b} }),
		change("an attempt that was given up is not made again", "progress",
			func(b backoff) nodes.Machine { return &backoffOnce{b} }),
		change("nobody is asked again", "progress",
			func(b backoff) nodes.Machine { return &backoffPatient{b} }).lost(),
		change("one attempt in 25 is announced twice", "cost",
			func(b backoff) nodes.Machine { return &backoffWasteful{backoff: b} }).wasteful(),
	}
}

type (
	backoffDeaf     struct{ backoff }
	backoffAbsent   struct{ backoff }
	backoffStubborn struct{ backoff }
	backoffAnyClear struct{ backoff }
	backoffLifeless struct{ backoff }
	backoffStaying  struct{ backoff }
	backoffOnce     struct{ backoff }
	backoffPatient  struct{ backoff }
	backoffWasteful struct {
		backoff
		waste
	}
)

// answering has the machine take an attempt as if it neither tried nor were inside.
func (b *backoff) answering(env *nodes.Env, from nodes.ID, m backoffAttempt) {
	busy := b.busy
	b.busy = false
	b.Receive(env, from, m)
	b.busy = busy
}

func (b *backoffDeaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(backoffAttempt); ok && !b.awaiting.Empty() {
		b.answering(env, from, a)
		return
	}
	b.backoff.Receive(env, from, m)
}

func (b *backoffAbsent) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(backoffAttempt); ok && b.awaiting.Empty() {
		b.answering(env, from, a)
		return
	}
	b.backoff.Receive(env, from, m)
}

func (b *backoffStubborn) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if jam, ok := m.(backoffJam); ok {
		m = backoffClear(jam)
	}
	b.backoff.Receive(env, from, m)
}

func (b *backoffAnyClear) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(backoffClear); ok {
		m = backoffClear{env.Incarnation(), b.number}
	}
	b.backoff.Receive(env, from, m)
}

func (b *backoffLifeless) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if c, ok := m.(backoffClear); ok {
		m = backoffClear{env.Incarnation(), c.Number}
	}
	b.backoff.Receive(env, from, m)
}

func (b *backoffStaying) Release(*nodes.Env) {}

func (b *backoffOnce) Timeout(env *nodes.Env, t nodes.Timer) {
	if t != nextAttempt {
		b.backoff.Timeout(env, t)
	}
}

func (b *backoffPatient) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == nextAttempt {
		b.backoff.Timeout(env, t)
	}
}

func (b *backoffWasteful) Request(env *nodes.Env) {
	b.backoff.Request(env)
	if b.now() {
		env.Broadcast(backoffAttempt{env.Incarnation(), b.number})
	}
}

// Nothing bounds how often a client is passed over: the node that has just left tries again at once, while
// the others wait for longer and longer. So one client makes most of the entries of some run.
func TestBackoffLetsOneCaptureTheMedium(t *testing.T) {
	const n, entries = 5, 300
	most := 0
	for seed := range uint64(5) {
		o := sim.Options{Stack: algotest.StackOf(&backoffAlgorithm, nodes.Config{N: n}), Seed: seed,
			Entries:  entries,
			Workload: workload.Workload{Load: workload.Saturated}, Latency: time.Millisecond}
		var entered [n]int
		for _, e := range algotest.History(t, o).Events {
			if e.Kind == history.Entered {
				entered[e.Node]++
				most = max(most, entered[e.Node])
			}
		}
	}
	if most < entries/2 {
		t.Errorf("no client makes more than %d of %d entries, want half of them by one", most, entries)
	}
}

// An attempt names the incarnation of its node: with numbers alone, a CLEAR for an attempt of the life before
// would count, and two would be inside. This takes a crash within a node's first attempt, and reordering.
func TestBackoffNamesTheLife(t *testing.T) {
	lifeless := algotest.Rebuilt(&backoffAlgorithm, func(b backoff) nodes.Machine { return &backoffLifeless{b} })
	o := algotest.Hostile(lifeless)[0]
	o.States = 60_000
	if v := algotest.Explore(t, o).Violation; v == nil || v.Check != replay.CheckExclusion {
		t.Errorf("it breaks %+v, want %s", v, replay.CheckExclusion)
	}
}
