package bench

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/detector"
)

// Remarks says what of valid options is allowed and yet likely to show something else than is expected.
func (o *Options) Remarks(spec *nodes.Spec) (all []string) {
	remark := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, in := range o.beside() {
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
