package main

import (
	"slices"
	"testing"

	"turnstile/bench/service/local"
	"turnstile/bench/service/natskv"
	"turnstile/services/servicetest"
)

// all are the services of this program and of the testbed itself.
var all = append(slices.Concat(table, local.Services), &natskv.Service)

func TestMain(m *testing.M) { servicetest.Main(m, all...) }

// BenchmarkDirect acquires and releases each lock with one client in this process. bench --service NAME -n 1
// gives fewer entries per second, by the cost of a node, its pipe and its records: see docs/services.md.
func BenchmarkDirect(b *testing.B) {
	for _, s := range all {
		if s.Open == nil { // it elects
			continue
		}
		b.Run(s.Name, func(b *testing.B) {
			r := servicetest.Start(b, s)
			l, err := s.Open(b.Context(), servicetest.Setting("direct", r.Addresses...), servicetest.Values(b, s))
			if err != nil {
				b.Fatal(err)
			}
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
		})
	}
}
