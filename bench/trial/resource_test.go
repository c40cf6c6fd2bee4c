//go:build linux

package trial

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/judge/check"
	"turnstile/nodes/history"
	"turnstile/option"
)

// A suspended resource process only delays the nodes, and its pause is recorded. If the process ends, the run
// ends with an error that says why.
func TestTheResourceProcessStandsStillOrEnds(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			o := option.Defaults()
			o.Algorithm, o.Config.N, o.Resource = "ricart-agrawala", 3, option.ResourceProcess
			o.Warmup, o.WarmupLimit, o.Duration, o.Patience = 0, 0, 300*time.Millisecond, impatience
			r := takeApart(t, o)
			process := resourceOf(r.Site)
			struck := false
			r.Progress = func(p Progress) {
				if p.Phase != "measuring" || struck {
					return
				}
				struck = true
				if err := process.Signal(signal); err != nil {
					t.Error(err)
				}
				if signal == syscall.SIGSTOP {
					time.AfterFunc(4*impatience, func() { process.Signal(syscall.SIGCONT) })
				}
			}
			got, trouble := r.make(t.Context(), t)
			if signal == syscall.SIGKILL {
				if trouble == nil || !strings.Contains(trouble.Error(), "the resource process ended on its own") {
					t.Errorf("the run ends with %v", trouble)
				}
				return
			}
			h, err := history.Load(r.history)
			if err != nil {
				t.Fatal(err)
			}
			stood := slices.ContainsFunc(h.Events, func(e history.Event) bool {
				return e.Kind == history.Paused && e.Count == history.Resource
			})
			if trouble != nil || got.Verdict.Outcome == check.Violated || !stood {
				t.Errorf("%v: %s; the pause is on record: %t; %v", got.Verdict.Outcome, got.Verdict.Reason, stood,
					trouble)
			}
		})
	}
}
