package bench

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// drafted returns the job of options that need not be complete.
func drafted(t testing.TB, spec *algorithm.Algorithm, o Options, simulated bool) *Job {
	t.Helper()
	d, err := NewDraft(catalog.Table{}, o, spec, simulated)
	if err != nil {
		t.Fatal(err)
	}
	return d.Unchecked()
}

// tryRun makes a simulated run, and stores nothing.
func tryRun(t testing.TB, spec *algorithm.Algorithm, o Options) (*Tried, error) {
	t.Helper()
	j, err := Resolve(catalog.Table{}, o, spec, true)
	if err != nil {
		return nil, err
	}
	got, err := Simulate(t.Context(), j)
	if err == nil {
		got.Simulated.Lead()
	}
	return got, err
}

func TestValidate(t *testing.T) {
	host0 := chaos.Regions{Names: []string{"host 0"}, Latency: [][]chance.Distribution{{{}}}}
	for _, test := range []struct {
		name   string
		change func(*Options)
		says   string // text that the error contains; empty: no error
	}{
		{"defaults", func(*Options) {}, ""},
		{"too many nodes", func(o *Options) { o.Config.N = 1 << 21 }, "at most 1048576"},
		{"no patience", func(o *Options) { o.Patience = 0 }, "longer than nothing"},
		{"negative warm-up", func(o *Options) { o.Warmup = -1 }, "must be 0s or longer"},
		{"entries", func(o *Options) { o.Duration, o.Warmup, o.Entries = 0, 0, 5 }, ""},
		{"too many entries", func(o *Options) { o.Duration, o.Entries = 0, 1<<33 }, "at most 4294967295"},
		{"long latency", func(o *Options) { o.Latency = chance.Constant(time.Minute) },
			"--latency 1m0s exceeds --duration 3s"},
		{"a latency without a mean", func(o *Options) { o.Latency = parsed(t, "pareto:100us,50ms") }, ""},
		{"a hold without a mean", func(o *Options) { o.Workload.Hold = parsed(t, "pareto:100us,50ms") }, ""},
		{"open without rate", func(o *Options) { o.Workload.Load = workload.Open }, "an open load takes a rate"},
		{"rate without open", func(o *Options) { o.Workload.Rate = 5 }, "and no other does"},
		{"negative rate", func(o *Options) { o.Workload.Load, o.Workload.Rate = workload.Open, -5 },
			"at least 0.000001, and at most 1000000"},
		{"tiny rate", func(o *Options) { o.Workload.Load, o.Workload.Rate = workload.Open, 1e-12 },
			"a rate of 1e-12 requests per second and node: it must be at least 0.000001"},
		{"long warm-up", func(o *Options) { o.Warmup = 25 * time.Hour }, "a warm-up of 25h0m0s: at most 24h"},
		{"open", func(o *Options) { o.Workload.Load, o.Workload.Rate = workload.Open, 5 }, ""},
		{"think", func(o *Options) { o.Workload.Think = chance.Constant(1) }, "only a closed load has a think"},
		{"resource", func(o *Options) { o.Resource = "table" }, "take file or process"},
		{"no second campaign", func(o *Options) { *o = campaigning(1900 * time.Millisecond) },
			"leave no time for a second one: all may take 1.222s to agree"},
		{"too many campaigns", func(o *Options) { *o = campaigning(time.Microsecond) }, "1ms is the least"},
		{"no initiators", func(o *Options) {
			*o = campaigning(300 * time.Millisecond)
			o.Workload.Initiators = workload.NoneInitiates
		}, "take other --initiators"},
		{"more hosts than nodes", func(o *Options) { o.Hosts = 9 }, "9 hosts, and the run has 8 nodes"},
		{"places without hosts", func(o *Options) { o.Place = "blocks" },
			"says where nodes are, and the run has no "},
		{"a node on no host", func(o *Options) { o.Hosts, o.Place = 1, "0-3@a" }, "node 4 is on no host"},
		{"a host in no region", func(o *Options) { o.Hosts, o.Regions = 4, host0 }, "host 1 is in no region"},
		{"a region of no hosts", func(o *Options) { o.Regions = host0 }, "region host 0: the run has no hosts"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := option.Defaults()
			test.change(&o)
			spec, err := (catalog.Table{}).Find(o.Algorithm)
			if err == nil {
				before := o
				var j *Job
				if j, err = Resolve(catalog.Table{}, o, spec, false); !reflect.DeepEqual(o, before) {
					t.Errorf("it changes %+v to %+v", before, o)
				}
				o = j.Options
			}
			switch {
			case test.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.says == "" && spec.Name != o.Algorithm:
				t.Errorf("the algorithm is called %q, not %q", o.Algorithm, spec.Name)
			case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
				t.Errorf("the error is %v, which does not say %q", err, test.says)
			}
		})
	}
}

// campaigning returns the options of a ring whose nodes campaign periodically.
func campaigning(every time.Duration) Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Duration, o.Warmup, o.WarmupLimit = "chang-roberts", 3, 2*time.Second, 0, 0
	o.Latency = chance.Constant(time.Millisecond)
	o.Workload = workload.Workload{Load: workload.Campaign, CampaignEvery: every}
	return o
}

// All nodes that are up campaign periodically, also after a restart. The last campaign leaves enough time for
// an election.
func TestCampaignsAgainAndAgain(t *testing.T) {
	spec, err := election.Find("chang-roberts")
	if err != nil {
		t.Fatal(err)
	}
	o := campaigning(300 * time.Millisecond)
	f, err := chaos.ParseFault("kill: 1, at: 700ms, for: 400ms")
	if err != nil {
		t.Fatal(err)
	}
	o.Faults = []chaos.Fault{f}
	j, err := Resolve(catalog.Table{}, o, spec, true)
	if err != nil {
		t.Fatal(err)
	}
	asked, _, err := j.Simulation(0, j.Seed)
	if err != nil {
		t.Fatal(err)
	}
	var h history.History
	if _, err := sim.Run(*asked, &h); err != nil {
		t.Fatal(err)
	}
	at := map[nodes.ID][]int64{}
	for _, e := range h.Events {
		if e.Kind == history.Campaigned {
			at[e.Node] = append(at[e.Node], e.At/int64(time.Millisecond))
		}
	}
	all, of1 := []int64{5, 305, 605, 905, 1205, 1505, 1805},
		[]int64{5, 305, 605, 1205, 1505, 1805}
	if !slices.Equal(at[0], all) || !slices.Equal(at[1], of1) || !slices.Equal(at[2], all) {
		t.Errorf("they campaigned at %v ms", at)
	}
	last := o.Duration - j.AgreesWithin()
	if last < 1805*time.Millisecond || last > 2105*time.Millisecond {
		t.Errorf("the last campaign was at 1.805s, and has to be by %v", last)
	}
}

func TestDiskSpaceGrowsWithTheRun(t *testing.T) {
	spec, err := mutex.Find("central") // with a server
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Job)
		mb     uint64
		asked  string
	}{
		"few nodes":  {func(j *Job) { j.Config.N = 15 }, 64 + 3, "-n 15"},
		"many nodes": {func(j *Job) { j.Config.N = 1023 }, 64 + 128, "-n 1023"},
		"entries": {func(j *Job) { j.Entries, j.Config.N = 1<<20, 15 }, 64 + 3 + 120 + 60,
			"-n 15 --entries 1048576"},
		"trials": {func(j *Job) { j.Entries, j.Config.N, j.Trials = 1<<20, 15, 3 },
			64 + 3 + 120 + 3*60, "-n 15 --entries 1048576 --trials 3"},
		"open": {func(j *Job) {
			j.Config.N, j.Duration, j.Warmup = 15, 9e9, 1e9
			j.WarmupLimit = 0
			j.Workload = workload.Workload{Load: workload.Open, Rate: 1 << 20 / 150.}
		}, 64 + 3 + 120 + 60, "-n 15 --rate 6990.506666666667 --duration 9s"},
		"simulated": {func(j *Job) {
			j.Config.N, j.Entries, j.Simulated = 10000, 1<<20, true
		}, 64 + 60, "-n 10000 --entries 1048576"},
	} {
		j := Job{Options: option.Defaults()}
		c.change(&j)
		need := drafted(t, spec, j.Options, j.Simulated).DiskSpace()
		if need.Bytes>>20 != c.mb || need.For != c.asked {
			t.Errorf("%s: %d MB for %s, not %d for %s", name, need.Bytes>>20, need.For, c.mb, c.asked)
		}
	}
}

// A run over hosts with an external server has no broker of its own.
func TestHostsTakeAServerOfSomebodyElse(t *testing.T) {
	o := Options{Config: nodes.Config{N: 4}}
	o.Hosts, o.NATS = 2, "nats://there"
	job := Job{Options: o}
	if err := job.checkTransport(); err != nil || job.Scene().Brokers > 1 {
		t.Errorf("%d brokers: %v", job.Scene().Brokers, err)
	}
	if o.NATS = ""; o.BrokerCount() != 2 {
		t.Errorf("%d brokers of the run's own", o.BrokerCount())
	}
}
