package bench

import (
	"context"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"turnstile/nodes/history"
	"turnstile/nodes/sim"
)

// How long a simulation may handle a single message: it takes a microsecond, unless the algorithm is stuck.
// After an interruption nobody wants to wait as long.
const (
	stuckAfter       = 30 * time.Second
	stuckInterrupted = 2 * time.Second
)

// A stuckError ends a simulated run in which a handler does not return. What was simulated is lost, since
// nothing can stop the handler.
type stuckError struct{ where string }

func (e stuckError) Error() string {
	return "a handler of the algorithm does not return (it is at " + e.where +
		"); nothing of the trial is kept, and the same seed shows it again"
}

// simulateWatched makes a simulated run, unless one of its handlers does not return within limit.
func simulateWatched(ctx context.Context, o sim.Options, limit time.Duration, folds ...history.Fold) (
	*sim.Result, error) {
	type outcome struct {
		result *sim.Result
		err    error
	}
	var beat atomic.Uint64
	o.Beat = &beat
	over, started := make(chan outcome, 1), make(chan string, 1)
	go func() {
		started <- goroutine()
		result, err := sim.Run(o, folds...)
		over <- outcome{result, err}
	}()
	interrupted := ctx.Done()
	simulates := <-started
	last, since := uint64(0), time.Now()
	tick := time.NewTicker(limit / 30)
	defer tick.Stop()
	for {
		select {
		case got := <-over:
			return got.result, got.err
		case <-interrupted:
			interrupted, limit = nil, min(limit, stuckInterrupted)
		case <-tick.C:
			if now := beat.Load(); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) > limit {
				if place := inHandler(simulates); place != "" {
					return nil, stuckError{place}
				}
				since = time.Now() // on a busy machine it has not got as far
			}
		}
	}
}

// frame is a line of a stack that names a place in a file.
var frame = regexp.MustCompile(`(?m)^\t(\S+\.go:\d+)`)

// goroutine returns how the stack of the goroutine that calls it begins, as in goroutine 7.
func goroutine() string {
	begin := make([]byte, 64)
	says, _, _ := strings.Cut(string(begin[:runtime.Stack(begin, false)]), " [")
	return says
}

// inHandler returns the place in the algorithm that the handler of a simulation has come to, given the
// goroutine that simulates; others may simulate beside it. Empty: it is in no handler.
func inHandler(simulates string) string {
	stacks := make([]byte, 1<<20)
	for _, stack := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if !strings.HasPrefix(stack, simulates+" [") {
			continue
		}
		handler := ""
		for _, place := range frame.FindAllStringSubmatch(stack, -1) { // the innermost call first
			if strings.Contains(place[1], "/nodes/node.go:") {
				return handler // it has called the handler
			}
			handler = place[1]
		}
	}
	return ""
}
