package experiment

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes/workload"
)

// A Failover measures how long it takes until the next client enters, or the next leader is elected, after
// the holder or leader, or the server that leads, is hit by a fault: for each service, time to live and
// fault. It goes on with a set that it began.
type Failover struct {
	Sweep // Trials is how many runs each case has
	Cases []*FailoverCase
	cases []*FailoverCase // by the numbers of Cells
}

// A FailoverCase is a service with a time to live under a fault, and what came of its runs.
type FailoverCase struct {
	Line    *FailoverLine
	Asked   time.Duration // the time to live that clients ask for; 0: the service has none
	Fault   string        // one of FailoverFaults
	Subject *ServiceSubject
	Err     error // why no run is made: there is no program
	Runs    []*FailoverRun
	LeftOut []*FailoverRun // runs that do not count
}

// Cases returns what there is to be measured of some services.
func (l *FailoverLine) Cases(asked []time.Duration) (all []*FailoverCase) {
	for _, fault := range FailoverFaults {
		for _, ttl := range l.TTLs(asked) {
			all = append(all, &FailoverCase{Line: l, Asked: ttl, Fault: fault})
		}
	}
	return all
}

// Text returns the service with its options and the fault.
func (c *FailoverCase) Text() string {
	return strings.Join(append([]string{c.Line.Service}, c.Line.Words(c.Asked)...), " ") + ", " + c.Fault
}

// Lacks says why the fault has no meaning for the service; empty: it has one.
func (c *FailoverCase) Lacks() string {
	if why := c.Line.Lacks[c.Fault]; why != "" || c.Fault != cutServer {
		return why
	}
	return c.Line.Lacks[killServer]
}

// ofServers reports whether the fault hits servers.
func (c *FailoverCase) ofServers() bool { return c.Fault == killServer || c.Fault == cutServer }

// The runs. Times are shares of a scale: the time to live that is granted.
const (
	FailoverNodes = 3               // clients, or nodes that elect
	noTTL         = 2 * time.Second // the scale of a service without a time to live

	failoverWarmup = 100 * time.Millisecond
	failoverSlack  = 500 * time.Millisecond // for an entry that takes longer than usual, or the end of a fault
	// The server that leads is killed or cut off while a client is inside. The client stays inside until then.
	// The other servers take some seconds to elect a leader, whatever the ttl is: NATS up to nine.
	serverHold  = 200 * time.Millisecond
	serverAfter = 100 * time.Millisecond
	serverWait  = 12 * time.Second
)

// scale returns the ttl that servers grant, or noTTL. Lengths of holds, faults and runs follow from it.
func (c *FailoverCase) scale() time.Duration {
	if c.Subject.Granted > 0 {
		return c.Subject.Granted
	}
	return noTTL
}

// lasts returns for how long the fault is in force, or the run goes on after a kill.
func (c *FailoverCase) lasts() time.Duration {
	switch {
	case c.ofServers():
		return serverWait
	case c.Fault == "kill":
		return 2*c.scale() + 2*time.Second
	}
	return 3*c.scale() + time.Second
}

// hold returns for how long a client stays inside.
func (c *FailoverCase) hold() time.Duration {
	if c.ofServers() {
		return serverHold
	}
	return c.scale() / 2
}

// spread returns the length of the interval from which each run draws the moment of the fault. It is the time
// between two renewals of a lease: libraries renew a lease three times in its length.
func (c *FailoverCase) spread() time.Duration {
	if c.ofServers() {
		return serverAfter
	}
	return (c.scale() / 3).Truncate(time.Millisecond)
}

// Job returns the run of the case. Its fault has the latest of the moments that runs draw.
func (c *FailoverCase) Job(seed uint64) (*bench.Job, error) {
	o := option.Defaults()
	o.Config, o.Servers = c.Subject.Config, c.Subject.Servers
	o.Seed = seed
	studyOf(c.Subject.Spec).failover(c, &o)
	return bench.Resolve(o, c.Subject.Spec, false)
}

// entries sets the options of a run about a lock: clients always request, and the fault hits the second
// holder, or the leading server while that client is inside.
func (c *FailoverCase) entries(o *bench.Options) {
	hold, after := c.hold(), c.spread()
	o.Workload = workload.Workload{Load: workload.Saturated, Hold: chance.Constant(hold)}
	o.Warmup, o.WarmupLimit = failoverWarmup, 0
	f := c.fault(effect.Target{Word: "holder"}, true)
	f.At, f.After = hold/2, after
	if c.ofServers() {
		f.At, f.When = failoverSlack, chaos.When{What: "enters", Nth: 1}
	}
	o.Duration = f.At + hold + failoverSlack + after + c.lasts() + hold + failoverSlack
	o.Faults = []chaos.Fault{f}
}

// elections sets the options of a run about an election, in which the fault hits the leader.
func (c *FailoverCase) elections(o *bench.Options) {
	allStand(o)
	f := c.fault(effect.Target{Word: "leader"}, o.Servers.Count > 0)
	f.At = failoverSlack + c.spread()
	if o.Servers.Count == 0 { // nodes elect among themselves, and take a timeout for the first leader
		f.At += 2 * c.scale()
	}
	o.Faults = []chaos.Fault{f}
	o.Duration = f.At + c.lasts() + 2*failoverSlack
	if c.Fault == "pause" || c.Fault == "cut" {
		// A leader that comes back leads on until it has failed to renew; then all have to agree again.
		o.Duration += 2 * c.scale()
	}
}

// fault returns the fault of the case, without its time. A cut is one from servers, or from all other nodes.
func (c *FailoverCase) fault(who effect.Target, fromServers bool) (f chaos.Fault) {
	switch c.Fault {
	case "kill":
		return chaos.Fault{Effect: &effect.Kill{Who: who}}
	case killServer:
		return chaos.Fault{Effect: &effect.KillServer{Which: effect.ServersOf{Word: effect.LeadingServer}}}
	case cutServer:
		f.Effect = effect.CutLeadingServer()
	case "pause":
		f.Effect = &effect.Pause{Who: who}
	case "cut":
		f.Effect = effect.CutClients(who)
		if !fromServers {
			f.Effect = &effect.CutLinks{Cut: effect.CutOff(who)}
		}
	}
	f.For = c.lasts()
	return f
}

// Resolve makes the jobs of the cases that have a meaning and a subject. The error says which case cannot be
// run.
func (m *Failover) Resolve() error {
	m.Trials = max(1, m.Trials)
	for _, c := range m.Cases {
		if c.Err != nil || c.Lacks() != "" {
			continue
		}
		j, err := c.Job(m.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Text(), err)
		}
		m.Cells, m.cases = append(m.Cells, j), append(m.cases, c)
	}
	m.vary = m.moment
	return nil
}

// moment draws when the fault of a run hits: after the holder has entered, or since the leader leads. The
// same run always draws the same.
func (m *Failover) moment(r sweepRun, j *bench.Job) {
	name := fnv.New64a()
	name.Write([]byte(r.name))
	u := chance.Dice(m.Seed ^ name.Sum64()).Unit(chance.Roll{Purpose: chance.ForFault, Count: uint64(r.trial)})
	earlier := time.Duration((1 - u) * float64(m.cases[r.cell].spread())).Truncate(time.Millisecond)
	j.Faults = slices.Clone(j.Faults)
	if f := &j.Faults[0]; f.After > 0 {
		f.After = max(time.Millisecond, f.After-earlier)
	} else {
		f.At -= earlier
	}
}

// aroundFailover is about how long servers take to start and all to end.
const aroundFailover = 3 * time.Second

// Takes returns about how long the runs take that are left.
func (m *Failover) Takes(context.Context) Length {
	var sum time.Duration
	for _, r := range m.left {
		j := m.Cells[r.cell]
		rest := j.Workload.Hold.Mean() * (FailoverNodes - 1) // of those who wait at the end
		sum += aroundFailover + j.Warmup + j.Duration + rest
	}
	sum /= time.Duration(m.workers())
	return Length{Low: sum, High: sum}
}

// Judge says of each case what its runs show, from the histories that the set has.
func (m *Failover) Judge(ctx context.Context) error {
	for cell, c := range m.cases {
		for trial := 1; trial <= m.Trials; trial++ {
			name, err := runName(m.Cells[cell], trial)
			if err != nil {
				return err
			}
			if err := c.judge(ctx, m.folders[name]); err != nil {
				return err
			}
		}
		if len(c.Runs)+len(c.LeftOut) == 0 {
			c.Err = errors.New("it has no run: the same command makes it")
		}
	}
	return nil
}
