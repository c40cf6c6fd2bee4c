package play

import (
	"context"
	"fmt"
	"maps"

	"turnstile"
	"turnstile/algorithms/catalog"
)

// callSimulate simulates a run, and begins a session with its steps, before the first.
func callSimulate(r request) (any, error) {
	algo, err := catalog.Table{}.Find(r.Algorithm)
	if err != nil {
		return nil, err
	}
	run := turnstile.Run{Algorithm: algo, N: r.N, Entries: r.Entries, Seed: r.Seed,
		Options: maps.Clone(r.Options)}
	if run.Options == nil {
		run.Options = map[string]string{}
	}
	if r.Latency != "" {
		run.Options["latency"] = r.Latency
	}
	if r.Fault != "" {
		run.Faults = []string{r.Fault}
	}
	schedule, err := turnstile.Schedule(context.Background(), run)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	s, err := Begin(schedule)
	if err != nil {
		return nil, err
	}
	sessions[r.Session] = s
	return s.State(), nil
}
