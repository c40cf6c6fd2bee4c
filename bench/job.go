package bench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/chaos"
	"turnstile/chaos/place"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A Job is what a run is made from: its options, made explicit, and what follows from them. Options that are
// texts are parsed once, when the job is made.
type Job struct {
	Options
	Spec      *algorithm.Algorithm // the algorithm
	Problem   *check.Problem       // the problem that the algorithm solves
	Stack     *algorithm.Stack     // the machines of every node; nil: the options are invalid
	Simulated bool                 // the run is simulated; otherwise real processes make it

	known  catalog.Table    // the algorithms that the options may name
	wrong  error            // why Stack is nil
	placed *place.Placement // placement on hosts with known names; nil: the names are not known
}

// Options are the options of a run.
type Options = option.Run

// Resolve checks the options and returns the job of a run of the algorithm spec. If an option is wrong, the
// error says what would be right.
func Resolve(known catalog.Table, o Options, spec *algorithm.Algorithm, simulated bool) (*Job, error) {
	d, _ := NewDraft(known, o, spec, simulated) // d.Resolve returns the same error
	return d.Resolve()
}

// A Draft is a run whose faults, duration and brokers may still change, since faults can depend on the other
// options.
type Draft struct {
	*Options // completed as far as possible
	of       *Job
}

// NewDraft returns the draft of a run of the algorithm spec. The table known has the detectors and election
// schemes that may run beside it. The error says why the run has no stack.
func NewDraft(known catalog.Table, o Options, spec *algorithm.Algorithm, simulated bool) (*Draft, error) {
	j, err := newJob(known, o, spec, simulated)
	return &Draft{&j.Options, j}, err
}

// Scene returns what faults need to know of the run.
func (d *Draft) Scene() *chaos.Scene { return d.of.Scene() }

// Unchecked returns the job unchecked: for a stored run, which was checked before, or for a run never stored.
func (d *Draft) Unchecked() *Job { return d.of }

// Resolve checks the options and returns the job. If an option is wrong, the error says what would be right.
func (d *Draft) Resolve() (*Job, error) { return d.of, d.of.check() }

// Under returns the job with other faults, after checking it.
func (j *Job) Under(faults []chaos.Fault) (*Job, error) {
	other := *j
	other.Plan, other.Faults = "", faults
	return &other, other.check()
}

// newJob makes a job without checking it.
func newJob(known catalog.Table, o Options, spec *algorithm.Algorithm, simulated bool) (*Job, error) {
	delays := o.Delays()
	o.Algorithm, o.Config = spec.Name, spec.Fitted(o.Config, delays)
	if o.Resources == 1 {
		o.Resources, o.ResourceNames = 0, "" // as if the option were left out
	}
	beside, err := resolveBeside(known, &o, spec.Detects, delays)
	j := &Job{Options: o, Spec: spec, Problem: check.ProblemOf(spec), Simulated: simulated,
		known: known}
	if err == nil {
		first := algorithm.Instance{Algorithm: spec, Config: o.Config}
		more := slices.Repeat([]algorithm.Instance{first}, min(o.ResourceCount(), option.MostResources)-1)
		j.Stack, err = algorithm.Assemble(first, append(more, beside...)...)
	}
	j.locate()
	j.wrong = err
	kindOf(j.Problem.Kind).demand.tidy(&j.Options)
	return j, err
}

// resolveBeside returns the elector and the failure detector that run beside an algorithm, and makes their
// options explicit. The algorithm listens to its default detector, own, unless the options name another.
func resolveBeside(known catalog.Table, o *Options, own string, d nodes.Delays) (all []algorithm.Instance,
	err error) {
	asked := o.Detector != ""
	if !asked {
		o.Detector = own
	}
	if o.Detector == option.NoDetector && own == "" {
		o.Detector = ""
	}
	if o.Detects() {
		in, err := known.ParseDetector(o.Detector, o.Config.N, d)
		if err != nil {
			return nil, err
		}
		if !asked {
			in = in.Lengthened(d)
		}
		o.Detector, all = in.String(), []algorithm.Instance{in}
	}
	if o.Config.Elect != "" {
		in, err := known.Elector(o.Config, d)
		if err != nil {
			return nil, err
		}
		o.Config.Elect, all = in.String(), append([]algorithm.Instance{in}, all...)
	}
	return all, nil
}

// Total returns how many nodes the run has, servers included.
func (j *Job) Total() int { return j.Stack.Total() }

// TooShort returns the timeouts that do not cover the run's delays. They break an assumption of the
// algorithm; Remarks reports them.
func (j *Job) TooShort() []nodes.ShortTimeout { return j.Stack.Short(j.Delays()) }

// AgreesWithin returns how long all nodes may take to agree on a leader if nothing goes wrong.
func (j *Job) AgreesWithin() time.Duration {
	s := j.Setting(nil)
	if j.Simulated {
		return s.Patience()
	}
	return s.Patience() + check.SlackOf(j.Config.N)
}

// Implied returns the configuration that a run has if no option of its algorithm is given.
func Implied(o *Options, spec *algorithm.Algorithm) nodes.Config {
	return spec.Fitted(nodes.Config{N: o.Config.N}, o.Delays())
}

// Placement returns which node is on which host; it is zero if the run is on one machine, or if the option is
// wrong, which Resolve reports.
func (j *Job) Placement() place.Placement {
	if j.placed != nil {
		return *j.placed
	}
	p, _ := j.place()
	return p
}

// PlaceOn assigns the nodes to available hosts, by their names (see place.Placement.Assign). The record of
// the run lists the assignment.
func (j *Job) PlaceOn(available []string) error {
	p, err := j.place()
	if err == nil {
		p, err = p.Assign(available)
	}
	if err != nil {
		return err
	}
	j.placed = &p
	j.locate()
	return nil
}

// locate tells the machines of the stack in which region and on which host each node is.
func (j *Job) locate() {
	if j.Stack == nil || j.Regions.None() && j.Hosts == 0 || j.checkPlaces() != nil {
		return
	}
	network, total := j.Network(), j.Total()
	var regions, hosts []int
	for id := range nodes.ID(total) {
		if !j.Regions.None() {
			regions = append(regions, network.Region(id))
		}
		if j.Hosts > 0 {
			hosts = append(hosts, j.HostOf(id))
		}
	}
	all := slices.Clone(j.Stack.Instances())
	for i := range all {
		all[i].Config.Regions, all[i].Config.Hosts = regions, hosts
	}
	if s, err := algorithm.Assemble(all[0], all[1:]...); err == nil {
		j.Stack = s
	}
}

// place parses the option for the placement. A job without a stack has an empty placement.
func (j *Job) place() (place.Placement, error) {
	if j.Stack == nil {
		return place.Placement{}, nil
	}
	return place.Parse(j.Place, j.Total(), j.Hosts)
}

// checkPlaces returns an error if the hosts are wrong, or if the regions name hosts that do not exist.
func (j *Job) checkPlaces() error {
	p, err := j.place()
	if err != nil {
		return err
	}
	_, err = j.Regions.Of(&p)
	return err
}

// HostOf returns the number of the host that a node is on.
func (j *Job) HostOf(id nodes.ID) int {
	if j.placed != nil {
		return j.placed.HostOf(id)
	}
	p := j.Placement()
	return p.HostOf(id)
}

// Network returns the behaviour of the run's links without faults.
func (j *Job) Network() chaos.Network {
	n, p := j.Options.Network(), j.Placement()
	n.RegionOf, _ = n.Regions.Of(&p) // Resolve reports the error
	return n
}

// Scene returns what faults need to know of the run.
func (j *Job) Scene() *chaos.Scene {
	return &chaos.Scene{Spec: j.Spec, Config: j.Config, Stack: j.Stack, Measured: j.Duration,
		Simulated: j.Simulated, Servers: j.Servers, Brokers: j.BrokerCount(), Foreign: j.NATS != "",
		Placement: j.Placement(), Campaigns: j.Workload.CampaignEvery}
}

// FaultsAsked returns the faults of a trial, given its number and its seed: the faults on record for that
// trial, such as injected ones, or else the plan's.
func (j *Job) FaultsAsked(number int, seed uint64) ([]chaos.Fault, error) {
	came, injected := j.Injected[number]
	switch {
	case injected:
		return chaos.ResolveMore(nil, came, j.Scene(), seed)
	case len(j.Faults) == 0:
		return nil, nil
	}
	return chaos.Resolve(j.Faults, j.Scene(), seed)
}

// tooManyTrials returns the error for a run with too many trials. The error says how long the trials would
// take.
func tooManyTrials(o *Options) error {
	takes := fmt.Sprintf("%.3g entries", float64(o.Trials)*float64(o.Entries))
	if o.Duration > 0 {
		takes = fmt.Sprintf("%.3g hours", float64(o.Trials)*o.Duration.Hours())
	}
	return fmt.Errorf("%d trials take %s in all: a run has at most %d trials", o.Trials, takes,
		option.MostTrials)
}

// resolvable returns an error if the faults of some trial cannot be resolved.
func (j *Job) resolvable() error {
	_, err := j.FaultsAsked(0, 1) // no trial has number 0: these are the faults of the plan
	for number := range j.Injected {
		if _, wrong := j.FaultsAsked(number, 1); wrong != nil {
			err = errors.Join(err, fmt.Errorf("trial %d: %w", number, wrong))
		}
	}
	return err
}

// check completes the job with the values that its options imply. An error says which option is wrong, and
// what would be right.
func (j *Job) check() error {
	o, spec := &j.Options, j.Spec
	if err := spec.Validate(o.Config); err != nil {
		return err
	}
	switch {
	case o.Trials < 1:
		return fmt.Errorf("%d trials: a run takes at least one", o.Trials)
	case o.Trials > option.MostTrials:
		return tooManyTrials(o)
	case o.Patience > 24*time.Hour:
		return fmt.Errorf("a patience of %v: at most 24h", o.Patience)
	case o.Patience <= 0:
		return fmt.Errorf("a patience of %v: it must be longer than nothing", o.Patience)
	}
	if o.Multicast && !spec.Broadcasts(o.Config) {
		return fmt.Errorf("%s broadcasts nothing, so a multicast would change nothing: leave out "+
			"--multicast, or take one that broadcasts (%s)", spec.Name, strings.Join(j.broadcasters(), ", "))
	}
	if err := j.checkForeign(); err != nil {
		return err
	}
	if j.Stack != nil {
		if err := j.checkPlaces(); err != nil {
			return err
		}
	}
	o.Proxies = o.Proxies || !j.Simulated && chaos.NeedsProxies(o.Faults)
	if err := cmp.Or(j.checkTransport(), j.checkResource(j.Simulated), j.wrong); err != nil {
		return err
	}
	o.WarmupLimit = o.WarmsUpTo()
	of := kindOf(o.Workload.Load.Kind())
	if of != kindOf(j.Problem.Kind) {
		return fmt.Errorf("%s %s: %s", spec.Name, j.Problem.Misplaced, j.Problem.Instead)
	}
	return of.demand.check(j)
}

// checkForeign refuses options that a foreign program does not support.
func (j *Job) checkForeign() error {
	switch {
	case !foreign.Is(j.Config):
		return nil
	case j.Simulated:
		return errors.New("a foreign program cannot be simulated: use bench or elect")
	case j.Hosts > 0:
		return errors.New("foreign programs run on this machine alone: leave out --hosts")
	}
	return j.checkClients()
}

// checkClients refuses latencies and faults of links between nodes if the nodes send each other no messages.
func (j *Job) checkClients() error {
	if !foreign.Silent(j.Config) || j.Detects() {
		return nil
	}
	name := j.Config.Options[foreign.ServiceOption]
	if !j.Latency.Zero() || !j.Regions.None() {
		return fmt.Errorf("latency: clients of %s send each other no messages that could be late: leave it out",
			name)
	}
	for i := range j.Faults {
		if f := &j.Faults[i]; f.OfLinks() {
			return fmt.Errorf("%s: clients of %s send each other no messages that it could hit: cut them off from "+
				"servers, as in --cut holder/servers", f.What(), name)
		}
	}
	return nil
}

// checkResources returns an error if the number of resources, or how clients choose among them, is wrong.
func (j *Job) checkResources() error {
	switch {
	case j.Resources < 0 || j.Resources > option.MostResources:
		return fmt.Errorf("%d resources: a run has 1 to %d", j.Resources, option.MostResources)
	case j.Resources > 1 && foreign.Is(j.Config):
		return fmt.Errorf("%d resources: a foreign program or a service serves one", j.Resources)
	}
	return j.Workload.CheckZipf(j.ResourceCount())
}

// checkReceive returns an error if the run cannot have the given --receive.
func (j *Job) checkReceive() error {
	if r := j.Workload.Receive; !r.IsZero() && j.Config.Options[foreign.ServiceOption] != "" {
		return fmt.Errorf("receive %v: clients of a service send each other no messages that could wait: leave "+
			"it out", r)
	}
	return j.Workload.CheckReceive(j.ResourceCount(), j.Duration)
}

// checkRealDetector refuses a detector that only a simulation can have.
func (j *Job) checkRealDetector() error {
	for _, in := range j.Stack.Instances() {
		if in.Told != nil && !j.Simulated {
			return fmt.Errorf("--detector %s: only a simulation can report crashes to it: take heartbeat or swim, "+
				"or use simulate", in.Name)
		}
	}
	return nil
}

// broadcasters lists the algorithms that broadcast and solve the same problem.
func (j *Job) broadcasters() (names []string) {
	for _, algo := range j.known.Algorithms() {
		if algo.Broadcasts(algo.Explicit(nodes.Config{N: 2})) && check.ProblemOf(algo) == j.Problem {
			names = append(names, algo.Name)
		}
	}
	return names
}

// validateEnd checks that the run ends, and that it is long enough for some client to enter. If times are
// drawn, their median has to fit: a distribution with a long tail may have a large mean, or none.
func (j *Job) validateEnd() error {
	switch {
	case j.Duration < 0:
		return fmt.Errorf("a duration of %v: it must be longer than nothing, such as 3s", j.Duration)
	case j.Warmup < 0:
		return fmt.Errorf("a warm-up of %v: it must be 0s or longer", j.Warmup)
	case j.Duration > 0 && j.Entries > 0:
		return errors.New("both a duration and a number of entries: a run ends by one of them")
	case j.Duration == 0 && j.Entries == 0:
		return errors.New("neither a duration nor a number of entries: the run would never end")
	case j.Entries >= 1<<32:
		return fmt.Errorf("%d entries: at most %d are counted", j.Entries, uint64(1<<32-1))
	case j.Entries > 0 && j.Warmup > 0:
		return fmt.Errorf("a warm-up of %v: a run that ends by entries is warmed up by its first %d per node",
			j.Warmup, workload.SteadyEntries)
	case j.Duration > 0 && j.Workload.Hold.Median() > j.Duration:
		return fmt.Errorf("--hold %v exceeds --duration %v, so no exit would be measured: "+
			"shorten the hold or lengthen the run", j.Workload.Hold, j.Duration)
	case !j.Regions.None() && !j.Latency.Zero():
		return errors.New("both a latency and regions, which have latencies of their own: " +
			"leave out one of them")
	case j.Duration > 0 && j.Latency.Median() > j.Duration:
		return fmt.Errorf("--latency %v exceeds --duration %v, so no entry would be measured: "+
			"shorten the latency or lengthen the run", j.Latency, j.Duration)
	case j.Duration > 24*time.Hour:
		return fmt.Errorf("a duration of %v: at most 24h", j.Duration)
	case j.Warmup > 24*time.Hour:
		return fmt.Errorf("a warm-up of %v: at most 24h", j.Warmup)
	}
	return nil
}
