package compare

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/foreign"
	"turnstile/results"
)

// A maker makes trials of an experiment: eight, unless n is set.
type maker struct {
	algorithm string
	nodes     int
	n         int
	wait      float64 // the mean of wait_us_p99
	change    func(t *Observation)
}

func (m maker) trials(dice *rand.Rand) (all []Observation) {
	for i := range cmp.Or(m.n, 8) {
		t := Observation{Machine: "two cores", Row: results.Row{Run: m.algorithm, Trial: i + 1, Version: "v1",
			Seed: dice.Uint64(), Asked: results.Asked{Kind: "bench", Algorithm: m.algorithm, Nodes: cmp.Or(m.nodes, 8),
				Cells: map[string]any{"load": "saturated", "latency": "constant:1ms"}},
			Figures: measure.Figures{WaitUSP99: figure.Number(math.Round(10*m.wait*(1+dice.Float64()/10)) / 10),
				EntriesPerS: figure.Number(1e6 / m.wait * (1 + dice.Float64()/10)), MessagesPerEntry: figure.Number(14)},
			Verdict: "valid"}}
		if m.change != nil {
			m.change(&t)
		}
		all = append(all, t)
	}
	return all
}

// sideOf returns the trials of some experiments as a side.
func sideOf(name string, makers ...maker) Side {
	dice := rand.New(rand.NewPCG(1, uint64(len(name))))
	s := Side{Name: name}
	for _, m := range makers {
		s.Trials = append(s.Trials, m.trials(dice)...)
	}
	return s
}

// says returns a short form of a line.
func (l *Line) says() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", l.Metric, l.Where, l.Group, l.Verdict, l.Reason))
}

func saysOf(c *Comparison) (all []string) {
	for i := range c.Lines {
		all = append(all, strings.Join(strings.Fields(c.Lines[i].says()), " "))
	}
	return all
}

func TestGroupsByAlgorithm(t *testing.T) {
	tree := func(t *Observation) { t.Options = map[string]string{"tree": "star"} }
	set := sideOf("lan", maker{algorithm: "ricart-agrawala", wait: 100},
		maker{algorithm: "raymond", wait: 150, change: tree},
		maker{algorithm: "suzuki-kasami", wait: 70}, maker{algorithm: "maekawa", wait: 100})
	c, err := Compare(Request{By: "algorithm", Against: "ricart"}, set)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"entries_per_s raymond worse", "entries_per_s suzuki-kasami better",
		"entries_per_s maekawa ~ no significant difference",
		"messages_per_entry raymond ~ all trials have the same figure",
		"messages_per_entry suzuki-kasami ~ all trials have the same figure",
		"messages_per_entry maekawa ~ all trials have the same figure",
		"wait_us_p99 raymond worse", "wait_us_p99 suzuki-kasami better",
		"wait_us_p99 maekawa ~ no significant difference"}
	if got := saysOf(c); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(c.Differ) != 1 || c.Differ[0].Name != "tree" {
		t.Errorf("they differ in %v", c.Differ)
	}
	l := c.Lines[6]
	p, _ := l.P.Value()
	holm, _ := l.PHolm.Value()
	if l.Comparisons != 3 || !near(p, stats.LeastP(8, 8)) || !near(holm, 3*p) {
		t.Errorf("p is %v, and %v corrected for %d comparisons", p, holm, l.Comparisons)
	}
	if l.Baseline != "ricart-agrawala" || l.BaselineTrials != 8 {
		t.Errorf("the baseline is %s, with %d trials", l.Baseline, l.BaselineTrials)
	}
	if c, err = Compare(Request{By: "algorithm", Against: "raymond"}, set); err != nil ||
		!slices.Equal(c.Differ[0].Values, []string{"star", "(none)", "(none)", "(none)"}) {
		t.Errorf("the values are not in the order of the groups, the baseline first: %v, %v", c.Differ, err)
	}
	set.Trials = set.Trials[8:] // without ricart-agrawala; the first group left is the baseline
	if c, err = Compare(Request{By: "algorithm"}, set); err != nil || c.Lines[0].Baseline != "raymond" {
		t.Errorf("against %s: %v", c.Lines[0].Baseline, err)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 } // figures are rounded

func busy(t *Observation) { t.CPUBusy = figure.Number(0.95) }

// A comparison says why groups cannot be ranked.
func TestReasons(t *testing.T) {
	simulate := func(t *Observation) { t.Kind, t.Machine = "simulate", "" }
	bound := func(t *Observation) { t.WaitUSP99 = figure.AtLeast(500) }
	for want, change := range map[string]func(t *Observation){
		"too few trials: 3 and 3; 4 of each would do for 1 comparison": func(t *Observation) {
			if t.Trial > 3 {
				t.Verdict = "inconclusive"
			}
		},
		"no valid trial of b": func(t *Observation) { t.Verdict = "violated" },
		"not measured in b":   func(t *Observation) { t.WaitUSP99 = figure.Figure{} },
		"in 8 of 8 trials of b only a lower bound is known":          bound,
		"CPU-bound in 8 of 8 trials of b: its delays are not ranked": busy,
		"the 8 simulated trials of b are identical, since nothing in them is random": func(t *Observation) {
			simulate(t)
			t.Figures = measure.Figures{WaitUSP99: figure.Number(7), EntriesPerS: figure.Number(3)}
		},
		"": func(*Observation) {},
	} {
		set := sideOf("set", maker{algorithm: "a", wait: 100, change: func(t *Observation) {
			switch {
			case strings.HasSuffix(want, "nothing in them is random"):
				simulate(t)
			case strings.HasPrefix(want, "too few"):
				change(t)
			}
		}}, maker{algorithm: "b", wait: 200, change: change})
		c, err := Compare(Request{By: "algorithm", Metrics: []results.Column{"wait_us_p99"}}, set)
		if err != nil {
			t.Fatal(err)
		}
		l := c.Lines[0]
		if l.Reason != want || (l.Verdict == unshown) != (want != "") {
			t.Errorf("%s because of %q, not %q", l.Verdict, l.Reason, want)
		}
		if untested := want != "" && !strings.HasPrefix(want, "too few"); untested == l.P.Known() {
			t.Errorf("%q, and p is %v", want, l.P)
		}
	}
}

// Throughput of a CPU-bound run is ranked, since it is what the CPUs could do.
func TestThroughputIsRankedWhereDelaysAreNot(t *testing.T) {
	set := sideOf("set", maker{algorithm: "a", wait: 100, change: busy},
		maker{algorithm: "b", wait: 200, change: busy})
	c, err := Compare(Request{By: "algorithm"}, set)
	if err != nil || c.Lines[0].Verdict != isWorse || c.Groups[0].CPUBound != 8 {
		t.Errorf("%v: %+v", err, c)
	}
}

func TestOnlyValidTrialsAndEachSeedOnce(t *testing.T) {
	repeats := func(t *Observation) {
		t.Kind = "simulate"
		t.Seed = uint64(t.Trial % 7)
		if t.Trial == 3 {
			t.Verdict = "overloaded"
		}
	}
	set := sideOf("set", maker{algorithm: "a", wait: 100}, maker{algorithm: "b", wait: 200, change: repeats})
	c, err := Compare(Request{By: "algorithm", Unlike: true}, set)
	if err != nil {
		t.Fatal(err)
	}
	if b := c.Groups[1]; b.Valid != 6 || b.Repeated != 1 || b.Others["overloaded"] != 1 || len(b.Others) != 1 {
		t.Errorf("%+v", b)
	}
}

// fits reports whether an error contains want; want "": no error.
func fits(err error, want string) bool {
	return err == nil && want == "" || err != nil && want != "" && strings.Contains(err.Error(), want)
}

func TestWhatCannotBeGrouped(t *testing.T) {
	set := sideOf("lan", maker{algorithm: "a", wait: 100}, maker{algorithm: "b", wait: 100},
		maker{algorithm: "b", nodes: 16, wait: 100})
	for _, test := range []struct {
		r    Request
		want string // contained in the error; empty: no error
	}{
		{Request{By: "algorithm"},
			"differ in more than algorithm:\n  nodes: 8, 16\nchoose trials with --where 'nodes:\"8\"'"},
		{Request{By: "algorithm", Where: []string{`nodes:"8"`}}, ""},
		{Request{By: "algorithm", Where: []string{"nodes:16"}}, "all trials of lan have algorithm=b"},
		{Request{By: "algorithm", Where: []string{"nodes:9"}},
			"no trial of lan matches; there are:\n  algorithm: a, b\n  nodes: 8, 16"},
		{Request{By: "algorithm", Unlike: true}, "such columns if each group has a single value in each of them"},
		{Request{By: "nodes"}, "differ in more than nodes:\n  algorithm: a, b\n"},
		{Request{By: "nodes", Where: []string{"algorithm:b -latency:/^u/"}}, ""},
		{Request{By: "nodes", Where: []string{"algorithm:b"}, Against: "18"},
			"--against: no trial has nodes=18: did you mean 16?"},
		{Request{By: "nodes@(16 32)"}, "all trials of lan have nodes@(16 32)=16"},
		{Request{By: "algorithm nodes", Where: []string{"algorithm:a OR nodes:16"}}, ""},
		{Request{By: "tree"}, "all trials of lan have tree=(none)"},
		{Request{By: "run", Where: []string{"nodes:8"}}, "  algorithm: a, b\nchoose trials"},
		{Request{By: "run", Where: []string{"nodes:8"}, Unlike: true}, ""},
		{Request{By: "algorithm", Where: []string{"nods:8"}},
			"--where: there is no column \"nods\": did you mean nodes"},
		{Request{By: "algorithm", Where: []string{"nodes=8"}}, "--where: syntax error: expected key:value"},
		{Request{By: "algorithm", Where: []string{`latency:"a:1" wait_us_p99:5`}},
			"wait_us_p99 is a result of a run and not an option"},
		{Request{By: "replicas"}, "--by: there is no column"},
		{Request{By: "nodes@size"}, "--by: syntax error: unknown order"},
	} {
		if _, err := Compare(test.r, set); !fits(err, test.want) {
			t.Errorf("%+v: %v", test.r, err)
		}
	}
	if _, err := Compare(Request{By: "nodes"}, Side{Name: "lan"}); !fits(err, "lan has no trials") {
		t.Errorf("of no trials: %v", err)
	}
}

// Groups come in the order of their trials, or sorted if asked for.
func TestOrderOfGroups(t *testing.T) {
	set := sideOf("set", maker{algorithm: "a", nodes: 16, wait: 1}, maker{algorithm: "a", nodes: 8, wait: 1})
	for by, want := range map[string]string{"nodes": "16", "nodes@num": "8", "nodes@(16 8)": "16"} {
		if c, err := Compare(Request{By: by}, set); err != nil || c.Groups[0].Name != want {
			t.Errorf("by %s: %+v, %v", by, c, err)
		}
	}
}

// An option can be named alone or, as in files, with its algorithm.
func TestGroupsByOption(t *testing.T) {
	tree := func(is string) func(t *Observation) {
		return func(t *Observation) { t.Options = map[string]string{"tree": is} }
	}
	set := sideOf("lan", maker{algorithm: "raymond", wait: 100, change: tree("line")},
		maker{algorithm: "raymond", wait: 200, change: tree("star")})
	for _, by := range []string{"tree", "raymond_tree"} {
		c, err := Compare(Request{By: by, Where: []string{by + ":(star OR line)"}}, set)
		if err != nil || len(c.Groups) != 2 || c.Groups[0].Name != "line" {
			t.Errorf("by %s: %+v, %v", by, c, err)
		}
	}
}

func TestSides(t *testing.T) {
	far := func(t *Observation) { t.Cells["latency"] = "constant:9ms" }
	newer := func(t *Observation) { t.Version, t.Nodes = "v2", 16 }
	lan := sideOf("lan", maker{algorithm: "a", wait: 100}, maker{algorithm: "b", wait: 120},
		maker{algorithm: "c", wait: 1})
	wan := sideOf("wan", maker{algorithm: "b", wait: 240, change: far},
		maker{algorithm: "a", wait: 200, change: far})
	c, err := Compare(Request{Metrics: []results.Column{"wait_us_p99", "elect_us_p50"}}, lan, wan)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"wait_us_p99 algorithm=a wan worse", "wait_us_p99 algorithm=b wan worse"}
	if got := saysOf(c); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if c.Lines[0].Comparisons != 2 || !slices.Equal(c.Alone, []string{"lan: algorithm=c"}) ||
		!slices.Equal(c.Unmeasured, []results.Column{"elect_us_p50"}) || c.Differ[0].Name != "latency" {
		t.Errorf("%+v", c)
	}
	bad := func(t *Observation) { far(t); t.Verdict = "violated" }
	wan.Trials = append(wan.Trials, sideOf("wan", maker{algorithm: "d", wait: 1, change: bad}).Trials...)
	if c, err = Compare(Request{Metrics: []results.Column{"entries_per_s"}}, lan, wan); err != nil {
		t.Fatal(err)
	}
	if outcome, says := c.Above(1, "100%"); outcome != check.Violated ||
		!strings.Contains(says, "8 trials of algorithm=d: wan violated") {
		t.Errorf("with violated trials of wan alone: %v, %s", outcome, says)
	}
	if c, err = Compare(Request{Metrics: []results.Column{"entries_per_s"}}, wan, lan); err != nil {
		t.Fatal(err)
	}
	if outcome, says := c.Above(10, "1000%"); outcome != check.Inconclusive {
		t.Errorf("with violated trials of the baseline alone: %v, %s", outcome, says)
	}
	for _, test := range []struct {
		a, b Side
		r    Request
		want string
	}{
		{lan, sideOf("new", maker{algorithm: "a", wait: 1, change: newer}), Request{},
			"the two sides differ in columns that must be equal:\n" +
				"  version: v1 and v2\n  nodes: 8 and 16\n--unlike compares"},
		{lan, sideOf("new", maker{algorithm: "a", wait: 1, change: newer}), Request{Unlike: true}, ""},
		{lan, sideOf("other", maker{algorithm: "d", wait: 1}), Request{},
			"no experiment of lan agrees with one of other: the two sides differ in columns that must be equal:\n" +
				"  algorithm: a, b, c and d\nchoose one of each by --where"},
		{sideOf("one", maker{algorithm: "a", wait: 1}), sideOf("other", maker{algorithm: "d", wait: 1}), Request{},
			""},
		{lan, Side{Name: "nothing"}, Request{}, "nothing has no trials"},
	} {
		_, err := Compare(test.r, test.a, test.b)
		if !fits(err, test.want) {
			t.Errorf("%s and %s: %v", test.a.Name, test.b.Name, err)
		}
	}
}

func TestDefaultsOfLeaders(t *testing.T) {
	elect := func(t *Observation) {
		t.Cells["load"] = "campaign"
		t.Figures = measure.Figures{ElectUSP50: t.WaitUSP99, ElectUSMax: t.WaitUSP99, Messages: t.EntriesPerS}
	}
	c, err := Compare(Request{By: "algorithm"}, sideOf("set", maker{algorithm: "a", wait: 100, change: elect},
		maker{algorithm: "b", wait: 200, change: elect}))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"elect_us_p50 b worse", "elect_us_max b worse", "messages b lower"}
	if got := saysOf(c); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestNamesOfMetrics(t *testing.T) {
	for name, want := range map[string]string{
		"wait_us_p99": "", "wait_us_p98": "did you mean wait_us_p90, wait_us_p99",
		"algorithm": "there is no figure",
	} {
		if _, err := Metrics(name); !fits(err, want) {
			t.Errorf("figure %s: %v", name, err)
		}
	}
	if _, err := Metrics("messages", "messages"); err == nil {
		t.Error("a metric may be named twice")
	}
	for _, m := range append(slices.Concat(defaults...), moreIsBetter...) {
		if _, err := Metrics(string(m)); err != nil {
			t.Error(err)
		}
	}
	for _, begin := range lessIsBetter {
		begins := func(f string) bool { return strings.HasPrefix(f, begin) }
		if !slices.ContainsFunc(results.FigureColumns(), begins) {
			t.Errorf("no metric begins with %s", begin)
		}
	}
}

// ofService makes trials of a service with some number of servers.
func ofService(members, durable string) maker {
	return maker{algorithm: "nats-kv", wait: 100, change: func(t *Observation) {
		t.Options = map[string]string{foreign.ServiceOption: "nats-kv", "members": members, "durable": durable,
			"server-version": "2.15.2", foreign.PromisesOption: "safe=no-pause+" + members, foreign.KindsOption: ""}
	}}
}

// Two trials of a service with different options belong to different experiments. So do trials of two foreign
// programs.
func TestOptionsOfServicesTellTrialsApart(t *testing.T) {
	one, three, durable := ofService("1", "off"), ofService("3", "off"), ofService("1", "on")
	program := func(command string) maker {
		return maker{algorithm: foreign.Name, wait: 100, change: func(t *Observation) {
			t.Options = map[string]string{foreign.CommandOption: command, foreign.PromisesOption: "safe=" + command}
		}}
	}
	for _, c := range []struct {
		side Side
		r    Request
		want string // of the error
	}{
		{sideOf("members", one, three), Request{By: "members"}, ""},
		{sideOf("members", one, three), Request{By: "nats_kv_members"}, ""},
		{sideOf("both", one, three, durable), Request{By: "members"}, "durable: off, on"},
		{sideOf("both", one, three, durable),
			Request{By: "members", Where: []string{"durable:off"}}, ""},
		{sideOf("alone", one, maker{algorithm: "maekawa", wait: 200}), Request{By: "algorithm"}, ""},
		{sideOf("mixed", one, three, maker{algorithm: "maekawa", wait: 200}), Request{By: "algorithm"},
			"members: 1, 3"},
		{sideOf("programs", program("./a"), program("./b")), Request{By: "foreign", Unlike: true}, ""},
		{sideOf("programs", program("./a"), program("./b")), Request{By: "foreign"}, "promises"},
	} {
		made, err := Compare(c.r, c.side)
		if !fits(err, c.want) {
			t.Errorf("%s by %s: %v", c.side.Name, c.r.By, err)
		}
		if err == nil && (len(made.Groups) != 2 || made.Groups[0].Valid != 8) {
			t.Errorf("%s by %s: %d groups", c.side.Name, c.r.By, len(made.Groups))
		}
	}
	made, err := Compare(Request{}, sideOf("a", one, three), sideOf("b", one, three))
	if err != nil || len(made.Groups) != 4 {
		t.Errorf("two experiments of each side: %+v, %v", made, err)
	}
}

// trialsAt returns valid trials of processes with given throughputs.
func trialsAt(rates ...float64) (all []Observation) {
	for i, r := range rates {
		t := Observation{Row: results.Row{Seed: uint64(i), Verdict: "valid"}}
		t.Kind, t.EntriesPerS, t.WaitUSP99 = "bench", figure.Number(r), figure.Number(1e6/r)
		all = append(all, t)
	}
	return all
}

// Neighbouring groups tie unless a difference is shown; groups that cannot be ranked come last.
func TestRank(t *testing.T) {
	fast := trialsAt(110, 111, 112, 113, 114, 115)
	same := trialsAt(109, 110.5, 111.5, 112.5, 113.5, 114.5)
	slow := trialsAt(50, 51, 52, 53, 54, 55)
	bound := trialsAt(200, 201, 202, 203, 204, 205)
	for i := range bound {
		bound[i].CPUBusy = figure.Number(0.99)
	}
	broken := trialsAt(900)
	broken[0].Verdict = "violated"
	groups := []*Group{GroupOf("slow", slow), GroupOf("broken", broken), GroupOf("same", same),
		GroupOf("fast", fast), GroupOf("bound", bound)}
	for metric, want := range map[results.Column]string{
		"entries_per_s": "[bound 1] [fast 2] [same 2] [slow 4] [broken 0]",
		"wait_us_p99":   "[fast 1] [same 1] [slow 3] [bound 0] [broken 0]",
	} {
		got := ""
		for _, p := range Rank(metric, groups) {
			got += fmt.Sprintf(" [%s %d]", p.Name, p.Rank)
		}
		if got[1:] != want {
			t.Errorf("by %s: %s, want %s", metric, got[1:], want)
		}
	}
}

// If trials sent heartbeats, a comparison also has a line for messages including heartbeats.
func TestHeartbeatsCountAsMessages(t *testing.T) {
	with := func(heartbeats figure.Figure) func(*Observation) {
		return func(t *Observation) {
			t.Heartbeats, t.EntriesAccepted = heartbeats, figure.Number(10)
			t.Complete()
		}
	}
	for _, c := range []struct {
		heartbeats figure.Figure
		want       string
	}{
		{figure.Number(900), "messages_per_entry ~, all_messages_per_entry worse"},
		{figure.Figure{}, "messages_per_entry ~"},
	} {
		made, err := Compare(Request{},
			sideOf("b", maker{algorithm: "maekawa", wait: 100, change: with(figure.Figure{})}),
			sideOf("a", maker{algorithm: "maekawa", wait: 100, change: with(c.heartbeats)}))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range made.Lines {
			if strings.Contains(string(l.Metric), "messages") && l.Group == "a" {
				got = append(got, string(l.Metric)+" "+l.Verdict)
			}
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s, want %s", all, c.want)
		}
	}
}
