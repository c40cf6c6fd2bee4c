package effect

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Draw holds random values for a fault of a random plan. They are drawn before the kind of the fault.
type Draw struct {
	Who    Target
	Broker nodes.ID
	Later  time.Duration   // a delay that is short compared to the run
	For    time.Duration   // how long the fault lasts
	Below  func(n int) int // draws a number from 0 to n-1
}

// Randoms draw the faults of clocks, connections and brokers for random plans, which have at most one of
// them. Changing their order changes the plans of all seeds.
var Randoms = []func(d *Draw) Effect{
	randomClock,
	func(d *Draw) Effect { return &Lag{Who: d.Who, By: min(d.Later, time.Second)} },
	func(d *Draw) Effect { return &Throttle{Who: d.Who, To: Bytes(2000 << d.Below(6))} },
	func(d *Draw) Effect { return &Stall{Who: d.Who} },
	func(d *Draw) Effect { return &Reset{Who: d.Who} },
	func(d *Draw) Effect { return &Kill{Who: d.broker()} },
	func(d *Draw) Effect { return &Pause{Who: d.broker()} },
	randomRoutes,
}

// broker returns the broker as a target.
func (d *Draw) broker() Target { return Target{Role: port.Broker, List: nodes.Group{d.Broker}} }

// randomRoutes cuts the routes of one of three brokers.
func randomRoutes(d *Draw) Effect {
	others := Target{Role: port.Broker}
	for id := range nodes.ID(3) {
		if id != d.Broker {
			others.List = append(others.List, id)
		}
	}
	return &Partition{Cut: Cut{members: []Target{d.broker(), others}}}
}
