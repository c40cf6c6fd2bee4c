package sim

import (
	"testing"

	"turnstile/judge/check"
	"turnstile/nodes/history"
)

// BenchmarkDelivery reports how many messages a second of Ricart-Agrawala at N=32 are handled, recording
// and judging included.
func BenchmarkDelivery(b *testing.B) {
	for _, text := range []string{"1ms", "exponential:1ms"} {
		b.Run(text, func(b *testing.B) {
			o := options(b, "ricart-agrawala", 32, func(o *Options) { o.Entries = 20_000 })
			over(&o, latency(b, text))
			var deliveries uint64
			for b.Loop() {
				deliveries += judged(b, o).Deliveries
			}
			b.ReportMetric(float64(deliveries)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}

// judged makes a run, and fails the benchmark unless it is valid.
func judged(b testing.TB, o Options) *Result {
	sections := check.Sections(history.Header{}, setting(o))
	checks := check.New(sections, setting(o))
	r, err := Run(o, sections)
	if err != nil {
		b.Fatal(err)
	}
	if v := checks.Verdict(); v.Outcome != check.Valid {
		b.Fatal(v.Reason)
	}
	return r
}
