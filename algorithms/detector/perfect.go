package detector

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// delayOption is the time from a crash or a restart until all other nodes are told of it.
var delayOption = nodes.Option{Name: "delay", Default: "10ms",
	Usage: "how long after a crash or a restart all others are told",
	Shows: []nodes.Shown{{Value: "100ms", Figure: "last suspicion", Least: 0.6, Most: 0.6,
		Faults: []string{"kill: 4, at: 500ms"}}, {Value: "10ms", Figure: "last suspicion", Least: 0.51, Most: 0.51,
		Faults: []string{"kill: 4, at: 500ms"}}},
	Check: func(_ nodes.Config, value string) error { return algorithm.CheckTime(value, 0, time.Hour, "10ms") }}

var perfectAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "perfect", Kind: nodes.Detection,
		New:     func(nodes.Config) nodes.Machine { return &perfect{} },
		Options: []nodes.Option{delayOption},
		Grace:   func(c nodes.Config) time.Duration { return c.Duration(delayOption) },
		Told:    func(c nodes.Config) time.Duration { return c.Duration(delayOption) },
	},
	Aliases: []string{"oracle"}, Family: "oracle",
	Source: "Chandra and Toueg, Unreliable failure detectors for reliable distributed systems, JACM " +
		"43(2), 1996: class P",
	Summary: "The simulator tells every node of each crash and restart, and of nothing else.",
	Detector: &algorithm.Detection{Shows: []nodes.Shown{
		{Figure: "suspicions", Least: 0, Most: 0, Latency: "exponential:200ms",
			Faults: []string{"pause: 1, for: 500ms"}},
		{Figure: "last suspicion", Least: 0.51, Most: 0.51, Faults: []string{"kill: 4, at: 500ms"}},
	}, Tells: func(c nodes.Config, _ time.Duration, _ int) time.Duration {
		return c.Duration(delayOption) + time.Nanosecond // 1 ns after the delay all nodes have been told
	}},
}

// perfect is the detector of class P: every crashed node is suspected by all, and no other is. No machine
// can find that out in an asynchronous system, so this one does nothing. The simulator, which knows, tells
// the nodes in its place.
type perfect struct{}

func (p *perfect) Receive(_ *nodes.Env, _ nodes.ID, m nodes.Message) { nodes.Unexpected(p, m) }
