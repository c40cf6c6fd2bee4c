package check

import (
	"time"

	"turnstile/nodes/history"
)

// promiseMutants are runs that break what the detector or the algorithm promises.
var promiseMutants = []mutant{
	{"the client with more requests comes first", func() *world {
		w := newWorld(2)
		w.Bounded, w.Fewest = true, true
		w.mark(history.Measuring)
		w.turn(0)
		w.ask(1)
		w.ask(0)
		w.enter(0)
		w.exit(0)
		w.enter(1)
		w.exit(1)
		w.end()
		return w
	}, "priority", Violated, Violated, "node 0 made its entry 2, although request 1 of node 1 had priority"},
	{"a crash that nobody suspects", func() *world {
		w := sound(3)
		w.Bounded, w.Tells = true, func(time.Duration, int) time.Duration { return time.Nanosecond }
		w.crash(2)
		w.turn(0)
		w.turn(1)
		return w
	}, "detection", Violated, Violated, "did not suspect node 2"},
}
