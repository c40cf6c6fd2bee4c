package chaos_test

import (
	"fmt"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// The fate of a packet is how late each of its copies arrives. An empty fate means that the packet is lost.
func Example() {
	network := chaos.Network{Latency: chance.Constant(time.Millisecond)}
	scene := &chaos.Scene{Spec: algo, Config: nodes.Config{N: 2}, Measured: time.Second}
	plan := []chaos.Fault{{Effect: &effect.Loss{Of: effect.Losses{Rate: 0.25}}},
		{Effect: &effect.Duplicate{Of: 0.25}}}
	const seed = 1
	faults, err := chaos.Resolve(plan, scene, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range faults {
		fmt.Println(&f)
	}
	simulation, err := network.Simulated(faults, scene, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	simulation.FaultDriver.Begin(idle{}, 0) // a host does that
	for number := range uint64(6) {
		packet := nodes.Packet{From: 0, To: 1, Number: number + 1, At: 1}
		fmt.Println("packet", number+1, simulation.Shaper.Shape(&packet, nil))
	}

	// Output:
	// loss 25% at 0s
	// duplicate 25% at 0s
	// packet 1 [1ms]
	// packet 2 [1ms]
	// packet 3 [1ms 1ms]
	// packet 4 [1ms 1ms]
	// packet 5 [1ms 1ms]
	// packet 6 [1ms]
}

// algo is an algorithm.
var algo, _ = mutex.Find("ricart-agrawala")

// idle is a cluster to which nothing happens.
type idle struct{ port.Cluster }

func (idle) Now() int64 { return 0 }
