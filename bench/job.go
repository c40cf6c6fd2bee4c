package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/chaos/place"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/detector"
	"turnstile/nodes/row"
)

// A Job is what a run is made from: its options, made explicit, and what follows from them. Options that are
// texts are parsed once, when the job is made.
type Job struct {
	Options
	Spec      *row.Row       // the algorithm
	Problem   *check.Problem // that it solves
	Stack     *row.Stack     // of every node; nil: the options describe none
	Simulated bool           // otherwise the run is made by real processes

	wrong  error            // why there is no stack
	placed *place.Placement // on hosts whose names are known; nil: they are not
}

// Options are those of a run.
type Options = option.Run

// Resolve returns the job of a run of the algorithm spec. The error says what is wrong with the options, and
// what would be right.
func Resolve(o Options, spec *row.Row, simulated bool) (*Job, error) {
	j, _ := Draft(o, spec, simulated) // Check returns the error
	return j, j.Check()
}

// Draft returns the job of options that may not be complete, such as those of a run whose faults are not
// known yet. Its caller may change the faults, the duration and what carries the messages, and then calls
// Check. The error says why the job has no stack.
func Draft(o Options, spec *row.Row, simulated bool) (*Job, error) {
	delays := o.Delays()
	o.Algorithm, o.Config = spec.Name, spec.Fitted(o.Config, delays)
	if o.Resources == 1 {
		o.Resources, o.ResourceNames = 0, "" // as if it were left out
	}
	beside, err := resolveBeside(&o, spec.Detects, delays)
	j := &Job{Options: o, Spec: spec, Problem: check.ProblemOf(spec), Simulated: simulated}
	if err == nil {
		first := row.Instance{Row: spec, Config: o.Config}
		more := slices.Repeat([]row.Instance{first}, min(o.ResourceCount(), option.MostResources)-1)
		j.Stack, err = row.Assemble(first, append(more, beside...)...)
	}
	j.wrong = err
	demandOf(j.Problem.Load).tidy(&j.Options)
	return j, err
}

// resolveBeside returns the elector and the failure detector beside an algorithm, and makes their options
// explicit. The algorithm listens to the detector own, unless another was asked for.
func resolveBeside(o *Options, own string, d nodes.Delays) (all []row.Instance, err error) {
	asked := o.Detector != ""
	if !asked {
		o.Detector = own
	}
	if o.Detector == option.NoDetector && own == "" {
		o.Detector = ""
	}
	if o.Detects() {
		in, err := detector.Parse(o.Detector, o.Config.N, d)
		if err != nil {
			return nil, fmt.Errorf("detector: %w", err)
		}
		if !asked {
			in = in.Lengthened(d)
		}
		o.Detector, all = in.String(), []row.Instance{in}
	}
	if o.Config.Elect != "" {
		in, err := catalog.Elector(o.Config, d)
		if err != nil {
			return nil, err
		}
		o.Config.Elect, all = in.String(), append([]row.Instance{in}, all...)
	}
	return all, nil
}

// total returns how many nodes the run has, servers included.
func (j *Job) total() int { return j.Stack.Total() }

// TooShort returns the timeouts of the run that do not cover its delays. They break what its algorithm rests
// on, and Remarks says so.
func (j *Job) TooShort() []nodes.ShortTimeout { return j.Stack.Short(j.Delays()) }

// AgreesWithin returns within what time all nodes agree on a leader if nothing goes wrong.
func (j *Job) AgreesWithin() time.Duration {
	s := j.setting(nil)
	return s.Patience()
}

// Implied returns the configuration that the run has if no option of its algorithm is given.
func Implied(o *Options, spec *row.Row) nodes.Config {
	return spec.Fitted(nodes.Config{N: o.Config.N}, o.Delays())
}

// Placement returns which node is on which host; the zero Placement if the run is on one machine. Check says
// what is wrong with it.
func (j *Job) Placement() place.Placement {
	if j.placed != nil {
		return *j.placed
	}
	p, _ := j.place()
	return p
}

// PlaceOn has the nodes be on hosts that are available, by their names (see place.Placement.Assign). The run
// says on record who was where.
func (j *Job) PlaceOn(available []string) error {
	p, err := j.place()
	if err == nil {
		p, err = p.Assign(available)
	}
	if err != nil {
		return err
	}
	j.placed = &p
	return nil
}

// place reads the placement. A job without a stack has none.
func (j *Job) place() (place.Placement, error) {
	if j.Stack == nil {
		return place.Placement{}, nil
	}
	return place.Parse(j.Place, j.total(), j.Hosts)
}

// checkPlaces says what is wrong with the hosts, or with what names them, if anything is.
func (j *Job) checkPlaces() error {
	p, err := j.place()
	if err != nil {
		return err
	}
	_, err = j.Regions.Of(&p)
	return err
}

// network returns what the links of the run do, faults left aside.
func (j *Job) network() chaos.Network {
	n, p := j.Network(), j.Placement()
	n.RegionOf, _ = n.Regions.Of(&p) // Check returns the error
	return n
}

// Scene returns what faults must know of the run.
func (j *Job) Scene() *chaos.Scene {
	return &chaos.Scene{Spec: j.Spec, Config: j.Config, Stack: j.Stack, Measured: j.Duration,
		Simulated: j.Simulated, Servers: j.Servers, Brokers: j.BrokerCount(), Foreign: j.NATS != "",
		Placement: j.Placement(), Campaigns: j.Workload.CampaignEvery}
}

// resolve returns the faults of a trial, given its number and its seed: those that come of the plan, or those
// that are on record instead.
func (j *Job) resolve(number int, seed uint64) ([]chaos.Fault, error) {
	came, injected := j.Injected[number]
	switch {
	case injected:
		return chaos.ResolveMore(nil, came, j.Scene(), seed)
	case len(j.Faults) == 0:
		return nil, nil
	}
	return chaos.Resolve(j.Faults, j.Scene(), seed)
}

// resolvable says what is wrong with the faults of some trial, if anything is.
func (j *Job) resolvable() error {
	_, err := j.resolve(0, 1) // there is no such trial, so they are those of the plan
	for number := range j.Injected {
		if _, wrong := j.resolve(number, 1); wrong != nil {
			err = errors.Join(err, fmt.Errorf("trial %d: %w", number, wrong))
		}
	}
	return err
}
