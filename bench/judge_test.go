package bench

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// An unfairServer withholds a request of the last node from the coordinator while others wait or are inside.
type unfairServer struct {
	nodes.Machine
	others int // requests of other clients that are not over
	kept   nodes.Message
}

func (u *unfairServer) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	last := nodes.ID(env.N() - 1)
	asks := fmt.Sprintf("%T", m) == "mutex.centralRequest"
	switch {
	case from == last && asks && u.others > 0:
		u.kept = m
		return
	case from != last && asks:
		u.others++
	case from != last:
		u.others--
	}
	u.Machine.Receive(env, from, m)
	if u.kept != nil && u.others == 0 {
		u.Machine.Receive(env, last, u.kept)
		u.kept = nil
	}
}

// unfairCentral is the central algorithm with an unfairServer.
func unfairCentral(t *testing.T) *algorithm.Algorithm {
	algo, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	unfair := *algo
	unfair.NewServer = func(c nodes.Config, id nodes.ID) nodes.Machine {
		return &unfairServer{Machine: algo.NewServer(c, id)}
	}
	return &unfair
}

// judged makes a simulated run, and returns the finding of the check of fairness, judged as a simulated run
// and as a run of processes.
func judged(t *testing.T, o Options, algo *algorithm.Algorithm) (virtual, real check.Finding) {
	t.Helper()
	as := func(simulated bool) Judgement {
		j := drafted(t, algo, o, simulated)
		return j.Judge(history.Header{}, j.Setting(nil))
	}
	a, b := as(true), as(false)
	if _, err := sim.Run(*simulated(t, o, algo), a, b); err != nil {
		t.Fatal(err)
	}
	fairness := func(j Judgement) (f check.Finding) {
		for _, f = range j.Checks.Verdict().Findings {
			if f.Check == "fairness" {
				break
			}
		}
		return f
	}
	return fairness(a), fairness(b)
}

// loads returns runs of three seconds of virtual time.
func loads() map[string]Options {
	o := option.Defaults()
	o.Config.N = 5
	o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(time.Millisecond)
	closed := o
	closed.Workload.Load, closed.Workload.Think = workload.Closed, chance.Constant(3*time.Millisecond)
	return map[string]Options{"saturated": o, "closed": closed}
}

// A coordinator that always serves the last node last is found unfair, simulated and real.
func TestOneThatIsAlwaysLastIsNoticed(t *testing.T) {
	algo := unfairCentral(t)
	for name, o := range loads() {
		simulated, real := judged(t, o, algo)
		if simulated.Outcome != check.Violated || real.Outcome != check.Violated {
			t.Errorf("%s: simulated %v: %s\nreal %v: %s", name, simulated.Outcome, simulated.Says,
				real.Outcome, real.Says)
		}
	}
}

// Under any load and network, no sound algorithm is found unfair.
func TestNoAlgorithmIsCalledUnfair(t *testing.T) {
	t.Parallel()
	distribution := func(text string) (d chance.Distribution) {
		if err := d.Set(text); err != nil {
			t.Fatal(err)
		}
		return d
	}
	cases := loads()
	change := func(name string, f func(o *Options)) {
		o := option.Defaults()
		o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), distribution("50us")
		f(&o)
		cases[name] = o
	}
	change("short holds", func(*Options) {})
	change("no latency", func(o *Options) {
		o.Latency, o.Duration, o.Workload.Hold = chance.Distribution{}, time.Millisecond,
			distribution("200ns")
		o.Warmup = 0
	})
	change("one", func(o *Options) { o.Workload.Load = workload.One })
	change("sequential", func(o *Options) { o.Workload.Load = workload.Sequential })
	change("open, few clients", func(o *Options) {
		o.Config.N, o.Workload.Load, o.Workload.Rate = 2, workload.Open, 200
	})
	change("uneven latency", func(o *Options) { o.Latency = distribution("log-normal:1ms,40ms") })
	change("long latency", func(o *Options) { o.Latency = chance.Constant(400 * time.Millisecond) })
	change("regions", func(o *Options) {
		near, far := chance.Constant(time.Millisecond), distribution("exponential:90ms")
		o.Regions = chaos.Regions{Names: []string{"a", "b", "c"},
			Latency: [][]chance.Distribution{{near, near, far}, {near, near, far}, {far, far, near}}}
	})
	every, at := soak.Pick(3, 2, 1), 0
	for name, o := range cases {
		for _, algo := range mutex.Table {
			if at++; algo.Flaw != nil || at%every > 0 {
				continue
			}
			if simulated, real := judged(t, o, algo); simulated.Outcome+real.Outcome != check.Valid {
				t.Errorf("%s, %s: simulated %v: %s\nreal %v: %s", algo.Name, name, simulated.Outcome,
					simulated.Says, real.Outcome, real.Says)
			}
		}
	}
}

// A load demands all units of a resource only if each client requests again at once, the sizes of requests
// divide the capacity, holds are long, and there is one resource: with several, too few clients may want the
// same one.
func TestLoadsThatDemandAllUnits(t *testing.T) {
	ms := chance.Constant(time.Millisecond)
	for name, test := range map[string]struct {
		change func(o *Options)
		fills  bool
	}{
		"all":               {func(*Options) {}, true},
		"short holds":       {func(o *Options) { o.Workload.Hold = ms }, false},
		"clients think":     {func(o *Options) { o.Workload.Load, o.Workload.Think = workload.Closed, ms }, false},
		"sizes differ":      {func(o *Options) { o.Workload.Take = workload.Take{Least: 1, Most: 3} }, false},
		"one unit is left":  {func(o *Options) { o.Workload.Take = workload.Take{Least: 2, Most: 2} }, false},
		"several resources": {func(o *Options) { o.Resources = 4 }, false},
	} {
		spec, err := (catalog.Table{}).Find("multi-copy")
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Algorithm, o.Config, o.Latency = spec.Name, nodes.Config{N: 5, Units: 3}, ms
		o.Workload.Hold = chance.Constant(100 * time.Millisecond)
		test.change(&o)
		j, err := Resolve(catalog.Table{}, o, spec, true)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, network := check.SettingOf(j.Stack), j.Network()
		s.Delay, s.Bounded = network.Bound()
		if got := j.fills(&s); got != test.fills {
			t.Errorf("%s: the load demands all units: %v", name, got)
		}
	}
}

// If the exact number of messages of a run's entries is known, the run is held to it: in Naimi-Trehel with
// one request at a time, in Raymond's algorithm under any load.
func TestRunsAreHeldToExactCosts(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		load      workload.Load
		exact     bool
	}{
		{"naimi-trehel", workload.Sequential, true},
		{"naimi-trehel", workload.Saturated, false},
		{"raymond", workload.Saturated, true},
		{"maekawa", workload.Saturated, false},
	} {
		algo, err := mutex.Find(c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Algorithm, o.Workload.Load, o.Entries, o.Duration = c.algorithm, c.load, 500, 0
		o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(time.Millisecond)
		job := drafted(t, algo, o, true)
		j := job.Judge(history.Header{}, job.Setting(nil))
		if _, err := sim.Run(*simulated(t, o, algo), j); err != nil {
			t.Fatal(err)
		}
		for _, f := range j.Checks.Verdict().Findings {
			if f.Check == "cost" && (f.Outcome != check.Valid || strings.Contains(f.Says,
				"exactly") != c.exact) {
				t.Errorf("%s, %s: %v: %s", c.algorithm, c.load, f.Outcome, f.Says)
			}
		}
	}
}

// In these runs of Ricart-Agrawala a request is several messages. Without a think time, a client requests
// again at the time of its exit; the replies that it deferred leave at the same time, but before the request.
func TestInversionsAreThoseOfADirectCount(t *testing.T) {
	known := []int{6, 4, 5, 5}
	for seed := uint64(1); seed <= 12; seed++ {
		o := option.Defaults()
		o.Algorithm, o.Config = "ricart-agrawala", nodes.Config{N: 3}.With("priority", "id")
		o.Duration, o.Entries, o.Trace, o.Seed = 0, 12, true, seed
		o.Latency = exponential(t, "2ms")
		o.Workload.Hold, o.Workload.Load = exponential(t, "1ms"), workload.Closed
		if seed <= 4 {
			o.Workload.Think = exponential(t, "2ms")
		}
		algorithm, err := mutex.Find(o.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		job := drafted(t, algorithm, o, true)
		j, seen := job.Judge(history.Header{}, job.Setting(nil)), &history.History{}
		if _, err := sim.Run(*simulated(t, o, algorithm), j, seen); err != nil {
			t.Fatal(err)
		}
		want := directInversions(seen, job.Stack)
		if seed <= 4 && want != known[seed-1] {
			t.Errorf("seed %d: counted directly, there are %d inversions, not %d", seed, want, known[seed-1])
		}
		if got := j.Measures.Measures.OrderInversions; got != figure.Count(uint64(want)) {
			t.Errorf("seed %d: %v inversions, not %d", seed, got, want)
		}
	}
}

func exponential(t *testing.T, mean string) chance.Distribution {
	t.Helper()
	return parsed(t, "exponential:"+mean)
}

func parsed(t *testing.T, text string) chance.Distribution {
	t.Helper()
	d, err := chance.ParseDistribution(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A seenStep is an event of a node, or a message that it has sent or handled.
type seenStep struct {
	at int64
	history.Event
	history.MessageRecord
}

// directInversions counts inversions by keeping the set of requests that each node knows. A message carries
// the set of its sender at the time it leaves. A request comes before the first message of the kind request
// that leaves at the time of the request.
func directInversions(h *history.History, stack *algorithm.Stack) (count int) {
	var steps []seenStep
	for _, l := range h.Logs {
		var mine []seenStep
		for _, m := range l.Trace {
			mine = append(mine, seenStep{at: m.At, MessageRecord: m})
		}
		for _, e := range h.Events {
			if e.Node != l.Node || e.Node < 0 {
				continue
			}
			at := 0
			for at < len(mine) && (mine[at].at < e.At || mine[at].at == e.At && e.Kind == history.Requested &&
				!(mine[at].Sent && stack.Codec().Name(int(mine[at].MessageRecord.Kind)) == "request")) {
				at++
			}
			mine = slices.Insert(mine, at, seenStep{at: e.At, Event: e})
		}
		steps = append(steps, mine...)
	}
	slices.SortStableFunc(steps, func(a, b seenStep) int { return cmp.Compare(a.at, b.at) })

	type request struct {
		node  nodes.ID
		entry uint32
	}
	knows := map[nodes.ID]map[request]bool{}
	for id := range stack.Total() {
		knows[nodes.ID(id)] = map[request]bool{}
	}
	told, before, waits := map[uint32]map[request]bool{}, map[request]map[request]bool{}, map[request]bool{}
	for _, s := range steps {
		m, r := s.MessageRecord, request{s.Event.Node, s.Entry}
		switch {
		case m.Seq > 0 && m.Sent:
			told[m.Seq] = maps.Clone(knows[m.Node])
		case m.Seq > 0:
			maps.Copy(knows[m.Node], told[m.Seq])
		case s.Event.Kind == history.Requested:
			before[r], waits[r] = maps.Clone(knows[r.node]), true
			knows[r.node][r] = true
		case s.Event.Kind == history.Entered:
			delete(waits, r)
			for other := range waits {
				if before[r][other] {
					count++
				}
			}
		}
	}
	return count
}

// The time that a textbook implementation waits is known if messages and holds are bounded.
func TestSilenceOfTextbooks(t *testing.T) {
	ms := chance.Constant(time.Millisecond)
	regions, exponential := chaos.Regions{Names: []string{"here"}}, chance.Distribution{}
	if err := exponential.Set("exponential:1ms"); err != nil {
		t.Fatal(err)
	}
	uniform := chance.Distribution{}
	if err := uniform.Set("uniform:1ms,3ms"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		algorithm     string
		latency, hold chance.Distribution
		regions       chaos.Regions
		want          string
	}{
		{"token-ring-regenerating", ms, ms, chaos.Regions{}, "0.02"},
		{"token-ring-regenerating", uniform, chance.Distribution{}, chaos.Regions{}, "0.03"},
		{"token-ring-regenerating", chance.Distribution{}, ms, chaos.Regions{}, ""},
		{"token-ring-regenerating", exponential, ms, chaos.Regions{}, ""},
		{"token-ring-regenerating", ms, exponential, chaos.Regions{}, ""},
		{"token-ring-regenerating", ms, ms, regions, ""},
		{"suzuki-kasami-ft", ms, ms, chaos.Regions{}, ""},
	} {
		algo, err := mutex.Find(test.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Config: nodes.Config{N: 5}, Latency: test.latency, Regions: test.regions}
		o.Workload.Hold = test.hold
		if got := drafted(t, algo, o, true).Silence().String(); got != test.want {
			t.Errorf("%s, latency %v, hold %v: %q, want %q", test.algorithm, test.latency, test.hold, got, test.want)
		}
	}
}

// storeTurns stores a history of entries, which nodes make in turn.
func storeTurns(t *testing.T, path string, n, entries int) {
	t.Helper()
	f, err := history.CreateFile(path, history.Header{Nodes: n})
	if err != nil {
		t.Fatal(err)
	}
	logs := []*history.NodeLog{{Node: nodes.None}}
	for id := range n {
		logs = append(logs, &history.NodeLog{Node: nodes.ID(id), Instances: make([]history.InstanceTotals, 1)})
	}
	mark := func(at int64, mark uint32) {
		f.Add(history.Event{At: at, Kind: history.Marked, Count: mark, Node: nodes.None})
	}
	mark(0, history.Measuring)
	at := int64(0)
	for i := range entries {
		id, entry := nodes.ID(i%n), uint32(i/n+1)
		at += 1000
		f.Add(history.Event{At: at, Kind: history.Requested, Node: id, Entry: entry, Count: 1, Value: at})
		f.Add(history.Event{At: at + 100, Kind: history.Entered, Node: id, Entry: entry, Count: 1, Value: int64(i)})
		f.Add(history.Event{At: at + 200, Kind: history.Exited, Node: id, Entry: entry, Value: int64(i + 1)})
		c := logs[id+1].Instance(0)
		c.Requests, c.Entries, c.Exits = c.Requests+1, c.Entries+1, c.Exits+1
	}
	mark(at+1000, history.Stopped)
	mark(at+1000, history.Rested)
	f.Close(logs)
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
}

// However long a history is, its judgement holds the same memory at the end.
func TestJudgingTakesBoundedMemory(t *testing.T) {
	held := func(entries int) uint64 {
		path := filepath.Join(t.TempDir(), "history.zst")
		storeTurns(t, path, 8, entries)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := history.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		job := &Job{Options: option.Defaults()}
		j := job.Judge(r.Header, check.Setting{Config: nodes.Config{N: 8}})
		if err := r.Run(j); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		v := j.Checks.Verdict()
		if v.Outcome != check.Valid || j.Measures.Measures.Wait.Count() != uint64(entries) {
			t.Fatalf("%v: %s", v.Outcome, v.Reason)
		}
		return after.HeapAlloc - before.HeapAlloc
	}
	short, long := held(20_000), held(100_000)
	if more := int64(long) - int64(short); more > 1<<17 {
		t.Errorf("a history with 80,000 entries more takes %d bytes more", more)
	}
}

// An absence keeps client 5 away: the fault of a plan, and the events of its node.
type absence struct {
	name, plan string
	from, to   history.Event
}

var absences = []absence{
	{name: "plain"},
	{"paused", "pause: 5", history.Event{Kind: history.Paused, Count: 5, Node: nodes.None},
		history.Event{Kind: history.Resumed, Count: 5, Node: nodes.None}},
	{"cut", "cut: '5/0-4,6-%d'", history.Event{}, history.Event{}},
	{"down", "kill: 5", history.Event{Kind: history.Crashed, Node: 5},
		history.Event{Kind: history.Restarted, Node: 5, Count: 1}},
}

// faults returns the faults of the plan for n clients.
func (a *absence) faults(b testing.TB, n int) []chaos.Fault {
	if a.plan == "" {
		return nil
	}
	text := a.plan
	if a.name == "cut" {
		text = fmt.Sprintf(text, n-1)
	}
	plan, err := chaos.ReadPlan("plan", fmt.Appendf(nil, "faults: [{%s, for: 1s}]", text))
	if err != nil {
		b.Fatal(err)
	}
	return plan.Faults
}

// A rotation is a history that is judged while it is generated: n clients request at once and enter in turn.
// From a tenth of it until nine tenths, client 5 is away, if there is a fault.
type rotation struct {
	add    func(e history.Event)
	n      int
	faults int
	events int
	at     int64
	number []uint32
}

func (r *rotation) tell(e history.Event) {
	r.events++
	e.At = r.at
	r.add(e)
}

func (r *rotation) request(id int) {
	r.number[id]++
	r.does(id, history.Event{Kind: history.Requested, Value: r.at, Count: 1})
}

func (r *rotation) does(id int, e history.Event) {
	e.Node, e.Entry = nodes.ID(id), r.number[id]
	r.tell(e)
}

// run generates a history with a number of entries.
func (r *rotation) run(a *absence, entries int) {
	r.number = make([]uint32, r.n)
	r.tell(history.Event{Kind: history.Marked, Count: history.Began, Node: nodes.None})
	r.tell(history.Event{Kind: history.Marked, Count: history.Measuring, Node: nodes.None})
	for id := range r.n {
		r.request(id)
	}
	for i, id := 0, 0; i < entries; id = (id + 1) % r.n {
		away := r.faults > 0 && i >= entries/10 && i < entries*9/10
		if id == 5 && away {
			continue
		}
		switch {
		case r.faults > 0 && i == entries/10:
			r.tell(history.FaultEvent(port.FaultEvent{At: r.at, Number: 1, Victim: nodes.None, Nodes: 1}))
			r.tell(a.from)
		case r.faults > 0 && i == entries*9/10:
			r.tell(history.Event{Kind: history.FaultHealed, Count: 1, Value: 1, Node: nodes.None})
			r.tell(a.to)
			if a.name == "down" {
				r.request(5)
			}
		}
		i++
		r.at += int64(time.Millisecond)
		r.does(id, history.Event{Kind: history.Entered, Value: int64(i - 1), Count: 1})
		r.at += int64(100 * time.Microsecond)
		r.does(id, history.Event{Kind: history.Exited, Value: int64(i)})
		r.request(id)
	}
}

// judgingFolds are the folds of a judgement. Each of them reads the sections.
var judgingFolds = []string{"sections", "measures", "faults", "checks"}

// judge generates a history, judges it with one of the folds, and returns its number of events and the CPU
// time taken.
func judge(b testing.TB, a *absence, fold string, n, entries int) (events int, took time.Duration) {
	spec, err := mutex.Find("naimi-trehel")
	if err != nil {
		b.Fatal(err)
	}
	o := Options{Algorithm: spec.Name, Config: nodes.Config{N: n}, Entries: uint64(entries), Seed: 1,
		Latency: chance.Constant(time.Millisecond), Workload: workload.Workload{Load: workload.Saturated}}
	s := drafted(b, spec, o, true).Setting(a.faults(b, n))
	sections := check.Sections(history.Header{Nodes: n}, s)
	switch fold {
	case "measures":
		measure.New(sections, workload.Saturated)
	case "faults":
		measure.NewFaults(sections, s.Epoch)
	case "checks":
		check.New(sections, s)
	}
	r := rotation{add: sections.Add, n: n, faults: len(s.Faults)}
	from := processorTime()
	r.run(a, entries)
	took = processorTime() - from
	if sections.Entries != uint64(entries) || sections.Irregular > 0 {
		b.Fatalf("%d entries; %v", sections.Entries, sections.Irregularities)
	}
	return r.events, took
}

// processorTime returns the CPU time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkJudging reports the CPU time per event for judging among more and more clients, by fold, without
// faults and while one client is suspended, cut off or down. Among 100,000 clients it should take at most
// three times as long as among 100.
func BenchmarkJudging(b *testing.B) {
	const entries = 300_000
	for i := range absences {
		for _, fold := range judgingFolds {
			for _, n := range []int{100, 1000, 10_000, 100_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", absences[i].name, fold, n), func(b *testing.B) {
					var events int
					var took time.Duration
					for b.Loop() {
						runtime.GC()
						more, longer := judge(b, &absences[i], fold, n, entries)
						events, took = events+more, took+longer
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(took.Nanoseconds())/float64(events), "cpu-ns/event")
				})
			}
		}
	}
}

// Judging an entry takes no longer among many clients. A fold that looks at each client at each entry would
// take a hundred times as long among 10,000 as among 100; on a loaded machine the difference is smaller.
func TestJudgingIsFlatInTheNumberOfClients(t *testing.T) {
	const entries, bound = 20_000, 20
	least := func(a *absence, n int) time.Duration {
		least := time.Hour
		for range 2 { // the first round also allocates memory
			_, took := judge(t, a, "checks", n, entries)
			least = min(least, took)
		}
		return least
	}
	for i := range absences {
		few, many := least(&absences[i], 100), least(&absences[i], 10_000)
		if many > bound*few {
			t.Errorf("%s: judging takes %v among 100 clients, and %v among 10,000", absences[i].name, few, many)
		}
	}
}

func TestPredict(t *testing.T) {
	o := Options{Workload: workload.Workload{Load: workload.Saturated}}
	o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(10*time.Millisecond)
	for _, c := range []struct {
		hops algorithm.Range
		n    int
		want string
	}{
		{algorithm.Exactly(2), 5, "0.833333"},
		{algorithm.Exactly(1), 5, "0.909091"},
		{algorithm.Between(1, 3), 5, ""},
		{algorithm.Range{}, 5, ""},
		{algorithm.Exactly(1), 1, ""},
	} {
		o.Config.N = c.n
		utilisation, rate := Predict(o, c.hops)
		if utilisation.String() != c.want {
			t.Errorf("the utilisation is %q, not %q", utilisation, c.want)
		}
		if rate.Known() != (c.want != "") {
			t.Errorf("the rate is %q", rate)
		}
	}
	o.Config.N, o.Workload.Hold = 5, parsed(t, "pareto:100us,50ms")
	if u, _ := Predict(o, algorithm.Exactly(1)); u.Known() {
		t.Error("theory says nothing of holds without a mean")
	}
	o.Workload.Hold, o.Workload.Load = chance.Constant(10*time.Millisecond), workload.Closed
	if u, _ := Predict(o, algorithm.Exactly(1)); u.Known() {
		t.Error("theory says nothing of a load that is not saturated")
	}
}

// Only a pause of servers freezes connections. A fault of one client spares the others. A client is cut off
// if it no longer reaches most servers: then the service does not have to serve it.
func TestWhatFaultsOfServicesDo(t *testing.T) {
	type does struct{ freezes, spares, cuts bool }
	o := option.Defaults()
	o.Config.N = 3
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]does{
		"pause: server leader, for: 1s":       {freezes: true},
		"pause: 1, for: 1s":                   {spares: true},
		"kill: server 0, for: 1s":             {},
		"cut: server leader/servers, for: 1s": {},
		"cut: 1/servers, for: 1s":             {spares: true, cuts: true},
		"cut: 1/server 0-1, for: 1s":          {spares: true, cuts: true},
		"cut: 1/server 2, for: 1s":            {spares: true},
		"drop-answer: 1, nth: 1":              {spares: true},
		"hold-request: 1, nth: 1, by: 1s":     {spares: true},
	} {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		scene := drafted(t, spec, o, false).Scene()
		scene.Servers = chaos.Servers{Service: "redis", Count: 3, Leads: true, Peers: true}
		all, err := chaos.Resolve([]chaos.Fault{f}, scene, 1)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		asked := CheckedFaults(all, false)[0]
		if unnamed := CheckedFaults(all, true)[0]; unnamed.Spares != asked.Spares {
			t.Errorf("%s: clients of the user's own are spared: %v", text, unnamed.Spares)
		}
		if got := (does{asked.Freezes, asked.Spares, asked.Cuts}); got != want || got.spares && asked.Hits(0, 0) {
			t.Errorf("%s: %+v, not %+v", text, got, want)
		}
	}
}

// If keys do not name their clients, a fault that deletes the key of the holder may hit the next holder.
func TestDeletionsOfUnnamedKeysSpareNobody(t *testing.T) {
	for text, spares := range map[string]bool{"delete: lock of holder, at: 1s": false,
		"delete: lock of waiter, at: 1s": true, "delete: lock of 1, at: 1s": true} {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		faults := []chaos.Fault{f}
		named, unnamed := CheckedFaults(faults, false)[0].Spares, CheckedFaults(faults, true)[0].Spares
		if !named || unnamed != spares {
			t.Errorf("%s: named keys spare others: %v, unnamed keys: %v", text, named, unnamed)
		}
	}
}
