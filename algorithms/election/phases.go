package election

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// A status is how far a node of an algorithm of Garcia-Molina is: his STATUS. A node works with a leader only
// while it is NORMAL, so it tells of a leader then, and of none as soon as it is so no more.
type status uint8

// The statuses.
const (
	statusDown           status = iota // it has been in no election since it came up
	statusElection                     // some node stands for election, and this one heeds it
	statusReorganization               // who coordinates is known, and not all of them know it yet
	statusNormal
)

func (s status) String() string {
	return [...]string{"DOWN", "ELECTION", "REORGANIZATION", "NORMAL"}[s]
}

// pollOption is how often a coordinator asks how the others are.
var pollOption = nodes.Option{Name: "poll", Default: "100ms",
	Usage: "how long a coordinator waits from one poll of the others to the next",
	Check: func(_ nodes.Config, value string) error {
		return row.CheckTime(value, time.Millisecond, time.Minute, "100ms")
	}}
