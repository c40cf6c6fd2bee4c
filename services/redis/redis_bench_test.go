package redis

import (
	"testing"

	"turnstile/services/servicetest"
)

// The speed of one client by itself. Compare it with the entries per second of bench --service redis -n 1
// --hold 0: the ratio is the price of the pipe.
func BenchmarkDirect(b *testing.B) {
	r := servicetest.Start(b, &Service)
	l := open(servicetest.Setting("direct", r.Addresses...), servicetest.Values(b, &Service))
	defer l.Close()
	for b.Loop() {
		if _, err := l.Acquire(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := l.Release(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
