package detector

import (
	"math"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

var phiRow = row.Row{
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
	// Intervals differ by as much as a message may take, and their deviation is no more.
	Detector: &row.Detection{Tells: func(c nodes.Config, message time.Duration, _ int) time.Duration {
		return phiOf(c).patience() + c.Duration(periodOption) +
			time.Duration((3+deviations(phiBound(c)))*float64(message))
	}},
}

// phi is the detector of N. Hayashibara, X. Defago, R. Yared and T. Katayama, "The phi accrual failure
// detector", SRDS 2004.
//
// Each period a node sends a heartbeat to every other node. Of each node it keeps the intervals between its
// latest heartbeats, a window of them, and takes them for normally distributed. Where nothing was heard for
// a time t, phi is -log₁₀ of the probability that a heartbeat comes later than t after the one before. The
// node is suspected when phi reaches the threshold: if the intervals are what they were, one heartbeat in
// 10^threshold comes later than that. It is trusted again when it is heard of.
//
// A machine has no clock, so time is counted in ticks, phiTicks in a period: an interval is known to within
// one tick. A node that stood still has not counted that time, and so suspects nobody because of it. The
// deviation is taken to be no less than an option, and than a tick: intervals that are all alike would have
// a node suspected for the first late one.
//
// The window begins with one interval of a period. What a heartbeat that was lost makes of an interval counts
// like any other, as in the paper; the window begins anew with a node that has restarted.
type phi struct {
	period time.Duration
	bound  uint64 // on (t-mean)²/variance, in hundredths: see phiBounds
	window int    // intervals that are kept of a node
	least  uint64 // of the deviation, in ticks

	now       uint32 // ticks
	beats     uint32 // heartbeats that were sent
	all       []phiPeer
	suspected nodes.Set
}

// A phiPeer is what a node knows of another one. Intervals are in ticks.
type phiPeer struct {
	life, beat   uint32 // its latest incarnation, and heartbeat, that were heard of
	heard        uint32 // when
	intervals    []uint16
	oldest       int    // the interval that is replaced next, once the window is full
	sum, squares uint64 // of the intervals
}

// phiBeat is the Beat-th heartbeat of its sender in the incarnation Life.
type phiBeat struct{ Life, Beat uint32 }

// phiTicks is how many ticks a period has.
const phiTicks = 10

// phiLongest is the longest interval in ticks that is told apart from longer ones.
const phiLongest = mostPeriods * phiTicks

// phiBounds has for each threshold Φ, from 1, z² in hundredths, where a normal variate lies more than z
// deviations above its mean with probability 10^-Φ.
var phiBounds = [...]uint64{164, 541, 955, 1383, 1819, 2260, 2703, 3149, 3597, 4047, 4497, 4948, 5400, 5853,
	6307, 6760}

// Start sends the first heartbeat at once, since all peers are waited for from now on. The periods of
// different nodes begin at different times, so that not all heartbeats come together.
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
	case peer.beat > 1: // the second heartbeat comes within a period of the first
		peer.add(uint64(p.now-peer.heard), p.window)
	}
	peer.beat, peer.heard = m.Beat, p.now
	if p.suspected.Remove(from) {
		env.Trust(from)
	}
}

// add puts an interval into the window, in the place of the oldest one if that is full.
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
// variance. In whole numbers, with n intervals, both sides are taken n² times.
func (p *phi) late(peer *phiPeer) bool {
	n := uint64(len(peer.intervals))
	t := n * uint64(min(p.now-peer.heard, phiLongest))
	switch {
	case t <= peer.sum:
		return false
	case t == n*phiLongest:
		return true // whatever the intervals were
	}
	variance := max(n*peer.squares-peer.sum*peer.sum, n*n*p.least*p.least)
	return 100*(t-peer.sum)*(t-peer.sum) >= p.bound*variance
}

// The options of phi, beside the period.
var (
	phiThresholdOption = nodes.Option{Name: "threshold", Default: "8", Check: checkCount(1, len(phiBounds)),
		Usage: "phi from which on a peer is suspected: that it is up then has the probability of 10^-phi"}
	phiWindowOption = nodes.Option{Name: "window", Default: "100", Check: checkCount(1, 1000),
		Usage: "how many of the latest intervals between the heartbeats of a peer count"}
	phiDeviationOption = nodes.Option{Name: "deviation", Default: "50ms",
		Usage: "what the deviation of intervals is taken to be at least, in whole tenths of a period",
		Check: checkDeviation, Bound: &nodes.TimeoutBound{Formula: "T/z, z deviations having the threshold",
			Covers: func(c nodes.Config, d nodes.Delays) time.Duration {
				return time.Duration(float64(d.Message) / deviations(phiBound(c)))
			}}}
)

func checkDeviation(c nodes.Config, value string) error {
	return row.CheckTime(value, 0, 100*c.Duration(periodOption), "50ms")
}

func phiOf(c nodes.Config) *phi {
	p := &phi{period: c.Duration(periodOption), window: count(c, phiWindowOption),
		bound: phiBound(c)}
	tick := max(1, p.period/phiTicks)
	p.least = uint64(max(1, (c.Duration(phiDeviationOption)+tick-1)/tick))
	return p
}

// deviations returns by how many deviations an interval is longer than their mean when phi reaches the
// threshold. As long as no other interval is known, a message may take no more than that: the first heartbeat
// comes as late as it is slow, and the second a period later, or that much more.
func deviations(bound uint64) float64 { return math.Sqrt(float64(bound) / 100) }

// phiBound returns the bound of phiBounds for the threshold.
func phiBound(c nodes.Config) uint64 { return phiBounds[count(c, phiThresholdOption)-1] }

// patience returns after how much silence a node is suspected whose heartbeats came once a period, with no
// more than the least deviation.
func (p *phi) patience() time.Duration {
	ticks := phiTicks + deviations(p.bound)*float64(p.least)
	return time.Duration(math.Ceil(ticks)) * p.period / phiTicks
}
