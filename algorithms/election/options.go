package election

import (
	"fmt"
	"strings"
	"time"

	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// The options of algorithms that have heartbeats of their own.
var (
	heartbeatOption = nodes.Option{Name: "heartbeat", Default: "50ms",
		Usage: "time between two heartbeats of a leader, or of each node that sends them",
		Check: func(_ nodes.Config, value string) error {
			return row.CheckTime(value, time.Millisecond, time.Minute, "50ms")
		}}
	electionTimeoutOption = nodes.Option{Name: "election-timeout", Default: "150ms-300ms",
		Check: checkElectionTimeout,
		Usage: "silence of the leader after which a node stands for election: from the shortest to the longest, " +
			"drawn anew each time",
		Bound: &nodes.TimeoutBound{Formula: "2T and wider than 10T",
			Covers: func(_ nodes.Config, d nodes.Delays) time.Duration { return d.Message },
			Of:     covered, For: rangeFor}}
	preVoteOption = nodes.Option{Name: "pre-vote", Values: []string{"off", "on"}, Default: "off",
		Usage: "a node begins a term only if a majority would vote for it"}
	checkQuorumOption = nodes.Option{Name: "check-quorum", Values: []string{"on", "off"}, Default: "on",
		Usage: "a leader that reaches no majority steps down"}
)

// timeRange reads a range of times, such as 150ms-300ms.
func timeRange(value string) (shortest, longest time.Duration, err error) {
	from, to, two := strings.Cut(value, "-")
	if two {
		if shortest, err = time.ParseDuration(strings.TrimSpace(from)); err == nil {
			longest, err = time.ParseDuration(strings.TrimSpace(to))
		}
	}
	for _, end := range []string{from, to} {
		if unit := suggest.Unit(end, "ms"); two && unit != nil {
			return 0, 0, fmt.Errorf("%q: %w", value, unit)
		}
	}
	if !two || err != nil {
		return 0, 0, fmt.Errorf("%q is not a range of times: write the shortest and the longest, as in 150ms-300ms",
			value)
	}
	return shortest, longest, nil
}

// covered returns how long messages may take with a range of election timeouts, so that votes come before the
// candidate asks again, and split no more often than raftGrace allows for.
func covered(value string) time.Duration {
	shortest, longest, _ := timeRange(value)
	return min(shortest/2, (longest-shortest)/10)
}

// rangeFor returns a range of election timeouts that suits messages which take up to longest. Its end is
// twice its start.
func rangeFor(longest time.Duration) string { return fmt.Sprintf("%v-%v", 10*longest, 20*longest) }

// checkElectionTimeout returns an error unless the range suits the heartbeat, and is bounded.
func checkElectionTimeout(c nodes.Config, value string) error {
	shortest, longest, err := timeRange(value)
	if err != nil {
		return err
	}
	heartbeat := c.Duration(heartbeatOption)
	switch {
	case longest < shortest:
		return fmt.Errorf("%s is the wrong way round: write %v-%v", value, longest, shortest)
	case longest == shortest:
		return fmt.Errorf("%s leaves nothing to chance: nodes that once time out together would do so again and "+
			"again, and none would win; take a range, such as %v-%v", value, shortest, 2*shortest)
	case shortest <= heartbeat:
		return fmt.Errorf("%v is not longer than the heartbeat of %v, so leaders that are up would be deposed: "+
			"take some heartbeats, such as %v-%v", shortest, heartbeat, 3*heartbeat, 6*heartbeat)
	case shortest > mostBeats*heartbeat || longest > mostSpread*shortest:
		return fmt.Errorf("%s is too long: the shortest may be up to %d heartbeats of %v, and the longest up to "+
			"%d times the shortest", value, mostBeats, heartbeat, mostSpread)
	}
	return nil
}

// Bounds of timeouts, so that a simulation ends.
const (
	mostBeats  = 1000
	mostSpread = 1000
)
