package mutex

import (
	"testing"
	"time"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
)

func bakerySkippingMutants() []mutant {
	c := nodes.Config{N: 3}.With("give-up", "2").With("retry", "20ms")
	change := mutantsOf[bakery](&bakeryAlgorithm, c)
	return []mutant{
		change("nobody is given up, however silent", "progress",
			func(b bakery) nodes.Machine { b.giveUp = 0; return &b }).crashed(),
		change("what was not answered is not read again, and its owner not given up", "progress",
			func(b bakery) nodes.Machine { return &bakeryStuck{b} }).crashed(),
		change("who is silent once is given up, though answers take longer", "exclusion",
			func(b bakery) nodes.Machine { return &bakeryHurried{b} }),
	}
}

type (
	bakeryStuck   struct{ bakery }
	bakeryHurried struct{ bakery }
	bakeryDeaf    struct{ bakery }
)

func (b *bakeryStuck) Timeout(env *nodes.Env, t nodes.Timer) {
	if t != bakeryRetry {
		b.bakery.Timeout(env, t)
	}
}

func (b *bakeryHurried) Request(env *nodes.Env) {
	b.giveUp, b.retry = 1, time.Millisecond
	b.bakery.Request(env)
}

// bakeryDeaf does not notice that a peer that was given up is up again.
func (b *bakeryDeaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	silent := b.silent[from]
	b.bakery.Receive(env, from, m)
	if silent > b.giveUp {
		b.silent[from] = silent
	}
}

// If messages take bounded time, a dead peer is skipped, and nothing else goes wrong in any order of events,
// with or without restarts. A node that stays deaf to a restarted peer lets two in, and so do messages that
// take any time.
func TestDeadOwnersAreSkipped(t *testing.T) {
	c := nodes.Config{N: 2}.With("give-up", "1").With("retry", "5ms")
	deaf := algotest.Rebuilt(&bakeryAlgorithm, func(b bakery) nodes.Machine { return &bakeryDeaf{b} })
	within := explore.Space{Config: c, Entries: 2, Crashes: 1, Restarts: true,
		Timing: &replay.Timing{Tick: time.Millisecond,
			Latency: replay.Latency{Least: time.Millisecond, Most: 2 * time.Millisecond}}}
	for _, test := range []struct {
		algorithm *algorithm.Algorithm
		fails     string
	}{{&bakeryAlgorithm, ""}, {deaf, replay.CheckExclusion}} {
		o := within
		o.Spec = test.algorithm
		x := algotest.Explore(t, o)
		switch {
		case test.fails == "" && (x.Violation != nil || !x.Exhausted || !x.Progress):
			t.Errorf("%+v", x)
		case test.fails != "" && (x.Violation == nil || x.Violation.Check != test.fails):
			t.Errorf("deaf: %+v", x.Violation)
		}
	}
	x := algotest.Explore(t, explore.Space{Spec: &bakeryAlgorithm, Config: c, Entries: 1, States: 20_000})
	if first := x.FirstOutside; x.Violation != nil || first == nil || first.Check != replay.CheckExclusion ||
		first.OutsideModel != nodes.Timing {
		t.Errorf("without bounds: %+v, %+v", x.Violation, first)
	}
}

// What the bakery rests on depends on whether it skips owners.
func TestModelOfBakery(t *testing.T) {
	for value, want := range map[string][2]nodes.Assumption{"never": {0, nodes.NoLoss | nodes.NoCrash},
		"5": {nodes.NoLoss | nodes.Timing, nodes.NoLoss | nodes.Timing}} {
		c := nodes.Config{N: 3}.With("give-up", value)
		if safe, live := bakeryAlgorithm.SafeIn(c), bakeryAlgorithm.LiveIn(c); safe != want[0] || live != want[1] {
			t.Errorf("--give-up %s: it rests on %v, and its progress on %v", value, safe, live)
		}
	}
}
