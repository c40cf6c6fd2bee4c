package detector

import (
	"math"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var phiAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "phi", Kind: nodes.Detection,
		New:      func(c nodes.Config) nodes.Machine { return phiOf(c) },
		Timers:   []nodes.TimerName{{Kind: tick.Kind, Name: "tick"}},
		Messages: []nodes.MessageKind{{Zero: phiBeat{}, Heartbeat: true, Broadcast: true}},
		Options:  []nodes.Option{periodOption, phiThresholdOption, phiWindowOption, phiDeviationOption},
		Grace:    func(c nodes.Config) time.Duration { return phiOf(c).patience() + 2*c.Duration(periodOption) },
		Live:     nodes.NoLoss | nodes.NoPause | nodes.Timing,
	},
	Aliases: []string{"phi-accrual", "accrual"}, Family: "push",
	Source:  "Hayashibara, Defago, Yared and Katayama, The phi accrual failure detector, SRDS 2004",
	Summary: "Every node sends all others heartbeats, and suspects by the distribution of their intervals.",
	// An interval differs from a period by at most the latency of a message, so the deviation is at most that
	// latency.
	Detector: &algorithm.Detection{Tells: func(c nodes.Config, message time.Duration, _ int) time.Duration {
		return phiOf(c).patience() + c.Duration(periodOption) +
			time.Duration((3+deviations(phiBound(c)))*float64(message))
	}, Shows: []nodes.Shown{
		{Figure: "suspicions", Least: 0, Most: 0, Latency: "exponential:20ms", For: 10 * time.Second},
		{Figure: "suspicions", Least: 4, Most: 4, For: 3 * time.Second, Faults: []string{"kill: 4, at: 1s"}},
		{Figure: "last suspicion", Least: 1.3, Most: 1.36, For: 3 * time.Second,
			Faults: []string{"kill: 4, at: 1s"}},
	}},
}

// phi is the detector of N. Hayashibara, X. Defago, R. Yared and T. Katayama, "The phi accrual failure
// detector", SRDS 2004.
//
// Each period a node sends a heartbeat to every other node. For each node it keeps a window of the latest
// intervals between its heartbeats, and takes them for normally distributed. After a silence of t, phi is
// -log₁₀ of the probability that a heartbeat comes later than t after the one before. The node is suspected
// when phi reaches the threshold: if the distribution holds, one heartbeat in 10^threshold is that late. The
// next heartbeat makes it trusted again.
//
// A machine has no clock, so time is counted in ticks, phiTicks a period: an interval is known to within one
// tick. A node that stood still has not counted the pause, so the pause makes it suspect nobody. The
// deviation is at least the option's value, and at least a tick: with equal intervals, the first late
// heartbeat would cause a suspicion.
//
// The window begins with one interval of a period, and begins anew when the node restarts. The longer
// interval after a lost heartbeat counts like any other, as in the paper.
type phi struct {
	period time.Duration
	bound  uint64 // the bound on (t-mean)²/variance, in hundredths: see phiBounds
	window int    // how many intervals are kept per peer
	least  uint64 // the lower bound of the deviation, in ticks

	now       uint32 // the ticks so far
	beats     uint32 // heartbeats sent
	all       []phiPeer
	suspected nodes.Set
}

// A phiPeer is what a node knows of another one. Intervals are in ticks.
type phiPeer struct {
	life, beat   uint32 // its latest known incarnation, and the latest heartbeat in it
	heard        uint32 // when that heartbeat came
	intervals    []uint16
	oldest       int    // the interval that is replaced next, once the window is full
	sum, squares uint64 // the sum of the intervals in the window, and of their squares
}

// phiBeat is the Beat-th heartbeat of its sender in the incarnation Life.
type phiBeat struct{ Life, Beat uint32 }

// phiTicks is the number of ticks in a period.
const phiTicks = 10

// phiLongest caps intervals, in ticks.
const phiLongest = mostPeriods * phiTicks

// phiBounds[Φ-1] is z² in hundredths for the threshold Φ: a normal variate lies more than z deviations above
// its mean with probability 10^-Φ.
var phiBounds = [...]uint64{164, 541, 955, 1383, 1819, 2260, 2703, 3149, 3597, 4047, 4497, 4948, 5400, 5853,
	6307, 6760}

// Start sends the first heartbeat at once, since peers count the silence of this node from their own start.
// The periods of different nodes begin at random times, so that heartbeats do not come all together.
func (p *phi) Start(env *nodes.Env) {
	p.all = make([]phiPeer, env.Total())
	for id := range p.all {
		p.all[id].add(phiTicks, p.window)
	}
	p.beat(env)
	env.SetTimer(tick, 0, p.period)
}

func (p *phi) Timeout(env *nodes.Env, _ nodes.Timer) {
	if p.now%phiTicks == 0 {
		p.beat(env)
	}
	p.now++
	env.SetTimer(tick, p.period/phiTicks, p.period/phiTicks)
	for id := range p.all {
		id := nodes.ID(id)
		if id != env.Self() && !p.suspected.Has(id) && p.late(&p.all[id]) {
			p.suspected.Add(id)
			env.Suspect(id)
		}
	}
}

func (p *phi) beat(env *nodes.Env) {
	p.beats++
	toAll(env, phiBeat{env.Incarnation(), p.beats})
}

func (p *phi) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case phiBeat:
		p.hear(env, from, m)
	default:
		nodes.Unexpected(p, m)
	}
}

// hear takes a heartbeat, unless it is a copy or was overtaken.
func (p *phi) hear(env *nodes.Env, from nodes.ID, m phiBeat) {
	peer := &p.all[from]
	switch {
	case m.Life < peer.life, m.Life == peer.life && m.Beat <= peer.beat:
		return
	case m.Life > peer.life:
		*peer = phiPeer{life: m.Life}
		peer.add(phiTicks, p.window)
	case peer.beat > 1: // the first interval does not count: it is shorter than a period
		peer.add(uint64(p.now-peer.heard), p.window)
	}
	peer.beat, peer.heard = m.Beat, p.now
	if p.suspected.Remove(from) {
		env.Trust(from)
	}
}

// add puts an interval into the window. In a full window it replaces the oldest one.
func (p *phiPeer) add(interval uint64, window int) {
	interval = min(interval, phiLongest)
	if len(p.intervals) < window {
		p.intervals = append(p.intervals, uint16(interval))
	} else {
		old := uint64(p.intervals[p.oldest])
		p.sum, p.squares = p.sum-old, p.squares-old*old
		p.intervals[p.oldest] = uint16(interval)
		p.oldest = (p.oldest + 1) % window
	}
	p.sum, p.squares = p.sum+interval, p.squares+interval*interval
}

// late reports whether phi has reached the threshold for a peer: whether (t-mean)² is at least z² times the
// variance. To stay with whole numbers, both sides are multiplied by n², for n intervals.
func (p *phi) late(peer *phiPeer) bool {
	n := uint64(len(peer.intervals))
	t := n * uint64(min(p.now-peer.heard, phiLongest))
	switch {
	case t <= peer.sum:
		return false
	case t == n*phiLongest:
		return true // a peer that is silent for phiLongest is late, whatever the intervals
	}
	variance := max(n*peer.squares-peer.sum*peer.sum, n*n*p.least*p.least)
	return 100*(t-peer.sum)*(t-peer.sum) >= p.bound*variance
}

// The options of phi, beside the period.
var (
	phiThresholdOption = nodes.Option{Name: "threshold", Default: "8", Check: checkCount(1, len(phiBounds)),
		Usage: "value of phi at which a peer is suspected; the peer is then up with probability 10^-phi",
		Shows: []nodes.Shown{
			{Value: "4", Than: "8", Figure: "suspicions", Least: 2, Most: 10, For: 30 * time.Second,
				Faults: []string{"loss: 20%"}},
			{Value: "12", Figure: "last suspicion", Least: 1.3, Most: 1.5, For: 3 * time.Second,
				Faults: []string{"kill: 4, at: 1s"}},
			{Value: "2", Figure: "last suspicion", Least: 1.1, Most: 1.25, For: 3 * time.Second,
				Faults: []string{"kill: 4, at: 1s"}},
		}}
	phiWindowOption = nodes.Option{Name: "window", Default: "100", Check: checkCount(1, 1000),
		Usage: "how many of the latest intervals between the heartbeats of a peer count",
		Shows: []nodes.Shown{{Value: "2", Than: "100", Figure: "suspicions", Least: 1.2, Most: 10,
			For: 30 * time.Second, Faults: []string{"loss: 20%"}}}}
	phiDeviationOption = nodes.Option{Name: "deviation", Default: "50ms",
		Usage: "least standard deviation of intervals that is assumed, rounded up to tenths of a period",
		Shows: []nodes.Shown{{Value: "200ms", Than: "50ms", Figure: "suspicions", Least: 0, Most: 0.5,
			For: 30 * time.Second, Faults: []string{"loss: 20%"}}},
		Check: checkDeviation, Bound: &nodes.TimeoutBound{
			Formula: "T/z, where phi reaches the threshold z deviations above the mean",
			Covers: func(c nodes.Config, d nodes.Delays) time.Duration {
				return time.Duration(float64(d.Message) / deviations(phiBound(c)))
			}}}
)

func checkDeviation(c nodes.Config, value string) error {
	return algorithm.CheckTime(value, 0, 100*c.Duration(periodOption), "50ms")
}

func phiOf(c nodes.Config) *phi {
	p := &phi{period: c.Duration(periodOption), window: count(c, phiWindowOption),
		bound: phiBound(c)}
	tick := max(1, p.period/phiTicks)
	p.least = uint64(max(1, (c.Duration(phiDeviationOption)+tick-1)/tick))
	return p
}

// deviations returns z: an interval is z deviations longer than the mean when phi reaches the threshold.
// While the window holds only its initial interval, nobody suspects a live node if messages take at most z
// deviations: the second heartbeat comes at most a period and the latency of its message after the first.
func deviations(bound uint64) float64 { return math.Sqrt(float64(bound) / 100) }

// phiBound returns the bound of phiBounds for the threshold.
func phiBound(c nodes.Config) uint64 { return phiBounds[count(c, phiThresholdOption)-1] }

// patience returns the silence after which a node is suspected if its heartbeats came once a period, with at
// most the least deviation.
func (p *phi) patience() time.Duration {
	ticks := phiTicks + deviations(p.bound)*float64(p.least)
	return time.Duration(math.Ceil(ticks)) * p.period / phiTicks
}
