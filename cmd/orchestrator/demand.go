package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/workload"
)

// A runCommand is what one of the commands that make runs has of its own.
type runCommand struct {
	naming    string // the flag that names the algorithm
	one       string // what it names
	algorithm string // unless another is named
	nodes     int    // unless told otherwise
	nodesDo   string
	find      func(name string) (*spec, error)
	problems  []*check.Problem // that its runs may be about
}

// The commands that make runs.
var (
	benchRuns = runCommand{naming: "algo", one: "algorithm", algorithm: "ricart-agrawala", nodes: 8,
		nodesDo: "ask for the critical section", find: findAlgorithm, problems: problemsOf("bench")}
	electRuns = runCommand{naming: "scheme", one: "scheme of election", algorithm: "bully", nodes: 5,
		nodesDo: "elect a leader", find: election.Find, problems: problemsOf("elect")}
	simulateRuns = runCommand{benchRuns.naming, benchRuns.one, benchRuns.algorithm, benchRuns.nodes,
		benchRuns.nodesDo, findAlgorithm, check.Problems}
)

// runCommands are those that make real runs, by name.
var runCommands = map[string]*runCommand{"bench": &benchRuns, "elect": &electRuns}

// problemsOf returns the problems of which a command makes real runs.
func problemsOf(command string) (all []*check.Problem) {
	for _, p := range check.Problems {
		if p.Command == command {
			all = append(all, p)
		}
	}
	return all
}

// table returns the algorithms that the command takes.
func (c *runCommand) table() []*spec {
	return rowsWith(func(row *spec) bool { return slices.Contains(c.problems, check.ProblemOf(row)) })
}

// demands returns what the runs of the command may demand.
func (c *runCommand) demands() (all []demand) {
	for _, p := range c.problems {
		if d := demandOf(p); !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// A demand is what nodes are asked for in a run, as flags.
type demand interface {
	addLoad(c *benchCall, f *pflag.FlagSet)   // adds the flags of what nodes do
	addSystem(c *benchCall, f *pflag.FlagSet) // of what runs beside the algorithm
	addEnd(c *benchCall, f *pflag.FlagSet)    // of when the run is measured
	resolve(c *benchCall, s settings) error   // works out what these flags imply
	warm(o *bench.Options)                    // sets the warm-up of a run for which none was asked
	// words add the flags to a command that makes a run, warmWords those of its warm-up.
	words(add func(flag string, value any), w *workload.Workload)
	warmWords(add func(flag string, value any), o *bench.Options)
}

// demands are those of problems, by their load.
var demands = map[workload.Load]demand{workload.Saturated: requests{}, workload.Campaign: campaigns{}}

// demandOf returns the demand of runs about a problem.
func demandOf(p *check.Problem) demand { return demands[p.Load] }

// Requests are the demand of clients that ask for resources.
type requests struct{}

func (requests) addLoad(c *benchCall, f *pflag.FlagSet) {
	f.StringVar(&c.load, "load", "", "saturated, closed, open, one or sequential (default saturated)")
	c.Workload.Hold = chance.Constant(100 * time.Microsecond)
	f.Var(&c.Workload.Hold, "hold", "time inside the critical section")
	f.Var(&c.Workload.Think, "think", "time between a release and the next request; implies --load closed")
	f.Float64Var(&c.Workload.Rate, "rate", 0, "requests per second and node; implies --load open")
	f.StringVar(&c.arrivals, "arrivals", "", "open load: poisson (at random) or even (default poisson)")
	f.Var(&c.Workload.Take, "take", "`units` of the resource that a request takes: "+workload.TakeForms)
	f.Lookup("take").DefValue = "" // otherwise the help would say 1 of runs about leaders
	f.Var(&c.Workload.Work, "work", "what a client does inside: "+workload.WorkForms+" (default account)")
	f.Lookup("work").DefValue = ""
	c.Resources = 1
	f.Var(resourcesFlag{&c.Options}, "resources", "how many resources, or their `names` as in printer,plotter, "+
		"each with an instance of the algorithm: a request names one of them at random")
	noZero(f, "resources", "would leave nothing to ask for: write how many, or leave it out for one")
	f.Float64Var(&c.Workload.Zipf, "zipf", 0, "exponent of Zipf's distribution, by which requests name "+
		"resources (default 0, all alike)")
	addReceive(f, &c.Workload.Receive)
	group(f, loadFlags)
}

func (requests) addSystem(c *benchCall, f *pflag.FlagSet) {
	addUnits(f, &c.Config)
	f.BoolVar(&c.Config.Fenced, "fenced", false,
		"have the resource demand fence numbers, and refuse what is written under a lower one than the highest")
	f.StringVar(&c.Config.Elect, "elect", "",
		"`scheme` of election beside the algorithm, whose leader it follows, as in bully:answer=50ms "+
			"(default none; see list)")
}

// addReceive adds the flag of how applications receive messages.
func addReceive(f *pflag.FlagSet, r *workload.Receive) {
	f.Var(r, "receive", "`way` in which the application of a node receives messages: "+workload.ReceiveForms)
}

// addUnits adds the flag of how many units the resource has.
func addUnits(f *pflag.FlagSet, c *nodes.Config) {
	f.IntVar(&c.Units, "units", 0, "how many units the resource has, of algorithms that serve several "+
		"(default as list NAME says, mostly 1)")
	noZero(f, "units", "would leave nothing to take: write how many, or leave it out")
}

func (requests) addEnd(c *benchCall, f *pflag.FlagSet) {
	f.DurationVar(&c.Warmup, "warmup", 0, "how long to run before measuring (default a tenth of --duration, "+
		"at most 1s, and then until each client that asks has entered twice, at most 10s)")
	f.Uint64Var(&c.Entries, "entries", 0, "end after so many entries, not after --duration")
}

func (requests) warm(o *bench.Options) {
	o.Warmup, o.WarmupLimit = min(o.Duration/10, time.Second), bench.WarmupLimit
}

func (requests) words(add func(flag string, value any), w *workload.Workload) {
	switch w.Load {
	case workload.Closed:
		add("think", w.Think)
	case workload.Open:
		add("rate", w.Rate)
		if w.Evenly {
			add("arrivals", "even")
		}
	default:
		add("load", w.Load)
	}
	add("hold", w.Hold)
	if !w.Take.IsZero() {
		add("take", w.Take)
	}
	if w.Work != workload.Account {
		add("work", w.Work)
	}
	if w.Zipf > 0 {
		add("zipf", w.Zipf)
	}
	if !w.Receive.IsZero() {
		add("receive", w.Receive)
	}
}

func (requests) warmWords(add func(flag string, value any), o *bench.Options) {
	add("warmup", o.Warmup)
}

// resolve finds the load that the flags name or imply.
func (requests) resolve(c *benchCall, s settings) error {
	w := &c.Workload
	w.Load = workload.Saturated
	if c.load != "" {
		w.Load = workload.Load(c.load)
	}
	implications := []struct {
		flag string
		load workload.Load
		drop func()
	}{
		{"think", workload.Closed, func() { w.Think = chance.Distribution{} }},
		{"rate", workload.Open, func() { w.Rate = 0 }},
		{"arrivals", workload.Open, func() { c.arrivals = "" }},
	}
	top := s.rank("load")
	for _, i := range implications {
		if s.rank(i.flag) > top {
			w.Load, top = i.load, s.rank(i.flag)
		}
	}
	if _, err := workload.ParseLoad(string(w.Load)); err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	for _, i := range implications {
		switch {
		case !s.given(i.flag) || w.Load == i.load:
		case s.rank(i.flag) < top:
			i.drop()
		default:
			return fmt.Errorf("--%s is for a load that is %s, and this one is %s: leave out one of the two",
				i.flag, i.load, w.Load)
		}
	}
	return c.resolveArrivals(s)
}

func (c *benchCall) resolveArrivals(s settings) error {
	if c.Workload.Load == workload.Open && !s.given("rate") {
		return errors.New("a load that is open takes --rate, the requests per second of each node")
	}
	if err := c.Workload.CheckRate(); err != nil {
		return fmt.Errorf("--rate: %w", err)
	}
	switch c.arrivals {
	case "", "poisson":
	case "even":
		c.Workload.Evenly = true
	default:
		return fmt.Errorf("--arrivals: there is no %q: take poisson or even", c.arrivals)
	}
	return nil
}

// Campaigns are the demand of nodes that are told to bring elections about.
type campaigns struct{}

func (campaigns) addLoad(c *benchCall, f *pflag.FlagSet) {
	f.StringVar(&c.initiators, "initiators", "", "elections: who campaigns when the run begins: all, none, "+
		"lowest, highest, random:K or nodes, as in 0,3 (default all)")
	f.DurationVar(&c.Workload.CampaignEvery, "campaign-every", 0,
		"elections: how long after each campaign they campaign again (default they do so once)")
	noZero(f, "campaign-every", "would leave no time for an election: leave it out for one campaign")
	group(f, systemFlags)
}

func (campaigns) addSystem(*benchCall, *pflag.FlagSet) {}
func (campaigns) addEnd(*benchCall, *pflag.FlagSet)    {}

// resolve refuses the flags of requests, which a run about leaders has none of.
func (campaigns) resolve(c *benchCall, s settings) error {
	var extra []string
	for _, name := range []string{"load", "hold", "think", "rate", "arrivals", "take", "work", "units",
		"resources", "zipf", "receive", "warmup", "entries", "fenced", "elect"} {
		if s.rank(name) == byFlag {
			extra = append(extra, "--"+name)
		}
	}
	if len(extra) > 0 {
		return fmt.Errorf("%s elects leaders, and has no critical section to request: leave out %s", c.Spec.Name,
			strings.Join(extra, ", "))
	}
	c.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.Initiators(c.initiators),
		CampaignEvery: c.Workload.CampaignEvery}
	c.Warmup, c.WarmupLimit, c.Entries = 0, 0, 0
	return nil
}

func (campaigns) warm(*bench.Options) {}

func (campaigns) words(add func(flag string, value any), w *workload.Workload) {
	if w.Initiators != "" {
		add("initiators", w.Initiators)
	}
	if w.CampaignEvery > 0 {
		add("campaign-every", w.CampaignEvery)
	}
}

func (campaigns) warmWords(func(flag string, value any), *bench.Options) {}
