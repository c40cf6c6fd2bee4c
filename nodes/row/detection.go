package row

import (
	"time"

	"turnstile/nodes"
)

// A Detection is what a failure detector promises, as long as what its Live names holds and it has suspected
// nobody wrongly.
type Detection struct {
	// Tells is within what time every node that is up suspects one that has crashed, where c.N is the number of
	// all nodes, a message takes so long at most, and so many nodes are down at once at most.
	Tells func(c nodes.Config, message time.Duration, down int) time.Duration
}
