package option

import (
	"cmp"
	"strconv"
	"strings"

	"turnstile/chaos/place"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/nodes/workload"
)

// An Option is an option of a run. Its flag, its variable in the environment and in make, its key in files
// and in sweeps, its words in commands and in the first line of a summary, its columns in runs.csv and their
// documentation follow from it.
type Option struct {
	Name, Short string // Short is the one-letter flag, if any
	Usage       string // help text as pflag reads it: the name of the value is in backquotes
	Group       string // group of the flag in the help
	For         string // kind of runs that have the option: Exclusion or Leaders; empty: all
	Real        bool   // only runs of processes have the option
	NoZero      string // error text for the value 0, with advice; empty: 0 is valid
	Elsewhere   bool   // the flag names a file or a plan, which other code reads
	Common      bool   // the short help shows the flag

	// Of returns where a run holds the value: a pointer to an int, uint64, float64, bool, string or duration, or
	// a Value.
	Of func(*Run) any
	// Words returns the argument of the flag in a command that makes the run; empty: the command leaves the flag
	// out. If Words is nil, the argument is the value; unless Always is set, the flag is left out if the value
	// is the implied one.
	Words  func(*Run) string
	Always bool
	// Says returns the option's text in the first line of a summary; nil: the name and Words.
	Says func(*Run) string

	Columns []Column
	// Alike forbids comparing two results that differ in the option's columns, since these say how much work
	// there was.
	Alike bool
}

// A Value is read from text, like a Value of package pflag.
type Value interface {
	Set(text string) error
	String() string
	Type() string
}

// A Column is a column of runs.csv that says what was asked of a run.
type Column struct {
	Name, Unit string
	Is         string // meaning of a cell
	Empty      string // meaning of an empty cell; empty: no cell is empty
	All        bool   // all runs have the cell, even if only some runs have the option
	// Cell returns the cell of a run: a string, a bool or a figure.Figure. Real is set for runs of processes. If
	// Cell is nil, the cell is the value as text.
	Cell func(r *Run, real bool) any
}

// Kinds of runs that an option is for.
const (
	Exclusion = "exclusion"
	Leaders   = "leaders"
)

// Groups of flags in the help.
const (
	System  = "What runs"
	Load    = "Load"
	Network = "Network"
	Hosts   = "Hosts"
	Running = "Run"
)

// Names of columns that other code uses.
const (
	LoadColumn      = "load"
	HoldColumn      = "hold"
	RateColumn      = "rate_per_s"
	LatencyColumn   = "latency"
	RegionsColumn   = "regions"
	PlanColumn      = "plan"
	FaultsColumn    = "faults"
	FencedColumn    = "fenced"
	UnitsColumn     = "units"
	ResourcesColumn = "resources"
	ResourceColumn  = "resource"
	DurationColumn  = "duration_asked_s"
	EntriesColumn   = "entries_asked"
	LimitColumn     = "warmup_limit_s"
)

// Meanings of empty cells.
const (
	ofLeaders   = "a run about leaders"
	anotherLoad = "another load"
	simulated   = "a simulated run"
)

// Table lists the options of a run in the order of flags and columns, except the options of its algorithm.
var Table = []*Option{
	{Name: "nodes", Short: "n", Group: System, Common: true,
		Usage: "how many nodes ask for the critical section, or elect a leader",
		Of:    func(r *Run) any { return &r.Config.N }, Always: true, Says: silent},
	{Name: "units", Group: System, For: Exclusion, Alike: true,
		Usage: "how many units the resource has, of algorithms that serve several (default as list NAME says, " +
			"mostly 1)",
		NoZero: "would leave nothing to take: write how many, or leave it out",
		Of:     func(r *Run) any { return &r.Config.Units },
		Says:   count(2, "unit", "units", func(r *Run) int { return r.Config.Capacity() }),
		Columns: []Column{{Name: UnitsColumn, Unit: "units", Is: "units of each resource", Empty: ofLeaders,
			Cell: func(r *Run, _ bool) any { return figure.Count(uint64(r.Config.Capacity())) }}}},
	{Name: "resources", Group: Load, For: Exclusion, Alike: true,
		Usage: "how many resources, or their `names` as in printer,plotter, each with an instance of the " +
			"algorithm: a request names one of them at random",
		NoZero: "would leave nothing to ask for: write how many, or leave it out for one",
		Of:     func(r *Run) any { return resourcesOf(r) },
		Words:  func(r *Run) string { return given(r.Resources > 1, resourcesOf(r)) },
		Says: func(r *Run) string {
			if r.Resources < 2 {
				return ""
			}
			says := english.Count(r.Resources, "resource", "resources")
			if r.ResourceNames != "" {
				says += " (" + strings.ReplaceAll(r.ResourceNames, ",", ", ") + ")"
			}
			return says
		},
		Columns: []Column{{Name: ResourcesColumn, Unit: "resources",
			Is: "resources, each with an instance of the algorithm; a request names one", Empty: ofLeaders,
			Cell: func(r *Run, _ bool) any { return figure.Count(uint64(r.ResourceCount())) }}}},
	{Name: "load", Group: Load, For: Exclusion, Alike: true, Common: true,
		Usage: "saturated, closed, open, one or sequential (default saturated)",
		Of:    func(r *Run) any { return (*loadValue)(&r.Workload.Load) },
		Words: func(r *Run) string {
			if r.Workload.Load == workload.Closed || r.Workload.Load == workload.Open {
				return "" // the options think and rate imply these loads
			}
			return string(r.Workload.Load)
		},
		Says: func(r *Run) string { return string(r.Workload.Load) + " load" },
		Columns: []Column{{Name: LoadColumn, Unit: "word", All: true,
			Is:   "`saturated`, `closed`, `open`, `one` or `sequential`; `campaign` in a run about leaders",
			Cell: func(r *Run, _ bool) any { return string(r.Workload.Load) }}}},
	{Name: "zipf", Group: Load, For: Exclusion, Alike: true,
		Usage: "exponent of Zipf's distribution, by which requests name resources (default 0, all alike)",
		Of:    func(r *Run) any { return &r.Workload.Zipf },
		Columns: []Column{{Name: "zipf", Unit: "number",
			Is:    "exponent of Zipf's distribution, by which requests name resources",
			Empty: "all are as likely",
			Cell:  func(r *Run, _ bool) any { return known(r.Workload.Zipf > 0, r.Workload.Zipf) }}}},
	{Name: "think", Group: Load, For: Exclusion, Alike: true, Common: true,
		Usage: "time between a release and the next request; implies --load closed",
		Of:    func(r *Run) any { return &r.Workload.Think }, Words: under(workload.Closed),
		Columns: []Column{{Name: "think", Unit: "distribution",
			Is: "closed load: time from a release to the next request, as in the flag", Empty: anotherLoad,
			Cell: func(r *Run, _ bool) any { return under(workload.Closed)(r) }}}},
	{Name: "rate", Group: Load, For: Exclusion, Alike: true,
		Usage: "requests per second and node; implies --load open",
		Of:    func(r *Run) any { return &r.Workload.Rate }, Words: under(workload.Open),
		Says: func(r *Run) string {
			if r.Workload.Load != workload.Open {
				return ""
			}
			return strconv.FormatFloat(r.Workload.Rate, 'g', -1, 64) + " requests/s and node"
		},
		Columns: []Column{{Name: RateColumn, Unit: "1/s", Is: "open load: requests per second and node",
			Empty: anotherLoad, Cell: func(r *Run, _ bool) any {
				return known(r.Workload.Load == workload.Open, r.Workload.Rate)
			}}}},
	{Name: "arrivals", Group: Load, For: Exclusion, Alike: true,
		Usage: "open load: poisson (at random) or even (default poisson)",
		Of:    func(r *Run) any { return (*arrivals)(&r.Workload.Evenly) },
		Says: func(r *Run) string {
			if r.Workload.Evenly {
				return "evenly"
			}
			return ""
		},
		Columns: []Column{{Name: "arrivals", Unit: "word", Is: "open load: `poisson` or `even`", Empty: anotherLoad,
			Cell: func(r *Run, _ bool) any {
				if r.Workload.Load != workload.Open {
					return ""
				}
				return (*arrivals)(&r.Workload.Evenly).String()
			}}}},
	{Name: "hold", Group: Load, For: Exclusion, Alike: true, Common: true,
		Usage: "time inside the critical section",
		Of:    func(r *Run) any { return &r.Workload.Hold }, Always: true,
		Columns: []Column{{Name: HoldColumn, Unit: "distribution",
			Is:    "time in the critical section, as in the flag",
			Empty: ofLeaders}}},
	{Name: "take", Group: Load, For: Exclusion, Alike: true,
		Usage: "`units` of the resource that a request takes: " + workload.TakeForms,
		Of:    func(r *Run) any { return &r.Workload.Take },
		Columns: []Column{
			{Name: "take", Unit: "units", Is: "units that a request takes, as in the flag",
				Empty: "each takes one, or a run about leaders",
				Cell:  func(r *Run, _ bool) any { return given(!r.Workload.Take.IsZero(), r.Workload.Take) }},
			{Name: "whole", Unit: "share", Is: "share of requests for all units of a resource that has several",
				Empty: ofLeaders,
				Cell: func(r *Run, _ bool) any {
					return figure.Number(r.Workload.Take.WholeShare(r.Config.Capacity()))
				}}}},
	{Name: "cancel-after", Group: Load, For: Exclusion, Alike: true,
		Usage:  "how long a client waits for a lock until it cancels its request (default for ever)",
		NoZero: "would leave no time to wait: leave it out for clients that never give up",
		Of:     func(r *Run) any { return &r.Workload.CancelAfter },
		Columns: []Column{{Name: "cancel_after_s", Unit: "s",
			Is:    "how long a client waits until it cancels its request",
			Empty: "it never does", Cell: func(r *Run, _ bool) any {
				return known(r.Workload.CancelAfter > 0, r.Workload.CancelAfter.Seconds())
			}}}},
	{Name: "work", Group: Load, For: Exclusion, Alike: true,
		Usage: "what a client does inside: " + workload.WorkForms + " (default account)",
		Of:    func(r *Run) any { return &r.Workload.Work },
		Columns: []Column{{Name: "work", Unit: "word",
			Is:    "what clients do inside beside the account: `file`, `printer` or `shares`",
			Empty: "no more, or a run about leaders",
			Cell:  func(r *Run, _ bool) any { return string(r.Workload.Work) }}}},
	{Name: "receive", Group: Load, For: Exclusion, Alike: true,
		Usage: "`way` in which the application of a node receives messages: " + workload.ReceiveForms,
		Of:    func(r *Run) any { return &r.Workload.Receive },
		Columns: []Column{{Name: "receive", Unit: "words",
			Is: "how applications receive messages, as `--receive` has it", Empty: "by an agent, at once",
			Cell: func(r *Run, _ bool) any { return given(!r.Workload.Receive.IsZero(), r.Workload.Receive) }}}},
	{Name: "initiators", Group: System, For: Leaders, Alike: true,
		Usage: "elections: which nodes campaign when the run begins: all, none, lowest, highest, random:K or " +
			"nodes, as in 0,3 (default all)",
		Of:   func(r *Run) any { return (*string)(&r.Workload.Initiators) },
		Says: func(r *Run) string { return "initiators " + initiators(r) },
		Columns: []Column{{Name: "initiators", Unit: "words",
			Is: "run about leaders: who campaigns when it begins", Empty: "a run about critical sections",
			Cell: func(r *Run, _ bool) any { return initiators(r) }}}},
	{Name: "campaign-every", Group: System, For: Leaders, Alike: true,
		Usage:  "elections: how long after each campaign they campaign again (default they do so once)",
		NoZero: "would leave no time for an election: leave it out for one campaign",
		Of:     func(r *Run) any { return &r.Workload.CampaignEvery },
		Columns: []Column{{Name: "campaign_every_s", Unit: "s", Is: "run about leaders: time between campaigns",
			Empty: "they campaign once", Cell: func(r *Run, _ bool) any {
				return known(r.Workload.CampaignEvery > 0, r.Workload.CampaignEvery.Seconds())
			}}}},
	{Name: "latency", Group: Network, Common: true,
		Usage: "latency of every link, injected if the links are real",
		Of:    func(r *Run) any { return &r.Latency },
		Words: func(r *Run) string { return given(r.Regions.None(), r.Latency) },
		Says: func(r *Run) string {
			switch {
			case !r.Regions.None():
				return ""
			case r.Latency.Zero():
				return "no injected latency"
			}
			return "latency " + r.Latency.String()
		},
		Columns: []Column{{Name: LatencyColumn, Unit: "distribution",
			Is: "injected latency of messages, as in the flag", Empty: "regions have their own",
			Cell: func(r *Run, _ bool) any { return given(r.Regions.None(), r.Latency) }}}},
	{Name: "regions", Group: Network,
		Usage:     "`file` of the latencies between regions, instead of --latency (see docs/running.md)",
		Elsewhere: true,
		Words: func(r *Run) string {
			if r.Regions.None() {
				return ""
			}
			return "FILE" // stands for the name of the file, which is not on record
		},
		Says: func(r *Run) string { return given(!r.Regions.None(), r.Regions) },
		Columns: []Column{{Name: RegionsColumn, Unit: "text",
			Is:    "instead of latency: the regions, and the latencies between them row by row",
			Empty: "no regions",
			Cell: func(r *Run, _ bool) any {
				if r.Regions.None() {
					return ""
				}
				return r.Regions.Matrix()
			}}}},
	{Name: "hosts", Group: Hosts, Alike: true,
		Usage:  "over how many hosts the nodes are spread (default none: this machine)",
		NoZero: "would be nowhere: write how many, or leave it out for this machine alone",
		Of:     func(r *Run) any { return &r.Hosts },
		Says:   count(1, "host", "hosts", func(r *Run) int { return r.Hosts }),
		Columns: []Column{{Name: "hosts", Unit: "machines", Is: "machines of the run",
			Cell: func(r *Run, _ bool) any { return figure.Count(uint64(max(1, r.Hosts))) }}}},
	{Name: "place", Group: Hosts,
		Usage: "which `nodes` are on which host: " + place.Forms + " (default " + place.Turns +
			": node i is on host i mod their number)",
		Of: func(r *Run) any { return &r.Place },
		Columns: []Column{{Name: "place", Unit: "text", Is: "which node is on which host, as in the flag",
			Empty: "the run had no hosts, or nodes took turns"}}},
	{Name: "plan", Elsewhere: true, Common: true, Says: silent, Words: silent,
		Columns: []Column{{Name: PlanColumn, Unit: "name", Is: "name of the plan of faults",
			Empty: "no plan, or the faults came by flags",
			Cell:  func(r *Run, _ bool) any { return r.Plan }}}},
	{Name: "brokers", Group: Network,
		Usage:  "how many NATS servers of the run's own: 1 or 3, with the nodes spread over them",
		NoZero: "would leave no server to talk over: write 1 or 3, or leave it out",
		Of:     func(r *Run) any { return &r.Brokers },
		Words:  func(r *Run) string { return given(r.Brokers > 1, number(r.Brokers)) },
		Says: func(r *Run) string {
			if r.Brokers < 2 || r.Brokers == r.Hosts { // one broker on each host
				return ""
			}
			return english.Count(r.Brokers, "broker", "brokers")
		},
		Columns: []Column{{Name: "brokers", Unit: "servers", Is: "number of the run's NATS servers",
			Empty: "a simulated run or an external server", Cell: func(r *Run, real bool) any {
				return known(real && r.NATS == "", float64(r.BrokerCount()))
			}}}},
	{Name: "detector", Group: System,
		Usage: "failure `detector` beside the algorithm, as in heartbeat or probe:period=50ms,timeout=200ms, or " +
			"none (default the one that the algorithm listens to, if any; see list)",
		Of: func(r *Run) any { return &r.Detector },
		Columns: []Column{{Name: "detector", Unit: "text",
			Is: "failure detector beside the algorithm, with its options; `none`: the algorithm listens to one, and " +
				"has none", Empty: "the algorithm listens to none"}}},
	{Name: "fenced", Group: System, For: Exclusion,
		Usage: "have the resource demand fence numbers, and refuse what is written under a lower one than the " +
			"highest",
		Of: func(r *Run) any { return &r.Config.Fenced },
		Columns: []Column{{Name: FencedColumn, Unit: "true/false", Is: "whether the resource demands fence numbers",
			Cell: func(r *Run, _ bool) any { return r.Config.Fenced }}}},
	{Name: "elect", Group: System, For: Exclusion,
		Usage: "`scheme` of election beside the algorithm, whose leader it follows, as in bully:answer=50ms " +
			"(default none; see list)",
		Of: func(r *Run) any { return &r.Config.Elect },
		Columns: []Column{{Name: "elect", Unit: "text",
			Is: "election scheme beside the algorithm, with its options", Empty: "no scheme"}}},
	{Name: "multicast", Group: Network, Usage: "send each broadcast as one publish, not one per peer",
		Of: func(r *Run) any { return &r.Multicast },
		Columns: []Column{{Name: "multicast", Unit: "true/false", Is: "whether a broadcast is one publish",
			Cell: func(r *Run, _ bool) any { return r.Multicast }}}},
	{Name: "duration", Group: Running, Common: true, Usage: "how long to measure", Says: silent,
		Of:    func(r *Run) any { return &r.Duration },
		Words: func(r *Run) string { return given(r.Entries == 0, r.Duration) },
		Columns: []Column{{Name: DurationColumn, Unit: "s", Is: "how long to measure",
			Empty: "a number of entries was asked for",
			Cell:  func(r *Run, _ bool) any { return known(r.Entries == 0, r.Duration.Seconds()) }}}},
	{Name: "warmup", Group: Running, For: Exclusion, Says: silent, Always: true,
		Usage: "how long to run before measuring (default a tenth of --duration, at most 1s, and then until each " +
			"client that asks has entered twice, at most 10s)",
		Of: func(r *Run) any { return &r.Warmup },
		Columns: []Column{
			{Name: "warmup_s", Unit: "s", Is: "least length of the warm-up",
				Cell: func(r *Run, _ bool) any { return figure.Number(r.Warmup.Seconds()) }},
			{Name: LimitColumn, Unit: "s", Is: "how far clients may extend the warm-up", Empty: "not at all",
				Cell: func(r *Run, _ bool) any { return known(r.WarmsUpTo() > 0, r.WarmsUpTo().Seconds()) }}}},
	{Name: "entries", Group: Running, For: Exclusion, Common: true,
		Usage: "end after so many entries, not after --duration",
		Says:  silent, Of: func(r *Run) any { return &r.Entries },
		Columns: []Column{{Name: EntriesColumn, Unit: "entries", Is: "how many entries to make",
			Empty: "a duration was asked for",
			Cell:  func(r *Run, _ bool) any { return known(r.Entries > 0, float64(r.Entries)) }}}},
	{Name: "trials", Group: Running,
		Usage: "how many times to run, each with a seed and nodes of its own",
		Of:    func(r *Run) any { return &r.Trials }, Words: silent},
	{Name: "seed", Group: Running, Common: true, Usage: "seed of all that is random (default a fresh one)",
		Of: func(r *Run) any { return &r.Seed }, Always: true, Says: silent},
	{Name: "trace", Group: Running,
		Usage: "record up to a million messages of each node, not only the latest, for diagram and export " +
			"(docs/sets.md has what it costs)",
		Of: func(r *Run) any { return &r.Trace }, Says: silent},
	{Name: "patience", Group: Running, Real: true, Says: silent,
		Usage: "how long nothing may move while somebody waits, before the run is looked at for a stall",
		Of:    func(r *Run) any { return &r.Patience },
		Columns: []Column{{Name: "patience_s", Unit: "s",
			Is:    "how long nothing may move before a real run is examined for a stall",
			Empty: simulated, Cell: func(r *Run, real bool) any { return known(real, r.Patience.Seconds()) }}}},
	{Name: "nats", Group: Network, Real: true, Says: silent,
		Usage: "`URL` of a NATS server to use (default one of the run's own)",
		Of:    func(r *Run) any { return &r.NATS },
		Columns: []Column{{Name: "nats", Unit: "text", Is: "address of an external server",
			Empty: "the run had its own"}}},
	{Name: "proxies", Group: Network, Real: true,
		Usage: "run the connections of nodes and brokers through TCP proxies, even if no fault needs that",
		Of:    func(r *Run) any { return &r.Proxies },
		Columns: []Column{{Name: "proxies", Unit: "true/false", Is: "whether connections run through proxies",
			Cell: func(r *Run, _ bool) any { return r.Proxies }}}},
	{Name: "resource", Group: Running, For: Exclusion, Real: true,
		Usage: "`kind` of shared resource: file, which all nodes map into memory, or process, which nodes send " +
			"requests to (default file)",
		Of: func(r *Run) any { return &r.Resource },
		Columns: []Column{{Name: ResourceColumn, Unit: "word",
			Is:    "where clients find what they share: `file` or `process`",
			Empty: simulated, Cell: func(r *Run, real bool) any {
				return given(real, text(cmp.Or(r.Resource, ResourceFile)))
			}}}},
	{Name: "fault", Elsewhere: true, Words: silent,
		Says: func(r *Run) string { return strings.Join(r.FaultTexts(), ", ") },
		Columns: []Column{{Name: FaultsColumn, Unit: "text", Is: "the faults in words", Empty: "none was asked for",
			Cell: func(r *Run, _ bool) any { return strings.Join(r.FaultTexts(), "; ") }}}},
}

// known returns the number x if a condition holds, and otherwise an unknown figure.
func known(is bool, x float64) (f figure.Figure) {
	if is {
		f = figure.Number(x)
	}
	return f
}

// given returns the text of a value if a condition holds, and otherwise "".
func given(is bool, value interface{ String() string }) string {
	if !is {
		return ""
	}
	return value.String()
}

type text string

func (t text) String() string { return string(t) }

type number int

func (n number) String() string { return strconv.Itoa(int(n)) }

// silent returns "".
func silent(*Run) string { return "" }

// under returns a function that returns the value of an option under one load, and "" under other loads.
func under(load workload.Load) func(*Run) string {
	return func(r *Run) string {
		switch {
		case r.Workload.Load != load:
			return ""
		case load == workload.Open:
			return strconv.FormatFloat(r.Workload.Rate, 'g', -1, 64)
		}
		return r.Workload.Think.String()
	}
}

// count returns a function that writes a number of things as text, or "" if the number is below a limit.
func count(from int, one, many string, of func(*Run) int) func(*Run) string {
	return func(r *Run) string {
		if n := of(r); n >= from {
			return english.Count(n, one, many)
		}
		return ""
	}
}

// initiators returns which nodes campaign when a run about leaders begins.
func initiators(r *Run) string {
	return string(cmp.Or(r.Workload.Initiators, workload.AllInitiate))
}
