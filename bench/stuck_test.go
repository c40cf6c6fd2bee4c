package bench

import (
	"errors"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/option"
)

// looping never returns from the release of node 0.
type looping struct{}

func (*looping) Request(env *nodes.Env)                      { env.Grant() }
func (*looping) Receive(*nodes.Env, nodes.ID, nodes.Message) {}
func (*looping) Release(env *nodes.Env) {
	for env.Self() == 0 {
		time.Sleep(time.Millisecond) // so that the test can end
	}
}

// stuckAlgorithm returns an algorithm of machines with handlers that do not return.
func stuckAlgorithm(machine func(nodes.Config) nodes.Machine) *algorithm.Algorithm {
	type again struct{ Again bool }
	return &algorithm.Algorithm{Spec: nodes.Spec{
		Name:     "looping",
		Messages: []nodes.MessageKind{{Zero: again{}}},
		New:      machine,
	}}
}

// dawdling never returns from the request of node 0.
type dawdling struct{ looping }

func (d *dawdling) Request(env *nodes.Env) {
	for env.Self() == 0 {
		time.Sleep(time.Millisecond) // so that the test can end
	}
	d.looping.Request(env)
}

// The error has the place at which the handler of its own run is stuck, though a handler of an earlier run is
// still stuck at another place.
func TestStuckHandlersAreNoticed(t *testing.T) {
	t.Parallel()
	var says []string
	for _, machine := range []nodes.Machine{&dawdling{}, &looping{}} {
		algo := stuckAlgorithm(func(nodes.Config) nodes.Machine { return machine })
		o := option.Defaults()
		o.Config.N, o.Duration = 2, 100*time.Millisecond
		asked := simulated(t, o, algo)
		_, err := simulateWatched(t.Context(), *asked, time.Second)
		if !errors.As(err, new(StuckError)) || !strings.Contains(err.Error(), "stuck_test.go:") {
			t.Fatalf("it says %v", err)
		}
		says = append(says, err.Error())
	}
	if says[0] == says[1] {
		t.Errorf("of two handlers in two places it says %s", says[0])
	}
}

// A sleeper is a fold that takes long for the first event.
type sleeper struct{ slept bool }

func (s *sleeper) Add(history.Event) {
	if !s.slept {
		time.Sleep(1500 * time.Millisecond)
	}
	s.slept = true
}

func (s *sleeper) Close([]*history.NodeLog) {}

// A slow simulation does not count as stuck unless it is in a handler: on a busy machine it may have to wait
// for a CPU.
func TestWhatIsInNoHandlerIsNotStuck(t *testing.T) {
	t.Parallel()
	central, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N, o.Duration, o.Workload.Hold = 2, 10*time.Millisecond, chance.Constant(time.Millisecond)
	asked := simulated(t, o, central)
	if _, err := simulateWatched(t.Context(), *asked, time.Second, &sleeper{}); err != nil {
		t.Error(err)
	}
}

// simulated returns the options of a simulation of the first trial.
func simulated(t testing.TB, o Options, algo *algorithm.Algorithm) *sim.Options {
	t.Helper()
	asked, _, err := drafted(t, algo, o, true).Simulation(0, max(1, o.Seed))
	if err != nil {
		t.Fatal(err)
	}
	return asked
}
