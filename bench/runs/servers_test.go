//go:build linux

package runs

import (
	"fmt"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// An elector may need its own servers. They are nodes of the run like others: started, connected, hit by
// faults, recorded, and judged again.
func TestServersOfAnElector(t *testing.T) {
	for _, algo := range mutex.Table {
		for _, scheme := range election.Table {
			if !algo.Follows || scheme.Servers == nil {
				continue
			}
			for _, real := range []bool{false, true} {
				if real && soak.Pick(algo.Name != "central-failover", false, false) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/real=%t", algo.Name, scheme.Name, real), func(t *testing.T) {
					t.Parallel()
					keepsServers(t, algo, scheme, real)
				})
			}
		}
	}
}

// keepsServers makes and judges a run of an algorithm with an elector that has servers. One server is
// suspended for a moment.
func keepsServers(t *testing.T, algo, scheme *algorithm.Algorithm, real bool) {
	t.Helper()
	o := crowded(t, algo.Name)
	o.Config, o.Duration = nodes.Config{N: 3, Elect: scheme.Name}, 0
	o.Warmup, o.Entries = 0, 50
	o.Proxies = real
	last := nodes.ID(o.Config.N + scheme.ServerCount(nodes.Config{N: o.Config.N}) - 1)
	o.Faults = []chaos.Fault{{Effect: &effect.Pause{Who: effect.Target{List: nodes.Group{last}}},
		Schedule: chaos.Schedule{At: 200 * time.Millisecond, For: 20 * time.Millisecond}}}
	j, err := bench.Resolve(catalog.Table{}, o, algo, !real)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Make(t.Context(), j, setup(t))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Reopen(t.Context(), catalog.Table{}, r.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Run{r, again} {
		trial := r.Trials[0]
		if trial.Verdict.Outcome != check.Valid {
			trial.errorf(t, "%v, %s", trial.Verdict.Outcome, trial.Verdict.Reason)
		}
		if len(trial.Faults) != 1 || !trial.Faults[0].FromS.Known() {
			t.Errorf("what became of the fault: %+v", trial.Faults)
		}
	}
}
