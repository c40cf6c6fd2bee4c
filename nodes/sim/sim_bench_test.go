package sim

import (
	"testing"
	"time"

	"turnstile/bench/check"
	"turnstile/bench/workload"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
)

// BenchmarkDelivery reports how many messages a second of Ricart-Agrawala at N=32 are handled, recording
// and judging included.
func BenchmarkDelivery(b *testing.B) {
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		b.Fatal(err)
	}
	for _, latency := range []string{"1ms", "exponential:1ms"} {
		b.Run(latency, func(b *testing.B) {
			o := Options{Spec: spec, Config: nodes.Config{N: 32}, Seed: 1,
				Workload: workload.Workload{Load: workload.Saturated, Hold: chaos.Constant(100 * time.Microsecond)},
				Entries:  20_000}
			o.Latency.Set(latency)
			var deliveries uint64
			for b.Loop() {
				r, err := Run(o)
				if err != nil {
					b.Fatal(err)
				}
				v := check.Judge(r.History, check.Setting{Config: o.Config, Algorithm: spec.Name,
					Kinds: []string{"request", "reply"}, Cost: nodes.Exactly(62), CostKnown: true,
					Identities: spec.Identities})
				if v.Outcome != check.Valid {
					b.Fatal(v.Reason)
				}
				deliveries += r.Deliveries
			}
			b.ReportMetric(float64(deliveries)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}
