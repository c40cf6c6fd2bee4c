package check

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// disconnect takes an event by which a node has lost its connection to the broker. That explains what was
// lost only if a fault that loses messages had begun before.
func (r *records) disconnect(event *history.Event) {
	if r.brokenBy(event.At, nodes.NoLoss) == 0 {
		r.deserted = append(r.deserted, fmt.Sprintf("%s lost its connection to the broker at %v, and no "+
			"fault had taken it away", name(event.Node), time.Duration(event.At).Round(time.Millisecond)))
	}
}
