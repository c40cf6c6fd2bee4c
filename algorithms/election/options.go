package election

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The options of algorithms that have heartbeats of their own.
var (
	heartbeatOption = nodes.Option{Name: "heartbeat", Default: "50ms",
		Usage: "time between two heartbeats of a leader, or of each node that sends them",
		Check: func(_ nodes.Config, value string) error {
			return algorithm.CheckTime(value, time.Millisecond, time.Minute, "50ms")
		},
		Shows: []nodes.Shown{{Value: "25ms", Than: "50ms", Figure: "messages sent", Least: 1.6, Most: 2.2,
			For: 3 * time.Second}}}
	electionTimeoutOption = nodes.Option{Name: "election-timeout", Default: "150ms-300ms",
		Check: checkElectionTimeout,
		Usage: "silence of the leader after which a node stands for election: from the shortest to the longest, " +
			"drawn anew each time",
		Bound: &nodes.TimeoutBound{Formula: "2T and wider than 10T",
			Covers: func(_ nodes.Config, d nodes.Delays) time.Duration { return d.Message },
			Of:     covered, For: rangeFor},
		Shows: []nodes.Shown{{Value: "600ms-1200ms", Than: "150ms-300ms", Figure: "leaderless", Least: 2.5, Most: 6,
			For: 5 * time.Second, Faults: []string{"kill: leader, at: 1s"}}}}
	preVoteOption = nodes.Option{Name: "pre-vote", Values: []string{"off", "on"}, Default: "off",
		Usage: "a node begins a term only if a majority would vote for it",
		Shows: []nodes.Shown{
			{Value: "off", Figure: "given up", Least: 1, Most: 20, Load: "lowest", For: 8 * time.Second,
				Faults: returns},
			{Value: "on", Figure: "given up", Least: 0, Most: 0, Load: "lowest", For: 8 * time.Second,
				Faults: returns},
		}}
	checkQuorumOption = nodes.Option{Name: "check-quorum", Values: []string{"on", "off"}, Default: "on",
		Usage: "a leader that reaches no majority steps down",
		Shows: []nodes.Shown{
			{Value: "on", Figure: "two leaders", Least: 0, Most: 0.3, Load: "lowest", For: 4 * time.Second,
				Faults: []string{"cut: 0-1/2-4, at: 1s, for: 2s"}},
			{Value: "off", Figure: "two leaders", Least: 1, Most: 2, Load: "lowest", For: 4 * time.Second,
				Faults: []string{"cut: 0-1/2-4, at: 1s, for: 2s"}},
		}}
)

// returns has a node return that was cut off, and asked for votes meanwhile.
var returns = []string{"cut: 0-3/4, at: 2s, for: 3s", "cut: 0>4, at: 5s, for: 1s"}

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

// shownWith returns options whose values are told apart with a value of another option.
func shownWith(with string, options ...nodes.Option) (all []nodes.Option) {
	for _, o := range options {
		o.Shows = slices.Clone(o.Shows)
		for i := range o.Shows {
			o.Shows[i].With = with
		}
		all = append(all, o)
	}
	return all
}
