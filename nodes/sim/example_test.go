package sim_test

import (
	"fmt"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// Ricart and Agrawala's algorithm takes 2(N-1) messages an entry.
func Example() {
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		panic(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: spec, Config: nodes.Config{N: 9}})
	if err != nil {
		panic(err)
	}
	const entries = 100
	r, err := sim.Run(sim.Options{
		Stack:   stack,
		Seed:    1,
		Entries: entries,
		Latency: time.Millisecond,
		Workload: workload.Workload{
			Load: workload.Saturated,
			Hold: chance.Constant(100 * time.Microsecond),
		},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d messages, %d per entry\n", r.Deliveries, r.Deliveries/entries)

	// Output:
	// 1600 messages, 16 per entry
}
