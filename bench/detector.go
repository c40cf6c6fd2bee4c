package bench

import (
	"fmt"
	"math"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/detector"
)

// NoDetector is the Options.Detector of a run without one, though its algorithm listens to one.
const NoDetector = "none"

// resolveDetector says which failure detector is to run beside the algorithm, which may name one itself, and
// makes its options explicit.
func (o *Options) resolveDetector(spec *nodes.Spec) error {
	own := o.Detector == ""
	if own {
		o.Detector = spec.Detects
	}
	if o.Detector == NoDetector && spec.Detects == "" {
		o.Detector = ""
	}
	if !o.Detects() {
		return nil
	}
	in, err := detector.ParseFor(o.Detector, o.Config.N, o.delays())
	if err != nil {
		return fmt.Errorf("detector: %w", err)
	}
	if own { // what the row says of it was not asked for by anybody
		in = in.Lengthened(o.delays())
	}
	o.Detector = in.String()
	return nil
}

// resolveElector makes the options of the elector beside the algorithm explicit.
func (o *Options) resolveElector() error {
	if o.Config.Elect == "" {
		return nil
	}
	in, err := catalog.Elector(o.Config, o.delays())
	if err != nil {
		return err
	}
	o.Config.Elect = in.String()
	return nil
}

// TooShort returns the timeouts of the run that do not cover its delays, given valid options. They break what
// its algorithm rests on, and Remarks says so.
func (o *Options) TooShort(spec *nodes.Spec) []nodes.ShortTimeout {
	return o.stack(spec).Short(o.delays())
}

// Implied returns the configuration that the run has if no option of its algorithm is given.
func (o *Options) Implied(spec *nodes.Spec) nodes.Config {
	return spec.Fitted(nodes.Config{N: o.Config.N}, o.delays())
}

// delays returns what takes time in the run, faults left aside. Times that nothing could cover are cut, so
// that no formula overflows.
func (o *Options) delays() nodes.Delays {
	network, most := o.network(), math.MaxInt64/time.Duration(64*min(max(1, o.Config.N), mostNodes))
	return nodes.Delays{Message: min(network.Longest(), most), Hold: min(o.Workload.Hold.Longest(), most),
		Alone: o.alone()}
}

// Detects reports whether a failure detector runs beside the algorithm.
func (o *Options) Detects() bool { return o.Detector != "" && o.Detector != NoDetector }

// detectorText is what node programs are told of the failure detector: nothing if there is none.
func (o *Options) detectorText() string {
	if !o.Detects() {
		return ""
	}
	return o.Detector
}

// checkStoredDetector is resolveDetector for the options of a stored run, which may be of another Turnstile.
func (o *Options) checkStoredDetector(spec *nodes.Spec) error {
	err := o.resolveDetector(spec)
	if err == nil {
		_, err = o.newStack(spec)
	}
	return err
}

// checkRealDetector refuses a detector that real processes cannot have.
func (o *Options) checkRealDetector() error {
	for _, in := range o.beside() {
		if in.Spec.Told != nil {
			return fmt.Errorf("detector: %s knows at once who has crashed, which only a simulation can tell it: take "+
				"one that finds out by messages, such as heartbeat or swim, or simulate", in.Spec.Name)
		}
	}
	return nil
}

// beside returns what runs beside the algorithm, given valid options.
func (o *Options) beside() []nodes.Instance {
	all, err := catalog.Beside(o.Config, o.detectorText())
	if err != nil {
		panic(err) // the options are not valid
	}
	return all
}

// stack returns what all nodes are made of, given valid options.
func (o *Options) stack(spec *nodes.Spec) *nodes.Stack {
	s, err := o.newStack(spec)
	if err != nil {
		panic(err)
	}
	return s
}

// newStack is stack for options that may not be valid.
func (o *Options) newStack(spec *nodes.Spec) (*nodes.Stack, error) {
	beside, err := catalog.Beside(o.Config, o.detectorText())
	if err != nil {
		return nil, err
	}
	return nodes.NewStack(append([]nodes.Instance{{Spec: spec, Config: o.Config}}, beside...)...)
}

// total returns how many nodes the run has, servers included, given valid options. An elector beside the
// algorithm may need servers too.
func (o *Options) total(spec *nodes.Spec) int { return o.stack(spec).Total() }

// codec returns the codec of all messages of the run, given valid options.
func (o *Options) codec(spec *nodes.Spec) *nodes.Codec {
	if !o.Detects() && o.Config.Elect == "" {
		return spec.Codec()
	}
	return o.stack(spec).Codec()
}

// Heartbeat reports whether messages of the kind of that name only say that their sender is up.
func (s *Summary) Heartbeat(kind string) bool {
	codec := s.Record.Options.codec(s.Spec)
	for i, name := range codec.Names() {
		if name == kind {
			return codec.Kind(i).Heartbeat
		}
	}
	return false
}
