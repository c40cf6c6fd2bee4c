package explore

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Usual returns the explorations that an algorithm should withstand in a small cluster: one without faults,
// and one with a fault of each kind. If the algorithm has timers, there are two more, with a crash and with
// one and two timeouts: these reach orders that the others would reach only after millions of states.
func Usual(algo *algorithm.Algorithm, c nodes.Config) []Space {
	calm := Space{Spec: algo, Config: c, Entries: 2}
	if c.N > 2 {
		calm.Entries = 1
	}
	calm.Campaigns = map[nodes.Kind]int{nodes.Election: c.N}[algo.Kind] // a lock has none
	crash := calm
	crash.Crashes, crash.Restarts = 1, true
	mixed := crash
	mixed.Losses, mixed.Duplicates = 1, 1
	all := []Space{calm, mixed}
	for timeouts := 1; len(algo.Timers) > 0 && timeouts <= 2; timeouts++ {
		crash.Timeouts, crash.Entries, crash.Campaigns = timeouts, 1, min(calm.Campaigns, 1)
		all = append(all, crash)
	}
	return all
}
