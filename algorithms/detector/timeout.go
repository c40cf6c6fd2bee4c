package detector

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Parse reads a detector with its options, to run beside an algorithm on n clients: heartbeat, or
// probe:period=50ms,timeout=200ms. The instance has a value for each option, and its String is such a text.
// Timeouts missing from the text suit the delays d. An error says what is wrong and what would be right.
func Parse(text string, n int, d nodes.Delays) (algorithm.Instance, error) {
	return algorithm.ParseInstance("failure detector", Table, text, n, d)
}

// Rate returns how many messages a second all nodes send together while all are up.
func Rate(in algorithm.Instance) float64 {
	if Period(in) == 0 {
		return 0
	}
	return float64(in.Config.N) * load(in.Algorithm, in.Config.N) / Period(in).Seconds()
}

// load returns how many messages a node sends per period on average while all n nodes are up.
func load(algo *algorithm.Algorithm, n int) float64 {
	switch algo {
	case &probeAlgorithm: // each question has an answer
		return 2 * float64(n-1)
	case &swimAlgorithm: // a ping, and an ack to the ping that it receives
		return 2 * float64(min(1, n-1))
	}
	return float64(n - 1)
}

// Period returns the time between two messages to a peer; 0: the detector sends no messages.
func Period(in algorithm.Instance) time.Duration {
	if in.Option(periodOption.Name) == nil {
		return 0
	}
	return in.Config.Duration(periodOption)
}

// Slower names a detector that sends fewer messages than an instance: swim, whose load per node does not grow
// with N, or the same detector with a longer period.
func Slower(in algorithm.Instance, period time.Duration) string {
	text := fmt.Sprintf("%s:period=%v", in.Name, period)
	switch in.Algorithm {
	case &swimAlgorithm:
		return fmt.Sprintf("%s,timeout=%v", text, period*3/10)
	case &phiAlgorithm:
		return "swim or " + text
	}
	return fmt.Sprintf("swim or %s,timeout=%v", text, 5*period)
}

// Within returns how long an instance takes to suspect a crashed node, without the latency of messages and
// before it has extended any timeout. It is 0 if the instance is not a failure detector.
func Within(in algorithm.Instance) time.Duration {
	if in.Detector == nil {
		return 0
	}
	return in.Detector.Tells(in.Config, 0, 1)
}

// The options of detectors that send messages.
var (
	periodOption = nodes.Option{Name: "period", Usage: "time between two messages to a peer", Default: "100ms",
		Check: func(_ nodes.Config, value string) error {
			return algorithm.CheckTime(value, time.Microsecond, time.Hour, "100ms")
		},
		Shows: []nodes.Shown{{Value: "50ms", Than: "100ms", Figure: "messages sent", Least: 1.9, Most: 2.1}}}
	timeoutOption = nodes.Option{Name: "timeout", Default: "500ms", Check: checkTimeout,
		Usage: "silence after which a peer is suspected, rounded up to whole periods",
		Bound: &nodes.TimeoutBound{Formula: "T plus a period",
			Covers: func(c nodes.Config, d nodes.Delays) time.Duration {
				return d.Message + c.Duration(periodOption)
			}},
		Shows: afterSilence}
	// afterSilence says when a crashed node is suspected.
	afterSilence = []nodes.Shown{
		{Value: "500ms", Figure: "last suspicion", Least: 1.45, Most: 1.7, For: 3 * time.Second,
			Faults: []string{"kill: 4, at: 1s"}},
		{Value: "1s", Figure: "last suspicion", Least: 1.95, Most: 2.2, For: 3 * time.Second,
			Faults: []string{"kill: 4, at: 1s"}},
	}
	answerOption = nodes.Option{Name: timeoutOption.Name, Default: timeoutOption.Default, Check: checkTimeout,
		Usage: timeoutOption.Usage, Bound: &nodes.TimeoutBound{Formula: "2T",
			Covers: func(_ nodes.Config, d nodes.Delays) time.Duration { return 2 * d.Message }},
		Shows: afterSilence}
	adaptOption = nodes.Option{Name: "adapt", Default: "0s",
		Usage: "what each wrong suspicion of a peer adds to its timeout, rounded up to whole periods",
		Check: func(_ nodes.Config, value string) error {
			return algorithm.CheckTime(value, 0, time.Hour,
				"100ms")
		},
		Shows: []nodes.Shown{
			{Value: "0s", Figure: "suspicions", Least: 100, Most: 10_000, With: "timeout=200ms", For: 30 * time.Second,
				Faults: []string{"loss: 30%"}},
			{Value: "100ms", Than: "0s", Figure: "suspicions", Least: 0.01, Most: 0.5, With: "timeout=200ms",
				For: 30 * time.Second, Faults: []string{"loss: 30%"}},
		}}
)

// mostPeriods bounds a timeout, so that a simulation ends.
const mostPeriods = 1000

// checkTimeout returns an error unless the timeout is longer than a period, and bounded. A shorter one would
// have every peer suspected again and again.
func checkTimeout(c nodes.Config, value string) error {
	if err := algorithm.CheckTime(value, 0, 1000*time.Hour, "500ms"); err != nil {
		return err
	}
	period := c.Duration(periodOption)
	timeout, _ := time.ParseDuration(value)
	switch {
	case timeout <= period:
		return fmt.Errorf("%v is not longer than the period of %v, so that every peer would be suspected: "+
			"take some periods, such as %v", timeout, period, 5*period)
	case timeout > mostPeriods*period:
		return fmt.Errorf("%v is more than %d periods of %v: take a longer period", timeout, mostPeriods, period)
	}
	return nil
}

// detects returns how long it takes to learn of a crash, or to take back a wrong suspicion, if messages take
// much less than a period.
func detects(c nodes.Config) time.Duration {
	return c.Duration(timeoutOption) + 2*c.Duration(periodOption)
}

// inTime says that nobody is suspected as long as messages take much less than the timeout, and a crashed
// node soon after it.
var inTime = []nodes.Shown{
	{Figure: "suspicions", Least: 0, Most: 0, Latency: "exponential:20ms", For: 10 * time.Second},
	{Figure: "suspicions", Least: 4, Most: 4, For: 3 * time.Second, Faults: []string{"kill: 4, at: 1s"}},
	{Figure: "first suspicion", Least: 1.4, Most: 1.6, For: 3 * time.Second,
		Faults: []string{"kill: 4, at: 1s"}},
	{Figure: "last suspicion", Least: 1.45, Most: 1.7, For: 3 * time.Second,
		Faults: []string{"kill: 4, at: 1s"}},
}

// tells is the field Tells in the algorithm.Detection of heartbeat and probe.
func tells(c nodes.Config, message time.Duration, _ int) time.Duration {
	p := paceOf(c)
	return time.Duration(p.timeout+1)*p.period + message
}

// A pace says how often a detector acts, and how long it waits. It counts time in its own periods: a node
// that stood still has not counted the pause, so the pause makes it suspect nobody.
type pace struct {
	period  time.Duration
	timeout uint32 // in periods
	adapt   uint32 // in periods
}

func paceOf(c nodes.Config) pace {
	p := pace{period: c.Duration(periodOption)}
	periods := func(o nodes.Option) uint32 { return uint32((c.Duration(o) + p.period - 1) / p.period) }
	p.timeout, p.adapt = periods(timeoutOption), periods(adaptOption)
	return p
}

// A peer is what a detector knows of another node.
type peer struct {
	heard uint32 // the period of its latest sign of life
	extra uint32 // what has been added to its timeout, in periods
	life  uint32 // its latest known incarnation
}

// peers are the other nodes, and which of them are suspected.
type peers struct {
	all       []peer // by ID
	suspected nodes.Set
}

// suspect suspects the peers whose silence, in periods, exceeds timeout plus what was added to it.
func (ps *peers) suspect(env *nodes.Env, now, timeout uint32) {
	for id := range ps.all {
		p := &ps.all[id]
		if nodes.ID(id) != env.Self() && now-p.heard > timeout+p.extra && ps.suspected.Add(nodes.ID(id)) {
			env.Suspect(nodes.ID(id))
		}
	}
}

// hear takes a sign of life of a peer, and trusts the peer again if it is suspected. If the incarnation is
// unchanged, the suspicion was wrong, and adapt is added to the timeout.
func (ps *peers) hear(env *nodes.Env, from nodes.ID, life, now, adapt uint32) {
	p := &ps.all[from]
	if life < p.life {
		return // it was sent before the peer crashed
	}
	p.heard = now
	if ps.suspected.Remove(from) {
		if life == p.life {
			p.extra += adapt
		}
		env.Trust(from)
	}
	p.life = life
}
