package chaos_test

import (
	"fmt"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// The fate of a packet is how late each of its copies arrives: an empty one loses it.
func Example() {
	network := chaos.Network{Latency: chance.Constant(time.Millisecond), Loss: 0.25, Duplication: 0.25}
	shaper := network.Shaper(chance.Dice(1)) // the seed
	for number := range uint64(6) {
		fate := shaper.Shape(&nodes.Packet{From: 0, To: 1, Number: number + 1}, nil)
		fmt.Println("packet", number+1, fate)
	}

	// Output:
	// packet 1 []
	// packet 2 []
	// packet 3 [1ms]
	// packet 4 [1ms]
	// packet 5 [1ms]
	// packet 6 [1ms 1ms]
}
