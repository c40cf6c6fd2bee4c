package play

import (
	"context"
	"fmt"
	"maps"

	"turnstile"
	"turnstile/algorithms/catalog"
)

// A simulation says which run is simulated. Options are those of orchestrator simulate, by name.
type simulation struct {
	Algorithm      string
	N              int
	Entries, Seed  uint64
	Latency, Fault string
	Options        map[string]string
}

// simulated simulates a run, and begins a session with its steps, before the first.
func (a *simulation) simulated() (*Session, error) {
	algo, err := catalog.Table{}.Find(a.Algorithm)
	if err != nil {
		return nil, err
	}
	run := turnstile.Run{Algorithm: algo, N: a.N, Entries: a.Entries, Seed: a.Seed,
		Options: map[string]string{}}
	maps.Copy(run.Options, a.Options)
	if a.Latency != "" {
		run.Options["latency"] = a.Latency
	}
	if a.Fault != "" {
		run.Faults = []string{a.Fault}
	}
	schedule, err := turnstile.Schedule(context.Background(), run)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	return Begin(schedule)
}
