package sim

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
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

// BenchmarkScale makes and judges a million entries of Naimi-Trehel on ever more nodes: ten ask at a time. To
// compare, it makes the same runs for nobody.
func BenchmarkScale(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		o := options(b, "naimi-trehel", n, func(o *Options) {
			o.Entries = 1_000_000
			o.Workload = workload.Workload{Load: workload.Closed, Hold: chance.Constant(10 * time.Microsecond)}
			o.Latency = 100 * time.Microsecond
			o.Workload.Think.Set(fmt.Sprintf("exponential:%v", time.Duration(n)*50*time.Microsecond))
		})
		scale := func(b *testing.B, run func(testing.TB, Options) *Result) {
			var deliveries uint64
			for b.Loop() {
				deliveries += run(b, o).Deliveries
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(deliveries), "ns/delivery")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MB")
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) { scale(b, judged) })
		b.Run(fmt.Sprintf("%d, not recorded", n), func(b *testing.B) {
			scale(b, func(b testing.TB, o Options) *Result {
				r, err := Run(o)
				if err != nil {
					b.Fatal(err)
				}
				return r
			})
		})
	}
}
