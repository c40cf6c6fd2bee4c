package detector

import (
	"math"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

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
