package bench

import (
	"errors"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/sim"
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

func TestStuckHandlersAreNoticed(t *testing.T) {
	row := &nodes.Spec{Info: nodes.Info{Name: "looping"}, Messages: []nodes.Kind{{Zero: struct {
		Again bool
	}{}}},
		New: func(nodes.Config) nodes.Machine { return &looping{} }}
	o := Defaults()
	o.Config.N, o.Duration = 2, 100*time.Millisecond
	asked := simulated(t, o, row)
	_, err := simulateWatched(t.Context(), *asked, 300*time.Millisecond)
	if !errors.As(err, new(stuckError)) || !strings.Contains(err.Error(), "stuck_test.go:") {
		t.Errorf("it says %v", err)
	}
}

// simulated returns the options of a simulation of the first trial.
func simulated(t testing.TB, o Options, row *nodes.Spec) *sim.Options {
	t.Helper()
	asked, err := simulation(o, row, max(1, o.Seed))
	if err != nil {
		t.Fatal(err)
	}
	return asked
}
