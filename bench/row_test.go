package bench

import (
	"testing"
	"time"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

func TestPredict(t *testing.T) {
	o := Options{Workload: workload.Workload{Load: workload.Saturated}}
	o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(10*time.Millisecond)
	for _, c := range []struct {
		hops nodes.Range
		n    int
		want string
	}{
		{nodes.Exactly(2), 5, "0.833333"},
		{nodes.Exactly(1), 5, "0.909091"},
		{nodes.Between(1, 3), 5, ""},
		{nodes.Range{}, 5, ""},
		{nodes.Exactly(1), 1, ""},
	} {
		o.Config.N = c.n
		utilisation, rate := Predict(o, c.hops)
		if utilisation.String() != c.want {
			t.Errorf("the utilisation is %q, not %q", utilisation, c.want)
		}
		if rate.Known() != (c.want != "") {
			t.Errorf("the rate is %q", rate)
		}
	}
	o.Workload.Load = workload.Closed
	if u, _ := Predict(o, nodes.Exactly(1)); u.Known() {
		t.Error("theory says nothing of a load that is not saturated")
	}
}
