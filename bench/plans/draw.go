package plans

import (
	"fmt"
	"slices"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/detector"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// The sizes of clusters in a campaign.
const (
	fewestNodes = 2
	mostNodes   = 7
)

// measured is the duration of the runs of a campaign. At a latency of 1 ms it is enough for some hundred
// entries, and short enough for a thousand runs in a minute.
const measured = time.Second

// patient is the duration of runs whose algorithm has timeouts: faults must last longer than the timeouts.
const patient = 5 * time.Second

// A Source draws runs of algorithms.
type Source struct {
	Algorithms []*algorithm.Algorithm
	Known      catalog.Table // algorithms that may run beside Algorithms
	Seed       uint64
	Receive    workload.Receive // how applications receive messages
}

// Job draws the run with a number, from 0. The algorithms take turns. Of the runs of an algorithm, every
// second has a plan inside its model, and the others have any plan. If Job fails, the returned job has no
// options.
func (s *Source) Job(number int, real bool) (*bench.Job, error) {
	d := drawn{NewDraws(s.Seed, number), s.Known}
	o, algos := option.Defaults(), s.Algorithms
	spec := algos[number%len(algos)]
	none := &bench.Job{Spec: spec, Simulated: !real}
	o.Algorithm, o.Seed = spec.Name, d.Bits()>>32 // so that the seed is short enough to read aloud
	o.Duration, o.Warmup, o.WarmupLimit = measured, measured/10, 0
	if spec.Detects != "" || spec.GraceOf(spec.Explicit(o.Config)) > 0 {
		o.Duration = patient
	}
	o.Config.N = fewestNodes + d.Below(mostNodes-fewestNodes+1)
	turn := number / len(algos) / 2 // cases inside and outside the model get the same options
	vary(&o, spec, turn, real)
	o.Config.Fenced = spec.Fenced && d.Below(2) == 0
	o.Latency = d.distribution("1ms", "500us", "uniform:500us,2ms", "exponential:1ms")
	stack, err := kindOf(spec).load(&d, &o, spec, real)
	if err != nil {
		return none, err
	}
	o.Workload.Receive = s.Receive
	scene := &chaos.Scene{Spec: spec, Config: o.Config, Stack: stack, Simulated: !real, Measured: o.Duration,
		Campaigns: o.Workload.CampaignEvery}
	if d.Below(4) == 0 { // three brokers, so that a plan may cut routes
		o.Brokers, scene.Brokers = 3, 3
	}
	draw := chaos.InsidePlan
	if number/len(algos)%2 == 1 {
		draw = chaos.RandomPlan
	}
	plan := draw(scene, o.Seed)
	o.Plan, o.Faults = plan.Name, plan.Faults
	o.Config.Fenced = chaos.Fenced(spec, plan.Faults)
	works := kindOf(spec).works // they take turns; Account replaces work that the resource does not support
	o.Workload.Work = works[turn%len(works)]
	if o.Workload.Work.Check(o.Config.Capacity(), o.Config.Fenced) != nil {
		o.Workload.Work = workload.Account
	}
	j, err := bench.Resolve(s.Known, o, spec, !real)
	if err != nil {
		return none, fmt.Errorf("seed %d drew %s with %d nodes under %s, which is no run: %w", o.Seed, spec.Name,
			o.Config.N, o.Plan, err)
	}
	return j, nil
}

// CheckReceive returns an error if applications cannot receive messages in this way in runs of a campaign.
func CheckReceive(r workload.Receive) error {
	return (&workload.Workload{Receive: r}).CheckReceive(1, measured)
}

// A run about leaders lasts 15 periods (graces), and at least atLeast. A period is how long an election may
// take. No fault begins in the last two periods. A real run lasts only 6 periods (realGraces), since it would
// take minutes otherwise. Nodes campaign again after 1.25 periods (calm), so that all agree on a leader in
// between and faults hit elections.
const (
	graces     = 15
	realGraces = 6
	calm       = 1.25
	atLeast    = time.Second
)

// setDuration sets the duration of a run about leaders, and the time between campaigns. It returns the stack.
func (d *drawn) setDuration(o *bench.Options, spec *algorithm.Algorithm, real bool) (*algorithm.Stack,
	error) {
	times := time.Duration(graces)
	if real {
		times = realGraces
		o.Latency = d.distribution("1ms", "500us", "uniform:500us,2ms") // a bounded latency makes elections shorter
	}
	if spec.Broken().By != 0 { // a rare failure shows only in long runs
		times *= 2
	}
	plain := *o
	plain.Config = spec.Explicit(o.Config) // explicit, so that timeouts do not grow with the drawn latency
	draft, err := bench.NewDraft(d.known, plain, spec, !real)
	if err != nil {
		return nil, err
	}
	j := draft.Unchecked()
	agree := j.AgreesWithin()
	o.Duration = max(atLeast, times*agree).Truncate(time.Millisecond)
	o.Workload.CampaignEvery = time.Duration(calm * float64(agree)).Truncate(time.Millisecond)
	return j.Stack, nil
}

// elections draws the nodes that campaign in a run about leaders, and sets its duration.
func (d *drawn) elections(o *bench.Options, spec *algorithm.Algorithm, real bool) (*algorithm.Stack, error) {
	if spec.Flaw != nil {
		o.Config.N = spec.Flaw.At.N
	}
	if spec.Broken().By != 0 && !real { // with this latency, a node may crash between two requests for its vote
		o.Latency = d.distribution("exponential:1ms")
	}
	o.Warmup, o.Workload = 0, workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
	switch which := d.Below(4); {
	case which == 0, spec.Broken().By != 0: // one node campaigns, and the others vote
		o.Workload.Initiators = workload.LowestInitiates
	case which == 1:
		o.Workload.Initiators = workload.Initiators(fmt.Sprintf("random:%d", 1+d.Below(o.Config.N)))
	}
	return d.setDuration(o, spec, real)
}

// units draws how many units the resource has, and how many of them requests take.
func (d *drawn) units(o *bench.Options, spec *algorithm.Algorithm) {
	const most = 4
	units := min(spec.Units.Most, o.Config.N-1, most) // fewer than clients, so that some clients wait
	o.Config.Units = 1 + d.Below(units)
	if largest := spec.Units.Takes(o.Config.Units); largest > 1 {
		takes := [...]workload.Take{{}, {Least: 1, Most: largest}, {Least: 2, Most: largest}, {Whole: 0.3}}
		o.Workload.Take = takes[d.Below(len(takes))]
	}
}

// Draws are random values for a run, one after another.
type Draws struct {
	dice  chance.Dice
	count uint64
}

// NewDraws returns the random values for the run with a number, from 0.
func NewDraws(seed uint64, number int) Draws {
	return Draws{dice: chance.Dice(seed).Of(chance.ForCampaign, number+1)}
}

// Bits returns 64 random bits.
func (d *Draws) Bits() uint64 {
	d.count++
	return d.dice.Bits(chance.Roll{Purpose: chance.ForCampaign, Count: d.count})
}

// Below returns a random number from 0 to n-1.
func (d *Draws) Below(n int) int { return int(d.Bits() % uint64(n)) }

// drawn draws the options of a run.
type drawn struct {
	Draws
	known catalog.Table // the algorithms that a drawn run may use beside its own
}

// distribution draws one of several distributions.
func (d *drawn) distribution(texts ...string) chance.Distribution {
	s, err := chance.ParseDistribution(texts[d.Below(len(texts))])
	if err != nil {
		panic(err) // impossible, except by a typo of the caller
	}
	return s
}

// entries draws the load. A load under which only one client requests shows little, so it is never drawn.
func (d *drawn) entries(o *bench.Options, spec *algorithm.Algorithm, _ bool) (*algorithm.Stack, error) {
	w := &o.Workload
	*w = workload.Workload{Load: workload.Saturated, Hold: d.distribution("100us", "500us", "1ms")}
	long := o.Duration >= patient && d.Below(3) > 0
	if long { // nodes restart, and perhaps others take over, while a client is inside
		w.Hold = d.distribution("20ms")
	}
	switch which := d.Below(6); {
	case which == 0:
		w.Load, w.Think = workload.Closed, d.distribution("5ms", "exponential:5ms")
	case which == 1 && !long: // clients that stay for long would be overloaded
		w.Load, w.Rate = workload.Open, float64(10*(1+d.Below(3)))
	case which == 2:
		w.Load = workload.Sequential
	}
	if spec.Units.Most > 1 {
		d.units(o, spec)
	}
	if spec.Flaw != nil { // a rare failure shows only in long runs with many nodes
		o.Config.N, o.Duration, o.Latency = mostNodes, patient, d.distribution("exponential:1ms")
		if spec.Flaw.Also != "" { // with more nodes, other failures end a run before the flaw shows
			o.Config.N = spec.Flaw.At.N
		}
		*w = workload.Workload{Load: workload.Saturated, Hold: d.distribution("100us", "500us", "1ms")}
		if long {
			w.Hold = d.distribution("20ms")
		}
		if spec.Broken().Rare { // it shows more often in more entries
			o.Latency, w.Hold = d.distribution("exponential:100us"), d.distribution("100us")
		}
	}
	return nil, nil
}

// vary sets each enumerated option of the algorithm and, in a simulation, the failure detector if the
// algorithm listens to one. The cases of an algorithm go through all values in turn. A flawed one keeps the
// options that show its flaw.
func vary(o *bench.Options, spec *algorithm.Algorithm, turn int, real bool) {
	if spec.Flaw != nil {
		return
	}
	next := func(values []string) string {
		value := values[turn%len(values)]
		turn /= len(values)
		return value
	}
	for i := range spec.Options {
		if option := &spec.Options[i]; len(option.Values) > 0 {
			o.Config = fitting(spec, o.Config, option.Name, next(option.Values))
		}
	}
	if spec.Detects == "" || real {
		return
	}
	o.Detector = next(detectors())
	in, err := detector.Parse(o.Detector, o.Config.N, nodes.Delays{})
	if err == nil { // faults must outlast the detection of a crash, and end before the run
		o.Duration = max(o.Duration, 2*detector.Within(in).Round(time.Millisecond))
	}
}

// fitting returns a configuration with a value for an option, and with another number of nodes or an elector
// if the value needs that. If no configuration is valid, it returns c unchanged.
func fitting(spec *algorithm.Algorithm, c nodes.Config, name, value string) nodes.Config {
	elects := []string{c.Elect}
	if spec.Follows {
		elects = append(elects, "bully")
	}
	for _, elect := range elects {
		for by := range mostNodes {
			for _, n := range []int{c.N + by, c.N - by} {
				one := c.With(name, value)
				one.N, one.Elect = n, elect
				if n >= fewestNodes && n <= mostNodes && spec.Validate(one) == nil {
					return one
				}
			}
		}
	}
	return c
}

// detectors returns all failure detectors, with each value of their enumerated options.
func detectors() (all []string) {
	for _, d := range detector.Table {
		all = append(all, d.Name)
		for i := range d.Options {
			o := &d.Options[i]
			for _, value := range slices.DeleteFunc(slices.Clone(o.Values),
				func(value string) bool { return value == o.Default }) {
				all = append(all, d.Name+":"+o.Name+"="+value)
			}
		}
	}
	return all
}
