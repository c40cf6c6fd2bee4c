package servicetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"turnstile/nodes/foreign/program"
)

// Following is a report of an elector: the node that it follows, or "", and the term.
type Following struct {
	Leader string
	Term   uint64
}

// Run runs an elector until the test ends, or until stop is called. told receives the reports of the elector.
func Run(t *testing.T, e program.Elector) (told <-chan Following, stop func()) {
	t.Helper()
	reports := make(chan Following, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		err := e.Run(ctx, func(leader string, term uint64) { reports <- Following{leader, term} })
		if err != nil {
			t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		ended.Wait()
		e.Close()
	})
	t.Cleanup(stop)
	return reports, stop
}

// Await waits until an elector follows one of the given leaders, and returns the report that says so. It
// fails the test if that takes too long.
func Await(t *testing.T, told <-chan Following, within time.Duration, leaders ...string) Following {
	t.Helper()
	for late := time.After(within); ; {
		select {
		case f := <-told:
			if slices.Contains(leaders, f.Leader) {
				return f
			}
		case <-late:
			t.Fatalf("the elector followed none of %v within %v", leaders, within)
		}
	}
}
