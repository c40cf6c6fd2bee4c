package sim

import (
	"strings"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/nodes/history"
)

// A node that is killed in the middle of an input is down at once, and the counters balance, even if it was
// about to let its client in or out.
func TestKilledInTheMiddleOfAnInput(t *testing.T) {
	killed := 0
	for _, algo := range mutex.Table {
		for _, text := range []string{"kill: 1, mid-input: 1, at: 30ms, for: 20ms",
			"kill: 1, mid-input: 2, at: 45ms, for: 1ms", "kill: coordinator, mid-input: 1, at: 20ms, for: 5ms",
			"kill: 1, when: '1 sends #20', for: 5ms"} {
			if algo.Coordinator == nil && strings.Contains(text, "coordinator") {
				continue
			}
			r := plagued(t, algo.Name, 4, text)
			crashed := r.of(history.Crashed)
			if r.Cut != nil || len(crashed) > 1 || len(crashed) != len(r.of(history.FaultBegan)) {
				t.Errorf("%s, %s: %v, died %d times", algo.Name, text, r.Cut, len(crashed))
			}
			killed += len(crashed)
			for _, e := range r.of(history.Entered) {
				if int32(e.Count) < 1 || int32(e.Count) > 1 && algo.Flaw == nil && algo.Safe == 0 {
					t.Fatalf("%s, %s: the register says %d", algo.Name, text, int32(e.Count))
				}
			}
		}
	}
	if killed < 25 {
		t.Errorf("%d were killed", killed)
	}
}
