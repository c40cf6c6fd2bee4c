package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes/catalog"
	"turnstile/nodes/workload"
)

// That timeouts are too short is said of an algorithm, of the elector that it follows and of the detector
// that it listens to.
func TestRemarksOnShortTimeouts(t *testing.T) {
	const hour = time.Hour
	for _, test := range []struct {
		algorithm, elect, detector string
		options                    []string
		latency, hold              time.Duration
		want                       string // empty: nothing
	}{
		{algorithm: "bully", options: []string{"answer=100ms"}, latency: 49 * time.Millisecond},
		{algorithm: "bully", options: []string{"answer=100ms"}, latency: 50 * time.Millisecond,
			want: "answer of bully is 100ms, and has to be longer than 2T, here 100ms: several may come to lead, or " +
				"none; leave it out, or take 130ms"},
		{algorithm: "bully", latency: hour / 200},
		{algorithm: "raft-election", options: []string{"election-timeout=150ms-300ms"},
			latency: 15 * time.Millisecond,
			want: "election-timeout of raft-election is 150ms-300ms, and has to be longer than 2T and wider " +
				"than 10T: several may come to lead, or none; leave it out, or take 190ms-380ms"},
		{algorithm: "raft-election", latency: 5 * time.Second,
			want: "several may come to lead, or none; no value that its options allow is long enough: take shorter"},
		{algorithm: "token-ring-regenerating", hold: hour / 300},
		{algorithm: "token-ring-regenerating", options: []string{"loss-timeout=6s"}, hold: time.Second,
			want: "loss-timeout of token-ring-regenerating is 6s, and has to be longer than 2N(T+hold), here 6s: " +
				"what is slow will be taken for lost; leave it out, or take 7.5s"},
		{algorithm: "central-failover", elect: "bully:answer=20ms", latency: 10 * time.Millisecond,
			want: "answer of bully is 20ms, and has to be longer than 2T, here 20ms"},
		{algorithm: "central-failover", elect: "bully", detector: "heartbeat", latency: hour / 200},
		{algorithm: "central-failover", detector: "heartbeat:timeout=400ms", latency: 300 * time.Millisecond,
			want: "timeout of heartbeat is 400ms, and has to be longer than T and a period, here 400ms: nodes that " +
				"are up will be suspected; leave it out, or take 500ms; so this run is outside the model of " +
				"central-failover, which needs bounded delays: what goes wrong is reported, and not held"},
		{algorithm: "ring-list", options: []string{"wait=1200ms"}, latency: 100 * time.Millisecond,
			want: "wait of ring-list is 1200ms, and has to be longer than 4NT, here 1.2s: several"},
		{algorithm: "omega", options: []string{"silence=250ms"}, latency: 200 * time.Millisecond,
			want: "silence of omega is 250ms, and has to be longer than T and a heartbeat, here 250ms: several"},
		{algorithm: "central-failover", detector: "probe:timeout=400ms", latency: 200 * time.Millisecond,
			want: "timeout of probe is 400ms, and has to be longer than 2T, here 400ms"},
		{algorithm: "ricart-agrawala-ft", options: []string{"give-up=1", "retry=100ms"},
			latency: 50 * time.Millisecond, want: "has to be longer than 2T/give-up, here 100ms"},
		{algorithm: "suzuki-kasami-ft", detector: "phi:deviation=50ms", latency: 300 * time.Millisecond,
			want: "deviation of phi is 50ms, and has to be longer than T/z, z deviations having the threshold, here " +
				"53.4"},
		{algorithm: "suzuki-kasami-ft", detector: "swim:period=100ms", latency: 50 * time.Millisecond,
			want: "period of swim is 100ms, and has to be longer than 2T, here 100ms"},
		{algorithm: "central-queued", options: []string{"retry=1s"}, hold: time.Second,
			latency: time.Millisecond, want: "retry of central-queued is 1s, and an answer may take 2T+hold, here " +
				"1.002s: messages will be sent again though none is lost, which costs; leave it out, or take 1.3s"},
	} {
		o := option.Defaults()
		o.Config.N, o.Latency, o.Detector = 3, chance.Constant(test.latency), test.detector
		o.Workload.Hold, o.Config.Elect, o.Duration = chance.Constant(test.hold), test.elect, hour
		row, err := catalog.Find(test.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if row.Elector != nil {
			o.Workload, o.Warmup = workload.Workload{Load: workload.Campaign}, 0
		}
		for _, option := range test.options {
			name, value, _ := strings.Cut(option, "=")
			o.Config = o.Config.With(name, value)
		}
		got := strings.Join(resolved(t, row, o).Remarks(2), "; ")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// What is allowed and yet likely to surprise is said before the run.
func TestRemarks(t *testing.T) {
	majority, err := catalog.Find("central-failover")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		detector string
		latency  time.Duration
		n        int
		want     string // empty: nothing
	}{
		{"heartbeat:period=5ms,timeout=20ms", 14 * time.Millisecond, 3, ""},
		{"heartbeat:period=5ms,timeout=20ms", 15 * time.Millisecond, 3, "longer than T and a period, here 20ms"},
		{"probe:period=5ms,timeout=20ms", time.Second, 3, "longer than 2T, here 2s"},
		{"probe:period=5ms,timeout=20ms", 9 * time.Millisecond, 3, ""},
		{"probe:period=5ms,timeout=20ms", 10 * time.Millisecond, 3, "longer than 2T, here 20ms"},
		{"swim:suspicion=0,period=100ms", 49 * time.Millisecond, 3, ""},
		{"swim:suspicion=0,period=100ms", 50 * time.Millisecond, 3, "longer than 2T, here 100ms"},
		{"perfect", time.Second, 3, ""},
		{"heartbeat", 0, 2, "a majority of 2 is all"},
		{"heartbeat", 0, 1, "a majority of 1 is all"},
		{"heartbeat", 0, 4, "a majority of 4 is 3, one more than of 3, which outlast as many crashes: 1"},
		{option.NoDetector, 0, 3, "none runs"},
		{"swim", 0, 399, ""},
		{"swim", 0, 401, "401 processes share 2 cores, and an entry may take minutes: simulate -n 401 makes"},
		{"heartbeat:period=50ms,timeout=250ms", 0, 45, ""},
		{"heartbeat:period=50ms,timeout=250ms", 0, 47, "47 nodes send each other 43,240 heartbeats a second, for " +
			"which 2 cores may have no time: nodes that are up will be suspected; take fewer nodes, --detector swim " +
			"or heartbeat:period=60ms,timeout=300ms, or simulate"},
		{"phi:period=50ms", 0, 47, "take fewer nodes, --detector swim or phi:period=60ms, or simulate"},
		{"swim:period=1ms,timeout=300us", 0, 47, "47 nodes send each other 94,000 heartbeats a second, for " +
			"which 2 cores may have no time: nodes that are up will be suspected; take fewer nodes, --detector " +
			"swim:period=10ms,timeout=3ms, or simulate"},
		{"probe:period=50ms,timeout=250ms", 0, 33, "33 nodes send each other 42,240 heartbeats a second"},
	} {
		o := option.Defaults()
		o.Detector, o.Config.N, o.Latency = test.detector, test.n, chance.Constant(test.latency)
		j := drafted(t, majority, o, false)
		got := strings.Join(j.Remarks(2), "; ")
		if simulated := strings.Join(j.Remarks(0), "; "); strings.Contains(simulated, "core") {
			t.Errorf("%+v, simulated: %q", test, simulated)
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// A run that the advice is taken for leaves the time that its verdict asks for.
func TestRunsAsLongAsAdvisedLeaveTime(t *testing.T) {
	for at, want := range map[time.Duration]time.Duration{
		time.Second:     15 * time.Second, // a third of the run
		2 * time.Second: 12 * time.Second,
	} {
		faults := []chaos.Fault{{Schedule: chaos.Schedule{At: at}}}
		o := Job{Options: Options{Duration: 3 * time.Second, Faults: faults}}
		if got := o.outlasts(10 * time.Second); got != want {
			t.Errorf("a fault at %v: %v, not %v", at, got, want)
		}
	}
}

// So is that delays leave no time for an election, or for an entry, before the run is over.
func TestRemarksOnShortRuns(t *testing.T) {
	for _, test := range []struct {
		algorithm string
		n         int
		latency   time.Duration
		want      string // empty: nothing
	}{
		{"ring-list", 5, 0, ""}, // it may take long, and does not
		{"raft-election", 5, 10 * time.Millisecond, ""},
		{"raft-election", 5, 300 * time.Millisecond, "an election may take 1m16s, and 3s are measured: that may " +
			"show nothing; take --duration 1m17s or more"},
		{"chang-roberts", 9, 20 * time.Millisecond, ""},
		{"chang-roberts", 9, 500 * time.Millisecond, "an election may take 4m48s, and 3s are measured: that may " +
			"show nothing; take --duration 4m49s or more"},
		{"ricart-agrawala", 9, 2 * time.Second, ""},
		{"central", 9, 2 * time.Second, "an entry may take 4s, and 3s are measured"},
	} {
		row, err := catalog.Find(test.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Config.N, o.Latency = test.n, chance.Constant(test.latency)
		if row.Elector != nil {
			o.Workload, o.Warmup = workload.Workload{Load: workload.Campaign}, 0
		}
		j, err := Resolve(o, row, true)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(j.Remarks(0), "; ")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// Of a simulated run the summary says that nodes go in step, if they do.
func TestNodesThatGoInStep(t *testing.T) {
	saturated := option.Defaults()
	saturated.Config.N, saturated.Latency = 9, chance.Constant(time.Millisecond)
	with := func(change func(*Options)) Options {
		o := saturated
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		o         Options
		simulated bool
		says      bool
	}{
		"saturated":           {saturated, true, true},
		"of real ones":        {saturated, false, false},
		"alone":               {with(func(o *Options) { o.Config.N = 1 }), true, false},
		"latencies by chance": {with(func(o *Options) { o.Latency = exponential(t, "1ms") }), true, false},
		"holds by chance":     {with(func(o *Options) { o.Workload.Hold = exponential(t, "1ms") }), true, false},
		"thinking":            {with(func(o *Options) { o.Workload.Load = workload.Closed }), true, false},
	} {
		row, err := catalog.Find("maekawa")
		if err != nil {
			t.Fatal(err)
		}
		got := drafted(t, row, c.o, c.simulated).Lockstep()
		if says := strings.HasSuffix(got, "--latency uniform:900µs,1.1ms"); says != c.says || says != (got != "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
