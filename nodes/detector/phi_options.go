package detector

import (
	"math"
	"time"

	"turnstile/nodes"
)

// The options of phi, beside the period.
var (
	phiThresholdOption = nodes.Option{Name: "threshold", Default: "8", Check: checkCount(1, len(phiBounds)),
		Usage: "phi from which on a peer is suspected: that it is up then has the probability of 10^-phi"}
	phiWindowOption = nodes.Option{Name: "window", Default: "100", Check: checkCount(1, 1000),
		Usage: "how many of the latest intervals between the heartbeats of a peer count"}
	phiDeviationOption = nodes.Option{Name: "deviation", Default: "50ms",
		Usage: "what the deviation of intervals is taken to be at least, in whole tenths of a period",
		Check: checkDeviation}
)

func checkDeviation(c nodes.Config, value string) error {
	return nodes.CheckTime(value, 0, 100*c.Duration(periodOption), "50ms")
}

func phiOf(c nodes.Config) *phi {
	p := &phi{period: c.Duration(periodOption), window: count(c, phiWindowOption),
		bound: phiBounds[count(c, phiThresholdOption)-1]}
	tick := max(1, p.period/phiTicks)
	p.least = uint64(max(1, (c.Duration(phiDeviationOption)+tick-1)/tick))
	return p
}

// patience returns after how much silence a node is suspected whose heartbeats came once a period, with no
// more than the least deviation.
func (p *phi) patience() time.Duration {
	ticks := phiTicks + math.Sqrt(float64(p.bound)/100)*float64(p.least)
	return time.Duration(math.Ceil(ticks)) * p.period / phiTicks
}
