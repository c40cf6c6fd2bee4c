package bench

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/foreign"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// Check completes the job by what its options imply. The error says what is wrong with them, and what would
// be right.
func (j *Job) Check() error {
	o, spec := &j.Options, j.Spec
	if err := spec.Validate(o.Config); err != nil {
		return err
	}
	switch {
	case o.Config.N > option.MostNodes:
		return fmt.Errorf("%d nodes: a run takes at most %d", o.Config.N, option.MostNodes)
	case o.Trials < 1:
		return fmt.Errorf("%d trials: a run takes at least one", o.Trials)
	case o.Patience > 24*time.Hour:
		return fmt.Errorf("a patience of %v: at most 24h", o.Patience)
	case o.Patience <= 0:
		return fmt.Errorf("a patience of %v: it must be longer than nothing", o.Patience)
	}
	if o.Multicast && !spec.Broadcasts(o.Config) {
		return fmt.Errorf("%s broadcasts nothing, so a multicast would change nothing: leave out "+
			"--multicast, or take one that broadcasts (%s)", spec.Name, strings.Join(broadcasters(spec), ", "))
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
	if demandOf(o.Workload.Load) != demandOf(j.Problem.Load) {
		return fmt.Errorf("%s %s: %s", spec.Name, j.Problem.Misplaced, j.Problem.Instead)
	}
	return demandOf(o.Workload.Load).check(j)
}

// checkForeign refuses runs that a foreign program cannot have.
func (j *Job) checkForeign() error {
	switch {
	case !foreign.Is(j.Config):
		return nil
	case j.Simulated:
		return errors.New("a foreign program is no machine that could be simulated: take bench or elect")
	case j.Hosts > 0:
		return errors.New("foreign programs run on this machine alone: leave out --hosts")
	}
	return j.checkClients()
}

// checkClients refuses what is done to messages between nodes if nodes send none.
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
				"servers, as in --cut-server holder/servers", f.What(), name)
		}
	}
	return nil
}

// checkResources says what is wrong with the resources that clients name, if anything is.
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

// checkRealDetector refuses a detector that real processes cannot have.
func (j *Job) checkRealDetector() error {
	for _, in := range j.Stack.Instances() {
		if in.Told != nil && !j.Simulated {
			return fmt.Errorf("detector: %s knows at once who has crashed, which only a simulation can tell it: take "+
				"one that finds out by messages, such as heartbeat or swim, or simulate", in.Name)
		}
	}
	return nil
}

// broadcasters names the algorithms of the kind of another that broadcast.
func broadcasters(kind *row.Row) (names []string) {
	for _, row := range catalog.All() {
		if row.Broadcasts(row.Explicit(nodes.Config{N: 2})) && check.ProblemOf(row) == check.ProblemOf(kind) {
			names = append(names, row.Name)
		}
	}
	return names
}

// validateEnd checks whether the run ends, and lasts long enough for somebody to enter.
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
	case j.Duration > 0 && j.Workload.Hold.Mean() > j.Duration:
		return fmt.Errorf("a hold of %v is longer than the run of %v: nobody would be measured leaving; "+
			"hold for less or run for longer", j.Workload.Hold, j.Duration)
	case !j.Regions.None() && !j.Latency.Zero():
		return errors.New("both a latency and regions, which have latencies of their own: " +
			"leave out one of them")
	case j.Duration > 0 && j.Latency.Mean() > j.Duration:
		return fmt.Errorf("a latency of %v is longer than the run of %v: nobody would be measured entering; "+
			"delay for less or run for longer", j.Latency, j.Duration)
	case j.Duration > 24*time.Hour:
		return fmt.Errorf("a duration of %v: at most 24h", j.Duration)
	case j.Warmup > 24*time.Hour:
		return fmt.Errorf("a warm-up of %v: at most 24h", j.Warmup)
	}
	return nil
}
