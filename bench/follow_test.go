package bench

import (
	"testing"
	"time"

	"turnstile/bench/check"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
)

// A row that follows a leader is safe and serves all, whatever elects: a manager that is elected grants only
// after a majority has answered its census. When the leader crashes the next one takes over, if the scheme
// outlasts that; if it does not, the run may stall, outside its model.
func TestRowsFollowAnyElector(t *testing.T) {
	for _, row := range mutex.Table {
		if !row.Follows {
			continue
		}
		for _, scheme := range election.Table {
			if scheme.Broken != "" {
				continue
			}
			t.Run(row.Name+"/"+scheme.Name, func(t *testing.T) {
				t.Parallel()
				o := crowded(t, row.Name)
				o.Config.Elect, o.Detector = scheme.Name, "heartbeat:period=50ms,timeout=250ms"
				if v := followed(t, row, o); v.Outcome != check.Valid {
					t.Fatalf("without faults: %v, %s", v.Outcome, v.Reason)
				}
				o.Faults = []chaos.Fault{{Kill: chaos.Target{Word: "leader"}, At: time.Second}}
				v := followed(t, row, o)
				outlasts := (scheme.Live|scheme.Safe)&nodes.NoCrash == 0
				switch {
				case v.Outcome == check.Valid: // a scheme may outlast some crashes though it does not promise that
				case v.Outcome == check.Inconclusive && v.OutsideModel && !outlasts:
				default:
					t.Errorf("the leader dies: %v, outside its model %v: %s", v.Outcome, v.OutsideModel, v.Reason)
				}
			})
		}
	}
}

// followed simulates a run and judges it.
func followed(t *testing.T, row *nodes.Spec, o Options) check.Verdict {
	t.Helper()
	if err := o.Validate(row); err != nil {
		t.Fatal(err)
	}
	v, err := Try(t.Context(), row, o)
	if err != nil {
		t.Fatal(err)
	}
	return v.Verdict
}
