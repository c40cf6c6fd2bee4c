package study

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A Try makes runs of a program under several loads, for several numbers of nodes, and under all built-in
// plans or, for the client of a service, faults of clients and servers. So it shows what the program keeps of
// what it declares.
type Try struct {
	Matrix
	Program *ServiceSubject // with Servers and Granted if it is the client of a service
	Cases   []*TryCase
	Untaken []string // faults that the service cannot have
	Untimed []string // cases with long holds that are left out, since TryLimit is too short for them
}

// A TryCase is a load without faults for a number of nodes, or a fault.
type TryCase struct {
	*Cell
	Name string // of the load or the plan; or the fault of a service, without its beginning
	N    int
	Calm bool // it has no fault
	Long bool // a holder stays inside through the fault, and after it
	// Outside means that the program promises nothing: its faults break assumptions of safety and of progress.
	Outside bool
	// Doubt means that the run broke a promise that rests on bounded delays, and that no run alone did.
	Doubt bool
}

// Runs are so short, and so many, that a program is tried within TryLimit. Runs with servers are fewer at
// once, since servers are busy.
const (
	TryLimit     = 10 * time.Minute
	serversTried = 2
)

// TriedSizes are the numbers of nodes without faults. Holds beyond the time to live of a service are long, so
// that few nodes wait for them.
var TriedSizes = []int{2, 3, 4, 9}

// A triedLoad is a load without faults.
type triedLoad struct {
	name  string
	lasts time.Duration
	few   bool // few nodes
	workload.Workload
}

// loadsTried are the loads of a lock. Thinking clients request seldom, so that logical clocks that are not
// merged drift apart: under a saturated load all clients enter in turn, which hides it.
func loadsTried(ttl time.Duration) []triedLoad {
	think, err := chance.ParseDistribution("exponential:40ms")
	if err != nil {
		panic(err) // impossible: it is valid
	}
	short, long := chance.Constant(10*time.Millisecond), max(100*time.Millisecond, ttl*3/2)
	return []triedLoad{
		{"saturated", time.Second, false, workload.Workload{Load: workload.Saturated, Hold: short}},
		{"think", 2 * time.Second, false, workload.Workload{Load: workload.Closed, Think: think, Hold: short}},
		{"one", time.Second, false, workload.Workload{Load: workload.One, Hold: short}},
		{"sequential", time.Second, false, workload.Workload{Load: workload.Sequential, Hold: short}},
		{"long-holds", max(time.Second, 3*long), ttl > 0, workload.Workload{Load: workload.Saturated,
			Hold: chance.Constant(long)}},
	}
}

// electionsTried are the initiators of elections.
func electionsTried(time.Duration) []triedLoad {
	campaign := func(name string, by workload.Initiators, every time.Duration) triedLoad {
		return triedLoad{name: name, Workload: workload.Workload{Load: workload.Campaign, Initiators: by,
			CampaignEvery: every}}
	}
	return []triedLoad{campaign("all", workload.AllInitiate, 0), campaign("lowest", workload.LowestInitiates, 0),
		campaign("highest", workload.HighestInitiate, 0),
		campaign("again", workload.AllInitiate, 500*time.Millisecond)}
}

// Faults beside the built-in plans, and faults of clients and servers of a service. LONG stands for longer
// than the time to live. A fault that the run cannot have is left out.
var (
	alsoStruck = []string{"lag: 0, by: 50ms, for: 1s", "throttle: 0, to: 20KB, for: 1s",
		"pause: broker 0, for: 1s"}
	holderStruck = []string{"pause: holder, for: LONG", "kill: holder", "kill: holder, for: 300ms",
		"leave: holder, for: 300ms", "cut: holder/servers, for: LONG",
		"cut: holder/servers, close: true, for: LONG",
		"cut: waiter/servers, for: LONG", "drop-answer: holder, nth: 1, close: true",
		"drop-answer: waiter, nth: 1, close: true", "hold-request: waiter, nth: 2, by: LONG",
		"delete: lock of holder", "delete: lock of waiter", "expire: session of holder"}
	leaderStruck = []string{"pause: leader, for: LONG", "kill: leader", "kill: leader, for: 300ms",
		"leave: leader, for: 300ms", "cut: leader/servers, for: LONG",
		"cut: leader/servers, close: true, for: LONG",
		"drop-answer: leader, nth: 1, close: true", "delete: lock of leader", "expire: session of leader"}
	holderStays = []string{"cut: holder/servers, for: LONG", "cut: holder/servers, close: true, for: LONG",
		"kill: server 0, for: 1s", "kill: server 0, forget: true, for: 1s", "kill: server leader, for: LONG",
		"pause: server 0, for: LONG", "promote: server 1"}
	serversStruck = []string{"kill: server 0, for: 1s", "kill: server 0, forget: true, for: 1s",
		"kill: server leader, for: LONG", "pause: server 0, for: LONG", "pause: server leader, for: LONG",
		"cut: server leader/servers, for: LONG", "promote: server 1", "clock: server 0, by: LONG",
		"slow: 0, share: 80%, for: 1s"}
)

// Resolve lists the cases. If only has names, it lists the cases with these names. The error names a load or
// fault that does not exist.
func (t *Try) Resolve(only []string) error {
	t.Real, t.Runs = true, 1
	for _, load := range studyOf(t.Program.Spec).tries(t.Program.Granted) {
		sizes := TriedSizes
		if load.few {
			sizes = sizes[:2]
		}
		for _, n := range sizes {
			if err := t.add(&chaos.Plan{Name: load.name}, n, load.over); err != nil {
				return err
			}
		}
	}
	if foreign.OptionsOf(t.Program.Config) != nil {
		t.addStruck()
		return t.keep(only)
	}
	for _, plan := range append(chaos.ScenariosOf(t.Program.Spec), t.struck(alsoStruck)...) {
		if err := t.add(plan, cellNodes, func(*bench.Options) {}); err != nil {
			return err
		}
	}
	return t.keep(only)
}

// addStruck adds the faults of clients and servers of a service.
func (t *Try) addStruck() {
	of := studyOf(t.Program.Spec)
	for _, plan := range t.struck(of.strikes, serversStruck) {
		if t.add(plan, FailoverNodes, t.amidServers) != nil {
			t.Untaken = append(t.Untaken, plan.Name)
		}
	}
	for _, plan := range t.struck(of.outlasted) {
		if plan.Faults[0].ByRun() { // the first holder
			plan.Faults[0].At = 0
		}
		if t.add(plan, TriedSizes[0], t.outlast) != nil {
			continue // nor can the service have it with short holds
		}
		last := len(t.Cases) - 1
		c := t.Cases[last]
		c.Long = true
		c.Cell.Plan = &chaos.Plan{Name: c.Text(), Faults: plan.Faults}
		if t.Takes() > TryLimit*2/3 {
			t.Cases, t.Untimed = t.Cases[:last], append(t.Untimed, c.Text())
		}
	}
}

// keep keeps the cases of some names; nil: all.
func (t *Try) keep(only []string) error {
	of := func(name string) func(*TryCase) bool {
		return func(c *TryCase) bool { return c.Name == name || strings.HasPrefix(c.Name, name+",") }
	}
	for _, name := range only {
		if !slices.ContainsFunc(t.Cases, of(name)) {
			return fmt.Errorf("no load or fault is called %q: there are %s", name, strings.Join(t.names(), "; "))
		}
	}
	t.Cases = slices.DeleteFunc(t.Cases, func(c *TryCase) bool {
		return only != nil && !slices.ContainsFunc(only, func(name string) bool { return of(name)(c) })
	})
	return nil
}

// names returns the names of the cases.
func (t *Try) names() (all []string) {
	for _, c := range t.Cases {
		if !slices.Contains(all, c.Name) {
			all = append(all, c.Name)
		}
	}
	return all
}

// add adds a case. It returns an error if its run cannot be made, as of a service that has nothing that the
// fault could hit.
func (t *Try) add(plan *chaos.Plan, n int, change func(*bench.Options)) error {
	c := &TryCase{Name: plan.Name, N: n, Calm: len(plan.Faults) == 0, Cell: &Cell{Spec: t.Program.Spec,
		Plan: plan, config: t.Program.Config}}
	var breaks nodes.Assumption
	for i := range plan.Faults {
		breaks |= plan.Faults[i].Breaks()
	}
	c.Outside = breaks&t.Program.Spec.Safe != 0 && breaks&t.Progress() != 0
	if c.Calm {
		c.Cell.Plan = &chaos.Plan{Name: c.Text()}
	}
	c.change = func(o *bench.Options) {
		o.Config.N, o.Servers = n, t.Program.Servers
		if change(o); plan.Text == "" { // it is not built in
			o.Plan = ""
		}
	}
	if _, err := bench.Resolve(t.Known, c.Options(t.Seed), c.Spec, false); err != nil {
		return fmt.Errorf("%s: %w", c.Text(), err)
	}
	t.Cases = append(t.Cases, c)
	return nil
}

// Progress returns the assumptions on which the progress of the program rests.
func (t *Try) Progress() nodes.Assumption { return studyOf(t.Program.Spec).progress(t.Program.Spec) }

// Text names the load with the number of nodes, or the fault.
func (c *TryCase) Text() string {
	switch {
	case c.Calm:
		return fmt.Sprintf("%s, %d nodes", c.Name, c.N)
	case c.Long:
		return c.Name + " (long holds)"
	}
	return c.Name
}

// over sets the options of a run without faults.
func (l *triedLoad) over(o *bench.Options) {
	usual := option.Defaults()
	o.Latency, o.Patience, o.Workload = usual.Latency, usual.Patience, l.Workload
	if l.lasts > 0 {
		o.Duration, o.Warmup = l.lasts, l.lasts/10
	}
	o.Duration += 2 * l.CampaignEvery
}

// struck returns plans of one fault each.
func (t *Try) struck(texts ...[]string) (all []*chaos.Plan) {
	const at = time.Second
	long := fmt.Sprint((t.scale()*3/2 + 500*time.Millisecond).Truncate(time.Millisecond))
	for _, text := range slices.Concat(texts...) {
		text = strings.ReplaceAll(text, "LONG", long)
		f, err := chaos.ParseFault(fmt.Sprintf("%s, at: %v", text, at))
		if err != nil {
			panic(err) // impossible: a test reads all
		}
		all = append(all, &chaos.Plan{Name: text, Faults: []chaos.Fault{f}})
	}
	return all
}

// scale returns the time to live that servers grant, or noTTL.
func (t *Try) scale() time.Duration {
	if t.Program.Granted > 0 {
		return t.Program.Granted
	}
	return noTTL
}

// amidServers sets the options of a run with a fault of clients or servers of a service: it goes on until the
// servers have recovered, and a lease that is held then has ended.
func (t *Try) amidServers(o *bench.Options) {
	usual := option.Defaults()
	o.Latency, o.Patience = usual.Latency, usual.Patience
	o.Workload = studyOf(t.Program.Spec).tries(t.Program.Granted)[0].Workload
	lasts := (&Cell{Plan: &chaos.Plan{Faults: o.Faults}}).lasts()
	o.Duration = max(o.Duration, lasts+t.scale()+o.Servers.Recovers+2*time.Second)
}

// outlast sets the options of a run with long holds: the first holder enters before the fault. It leaves
// after the servers have recovered, and after a lease that it did not renew has ended.
func (t *Try) outlast(o *bench.Options) {
	t.amidServers(o)
	o.Warmup = 0
	inside := (&Cell{Plan: &chaos.Plan{Faults: o.Faults}}).lasts() + o.Servers.Recovers + t.scale()
	o.Workload.Hold, o.Duration = chance.Constant(inside), inside+2*time.Second
}

// Takes returns about how long Make takes on an otherwise idle machine.
func (t *Try) Takes() (sum time.Duration) {
	for _, c := range t.Cases {
		o := c.Options(t.Seed)
		if sum += aroundRun + o.Warmup + o.Duration; c.Long { // clients that wait at the end enter in turn
			sum += time.Duration(c.N-1) * o.Workload.Hold.Mean()
		}
	}
	return sum / time.Duration(t.workers())
}

// workers returns how many runs are made at once.
func (t *Try) workers() int {
	if t.Program.Servers.Count > 0 {
		return serversTried
	}
	return realAtOnce
}

// Make makes the runs, until ctx is done. It returns the error of ctx, or why a run could not be stored.
func (t *Try) Make(ctx context.Context) error {
	all := len(t.Cases)
	for i, r := range t.run(ctx, t.workers(), all, 0, all, func(i int) *Case {
		return t.longer(t.Cases[i].Cell, 1)
	}) {
		if r != nil {
			t.Cases[i].Runs = []*Result{r}
		}
	}
	t.confirm(ctx)
	return t.ended(ctx)
}

// confirm makes runs that broke a promise again, alone, if the program rests on bounded delays: runs beside
// each other may have delayed each other. Once a case is confirmed, so are all that failed the same check.
func (t *Try) confirm(ctx context.Context) {
	if of := t.Program.Spec; (of.Safe|of.Live)&nodes.Timing == 0 {
		return
	}
	confirmed := map[string]bool{}
	for _, c := range t.Cases {
		if len(c.Runs) == 0 || !c.Differs() {
			continue
		}
		failed := c.Runs[0].ViolatedInside().Check
		for range 2 {
			if !confirmed[failed] && ctx.Err() == nil {
				again := t.make(ctx, t.longer(c.Cell, 1)).ViolatedInside()
				confirmed[failed] = again != nil && again.Check == failed
			}
		}
		c.Doubt = !confirmed[failed]
	}
}

// Broken reports whether the run of a case broke a promise.
func (c *TryCase) Broken() bool { return c.Differs() && !c.Doubt }

// longer returns the run of a case that lasts a number of times as long as usual. If it is over and shows
// nothing, it is made again, twice as long: programs may take long to start.
func (t *Try) longer(c *Cell, times time.Duration) *Case {
	o := c.Options(t.Seed)
	o.Duration *= times
	j, err := bench.Resolve(t.Known, o, c.Spec, false)
	return &Case{Job: j, Err: err, Expect: c.expect, Again: func(r *Result) *Case {
		if r.Err != nil || r.Shown != 0 || r.Missed() != "" || r.ViolatedInside() != nil {
			return nil
		}
		return t.longer(c, 2*times)
	}}
}

// Missed returns why the faults of a run hit nothing, if that is all that it shows.
func (r *Result) Missed() string {
	if r.Shown == algorithm.Unhit || r.Shown == 0 && len(r.Verdict.Misses) > 0 && r.Says == r.Verdict.Misses[0] {
		return r.Says
	}
	return ""
}

// Unjudged returns why the run of a case shows nothing; empty: it shows whether the program keeps its
// promises, or the faults hit nothing.
func (c *TryCase) Unjudged() string {
	switch r := c.Runs[0]; {
	case c.Broken(), r.Missed() != "":
		return ""
	case c.Doubt:
		return "it broke a promise beside other runs, and in no run alone: " + r.ViolatedInside().Says
	case r.Shown == 0:
		return r.Says
	case c.Calm && r.Verdict.Outcome != check.Valid:
		return r.Verdict.Reason
	}
	return ""
}
