package bench

import (
	"syscall"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A run does not come to rest while a process stands still, though no request is open: one that was due
// before issuing ended is made when the process goes on.
func TestARunWaitsForWhoStandsStill(t *testing.T) {
	t.Parallel()
	for name, detects := range map[string]string{
		"central": "",
		// Its detectors go on until then: who was suspected meanwhile has to be trusted again.
		"suzuki-kasami-ft": "heartbeat:period=50ms,timeout=250ms",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waitForWhoStandsStill(t, name, detects)
		})
	}
}

func waitForWhoStandsStill(t *testing.T, name, detects string) {
	stopped := false
	got, h := suffer(t, fate{name, func(o *Options) {
		o.Detector = detects
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(150*time.Millisecond)
		o.Workload.Hold, o.Duration = chance.Constant(time.Millisecond), 700*time.Millisecond
	}, func(t *trial, call int, _ string) error {
		if stopped || call == 0 || t.sums().open() {
			return nil
		}
		stopped = true // until long after the others have done all they had to
		time.AfterFunc(time.Second, func() { t.nodes.lives[1].node.Signal(syscall.SIGCONT) })
		return t.nodes.lives[1].node.Signal(syscall.SIGSTOP)
	}})
	if got.Verdict.Outcome != check.Valid {
		t.Errorf("%v: %s", got.Verdict.Outcome, got.Verdict.Reason)
	}
	resumed, rested, over, late := int64(0), int64(0), false, 0
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Resumed:
			resumed = e.At
		case e.Kind == history.Marked && e.Count == history.Rested:
			rested = e.At
		case e.Kind == history.Marked && e.Count == history.Stopped:
			over = true
		case e.Kind == history.Entered && e.Node == 1 && over:
			late++
		}
	}
	if resumed == 0 || rested < resumed {
		t.Errorf("node 1 goes on at %d ns, and the run came to rest at %d ns", resumed, rested)
	}
	if late == 0 {
		t.Error("the request that was due while node 1 stood still is not made")
	}
}
