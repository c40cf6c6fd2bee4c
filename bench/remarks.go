package bench

import (
	"fmt"
	"time"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/detector"
)

// fewHeartbeats is how many heartbeats a second leave a core with time for other things: the 80,640 of 64
// nodes, 50 ms apart, have taken all the time of two cores.
const fewHeartbeats = 20_000

// Remarks says what of valid options is allowed and yet likely to show something else than is expected, of a
// run of processes on so many cores; of a simulated one, cores is 0.
func (o *Options) Remarks(spec *nodes.Spec, cores int) (all []string) {
	remark := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, in := range o.beside() {
		if most := float64(fewHeartbeats * cores); cores > 0 && detector.Rate(in) > most {
			longer := time.Duration(float64(detector.Period(in)) * detector.Rate(in) / most)
			longer = longer.Truncate(10*time.Millisecond) + 10*time.Millisecond
			remark("%d nodes send each other %s heartbeats a second, for which %s may have no time: nodes that are "+
				"up will be suspected; take fewer nodes, simulate, or --detector %s:period=%v,timeout=%v", o.Config.N,
				english.Thousands(detector.Rate(in)), english.Count(cores, "core", "cores"), in.Spec.Name, longer,
				5*longer)
		}
		network := o.network()
		timeout, longest := detector.Patience(in), network.Longest()
		if timeout > 0 && longest >= timeout {
			remark("a message may take %v, and the detector suspects a node after %v of silence: nodes that are up "+
				"will be suspected", longest.Round(time.Microsecond), timeout)
		}
	}
	if spec.Leads != nil && spec.Leads.Answer != nil {
		network := o.network()
		there, wait := 2*network.Longest(), spec.Leads.Answer(o.Config)
		if there >= wait {
			remark("a message and its answer may take %v, and who does not answer within %v is taken for dead: "+
				"several may come to lead, or none", there.Round(time.Microsecond), wait)
		}
	}
	switch n := o.Config.N; {
	case (spec.Safe|spec.Live)&nodes.Majority == 0:
	case n < 3:
		remark("a majority of %d is all: the crash of any stops the rest; it takes 3 nodes to outlast one", n)
	case n%2 == 0:
		remark("a majority of %d is %d, one more than of %d, which outlast as many crashes: %d", n, n/2+1, n-1,
			n/2-1)
	}
	if o.Detector == NoDetector {
		remark("%s listens to a failure detector, and none runs: it takes no notice of crashes", spec.Name)
	}
	return all
}
