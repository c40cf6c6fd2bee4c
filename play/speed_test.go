package play

import (
	"context"
	"testing"

	"turnstile"
	"turnstile/algorithms/catalog"
	"turnstile/nodes/replay"
)

// long returns a run of about 100,000 messages as a schedule.
func long(b *testing.B) *replay.Schedule {
	b.Helper()
	algo, err := catalog.Table{}.Find("ricart")
	if err != nil {
		b.Fatal(err)
	}
	run := turnstile.Run{Algorithm: algo, N: 16, Entries: 3400,
		Options: map[string]string{"latency": "exponential:1ms"}}
	schedule, err := turnstile.Schedule(context.Background(), run)
	if err != nil {
		b.Fatal(err)
	}
	return schedule
}

// BenchmarkOpen opens a schedule of 100,000 messages.
func BenchmarkOpen(b *testing.B) {
	text := long(b).String()
	for b.Loop() {
		if _, err := Open(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBack goes one step back in the middle of 100,000 messages, and says how the cluster stands there.
func BenchmarkBack(b *testing.B) {
	s, err := Open(long(b).String())
	if err != nil {
		b.Fatal(err)
	}
	to := s.at / 2
	for b.Loop() {
		to--
		if err := s.Back(to); err != nil {
			b.Fatal(err)
		}
		s.State()
	}
}
