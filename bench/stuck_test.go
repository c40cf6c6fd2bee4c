package bench

import (
	"context"
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

// starting never returns from its start.
type starting struct{ looping }

func (*starting) Start(*nodes.Env) {
	for {
		time.Sleep(time.Millisecond)
	}
}

// rowOfStuck returns a row of machines with handlers that do not return.
func rowOfStuck(machine func(nodes.Config) nodes.Machine) *nodes.Spec {
	type again struct{ Again bool }
	return &nodes.Spec{Info: nodes.Info{Name: "looping"}, Messages: []nodes.Kind{{Zero: again{}}}, New: machine}
}

func TestStuckHandlersAreNoticed(t *testing.T) {
	t.Parallel()
	row := rowOfStuck(func(nodes.Config) nodes.Machine { return &looping{} })
	o := Defaults()
	o.Config.N, o.Duration = 2, 100*time.Millisecond
	asked := simulated(t, o, row)
	_, err := simulateWatched(t.Context(), *asked, 300*time.Millisecond)
	if !errors.As(err, new(stuckError)) || !strings.Contains(err.Error(), "stuck_test.go:") {
		t.Errorf("it says %v", err)
	}
}

// Whoever interrupts the runs of published figures need not wait for a handler that does not return.
func TestPublishedFiguresEndThoughAHandlerIsStuck(t *testing.T) {
	for name, election := range map[string]*nodes.Trial{"mutual exclusion": nil, "election": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := rowOfStuck(func(nodes.Config) nodes.Machine { return &starting{} })
			row.Published = []nodes.Claim{{Figure: nodes.MessagesPerEntry, Sizes: []int{2}, Election: election,
				Value: func(nodes.Config) nodes.Range { return nodes.Exactly(0) }}}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			over := make(chan error, 1)
			go func() {
				_, err := Reproduce(ctx, []*nodes.Spec{row}, 1, nil)
				over <- err
			}()
			select {
			case err := <-over:
				if !errors.Is(err, errInterrupted) {
					t.Error(err)
				}
			case <-time.After(10 * stuckInterrupted):
				t.Error("the run goes on")
			}
		})
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
