package election

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A status is the STATUS of a node in Garcia-Molina's algorithms. A node works with a leader only while it
// is NORMAL: it reports the leader then, and no leader as soon as it leaves NORMAL.
type status uint8

// The statuses.
const (
	statusDown           status = iota // it has been in no election since it came up
	statusElection                     // some node stands for election, and this one takes part
	statusReorganization               // the coordinator is known here, but not yet to all
	statusNormal
)

func (s status) String() string {
	return [...]string{"DOWN", "ELECTION", "REORGANIZATION", "NORMAL"}[s]
}

// pollOption is the time between two polls by a coordinator.
var pollOption = nodes.Option{Name: "poll", Default: "100ms",
	Usage: "how long a coordinator waits from one poll of the others to the next",
	Check: func(_ nodes.Config, value string) error {
		return algorithm.CheckTime(value, time.Millisecond, time.Minute, "100ms")
	},
	Shows: []nodes.Shown{{Value: "400ms", Than: "100ms", Figure: "messages sent", Least: 0.2, Most: 0.7,
		For: 5 * time.Second}}}
