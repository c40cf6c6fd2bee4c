package check

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// disconnect takes an event by which a node has lost its connection to the broker. That explains what was
// lost only if a fault that loses messages had begun before.
func (e *Fold) disconnect(event *history.Event) {
	if e.brokenBy(event.At, nodes.NoLoss) == 0 {
		e.deserted = append(e.deserted, fmt.Sprintf("%s lost its connection to the broker at %v, and no "+
			"fault had taken it away", name(event.Node), time.Duration(event.At).Round(time.Millisecond)))
	}
}
