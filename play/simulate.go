package play

import (
	"context"
	"fmt"
	"maps"

	"turnstile"
	"turnstile/algorithms/catalog"
)

// simulateArgs says which run is simulated. Options are those of orchestrator simulate, by name.
type simulateArgs struct {
	place
	Algorithm string            `json:"algorithm"`
	N         int               `json:"n"`
	Entries   uint64            `json:"entries"`
	Seed      uint64            `json:"seed"`
	Latency   string            `json:"latency"`
	Fault     string            `json:"fault"`
	Options   map[string]string `json:"options"`
}

// simulated simulates a run, and begins a session with its steps, before the first.
func simulated(a simulateArgs) (any, error) {
	algo, err := catalog.Table{}.Find(a.Algorithm)
	if err != nil {
		return nil, err
	}
	run := turnstile.Run{Algorithm: algo, N: a.N, Entries: a.Entries, Seed: a.Seed,
		Options: maps.Clone(a.Options)}
	if run.Options == nil {
		run.Options = map[string]string{}
	}
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
	s, err := Begin(schedule)
	if err != nil {
		return nil, err
	}
	return a.stand(s), nil
}
