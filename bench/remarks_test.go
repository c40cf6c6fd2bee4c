package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A run that follows the advice lasts as long as its verdict requires.
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

// Of a simulated run the summary warns if the nodes move in lockstep.
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
		algo, err := (catalog.Table{}).Find("maekawa")
		if err != nil {
			t.Fatal(err)
		}
		got := drafted(t, algo, c.o, c.simulated).Lockstep()
		if says := strings.HasSuffix(got, "--latency uniform:900µs,1.1ms"); says != c.says || says != (got != "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A remarkable run causes a remark before it begins.
type remarkable struct {
	algorithm, elect, detector string
	option                     string // name=value
	n                          int
	latency, hold              time.Duration
	short                      bool   // it lasts for 3 s, instead of an hour
	want                       string // empty: nothing
}

// Options that are valid but likely to surprise cause remarks: timeouts that are too short, too few or too
// many nodes, delays that leave no time for an election or an entry.
func TestRemarks(t *testing.T) {
	const ms, follows, quick = time.Millisecond, "central-failover", "heartbeat:period=50ms,timeout=250ms"
	for _, test := range []remarkable{
		{algorithm: "bully", option: "answer=100ms", n: 3, latency: 49 * ms},
		{algorithm: "bully", option: "answer=100ms", n: 3, latency: 50 * ms,
			want: "answer of bully is 100ms, and has to be longer than 2T, here 100ms: several nodes may lead " +
				"at once, or none; leave it out, or take 130ms"},
		{algorithm: "raft-election", n: 3, latency: 5 * time.Second,
			want: "several nodes may lead at once, or none; no value that its options allow is long enough: take " +
				"shorter"},
		{algorithm: follows, elect: "bully:answer=20ms", n: 3, latency: 10 * ms,
			want: "answer of bully is 20ms, and has to be longer than 2T, here 20ms"},
		{algorithm: follows, detector: "heartbeat:timeout=400ms", n: 3, latency: 300 * ms,
			want: "leave it out, or take 500ms; so this run is outside the model of central-failover, which needs " +
				"bounded delays: failures are reported, but they do not count"},
		{algorithm: "suzuki-kasami-ft", detector: "phi:deviation=50ms", n: 3, latency: 300 * ms,
			want: "longer than T/z, where phi reaches the threshold z deviations above the mean, here 53.4"},
		{algorithm: "suzuki-kasami-ft", detector: "swim:suspicion=0,period=100ms", n: 3, latency: 49 * ms},
		{algorithm: "suzuki-kasami-ft", detector: "swim:suspicion=0,period=100ms", n: 3, latency: 50 * ms,
			want: "longer than 2T, here 100ms"},
		{algorithm: follows, detector: "probe:period=5ms,timeout=20ms", n: 3, latency: 9 * ms},
		{algorithm: follows, detector: "probe:period=5ms,timeout=20ms", n: 3, latency: 10 * ms,
			want: "longer than 2T, here 20ms"},
		{algorithm: "central-queued", option: "retry=1s", n: 3, hold: time.Second, latency: ms,
			want: "retry of central-queued is 1s, but an answer may take 2T+hold, here 1.002s: messages will be " +
				"repeated needlessly; leave it out, or take 1.3s"},
		{algorithm: follows, n: 2, want: "a majority of 2 is all nodes"},
		{algorithm: follows, n: 4, want: "4 nodes tolerate no more crashes than 3 nodes do, namely 1"},
		{algorithm: follows, detector: option.NoDetector, n: 3, want: "none runs"},
		{algorithm: follows, detector: "swim", n: 399},
		{algorithm: follows, detector: "swim", n: 401,
			want: "401 processes share 2 cores, and an entry may take minutes: simulate -n 401 makes"},
		{algorithm: follows, detector: quick, n: 45},
		{algorithm: follows, detector: quick, n: 47, want: "47 nodes send each other 43,240 heartbeats a second, " +
			"for which 2 cores may have no time: nodes that are up will be suspected; take fewer nodes, --detector " +
			"swim or heartbeat:period=60ms,timeout=300ms, or simulate"},
		{algorithm: "raft-election", n: 5, latency: 10 * ms, short: true},
		{algorithm: "raft-election", n: 5, latency: 300 * ms, short: true,
			want: "an election may take 1m17.05s, but the run measures only 3s and may show nothing: " +
				"take --duration 1m18s or more"},
		{algorithm: "ricart-agrawala", n: 9, latency: 2 * time.Second, short: true},
		{algorithm: "central", n: 9, latency: 2 * time.Second, short: true,
			want: "an entry may take 4s, but the run measures only 3s"},
	} {
		j := test.job(t)
		got := strings.Join(j.Remarks(2), "; ")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q", test, got)
		}
		if simulated := strings.Join(j.Remarks(0), "; "); strings.Contains(simulated, "core") {
			t.Errorf("%+v, simulated: %q", test, simulated)
		}
	}
}

func (r *remarkable) job(t *testing.T) *Job {
	t.Helper()
	algo, err := (catalog.Table{}).Find(r.algorithm)
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N, o.Config.Elect, o.Detector = r.n, r.elect, r.detector
	o.Latency, o.Workload.Hold = chance.Constant(r.latency), chance.Constant(r.hold)
	if !r.short {
		o.Duration = time.Hour
	}
	if algo.Elector != nil {
		o.Workload, o.Warmup = workload.Workload{Load: workload.Campaign}, 0
	}
	if name, value, given := strings.Cut(r.option, "="); given {
		o.Config = o.Config.With(name, value)
	}
	return drafted(t, algo, o, false)
}

// With every algorithm, virtual time passes even if clients neither hold nor think and messages take no time:
// at most one client enters per microsecond, and the remark says so.
func TestTimePassesWithoutHolds(t *testing.T) {
	const duration = 300 * time.Microsecond
	loads := []workload.Load{workload.Saturated, workload.Closed, workload.One, workload.Sequential}
	ran := 0
	for _, algo := range mutex.Table {
		for _, load := range loads {
			for _, latency := range []time.Duration{0, 50 * time.Microsecond} {
				for _, n := range []int{1, 3} {
					o := option.Defaults()
					o.Config.N, o.Workload.Load, o.Latency = n, load, chance.Constant(latency)
					o.Workload.Hold, o.Warmup, o.WarmupLimit, o.Duration = chance.Constant(0), 0, 0, duration
					j, err := Resolve(catalog.Table{}, o, algo, true)
					if err != nil {
						continue // it does not run with so few nodes, or under the load
					}
					if says := strings.Join(j.Remarks(0), "; "); !strings.Contains(says, "takes at least 1µs") {
						t.Errorf("%s: it does not say how time passes, but %q", algo.Name, says)
					}
					tried, err := Simulate(t.Context(), j)
					if err != nil {
						t.Fatal(err)
					}
					ran++
					most := uint64(n) * uint64(duration/time.Microsecond+1)
					if got, _ := tried.Measures.Columns().Entries.Value(); uint64(got) > most {
						t.Errorf("%s, %d nodes, %s, latency %v: %v entries in %v", algo.Name, n, load, latency, got, duration)
					}
				}
			}
		}
	}
	if ran < 8*len(mutex.Table) {
		t.Errorf("only %d runs of %d algorithms", ran, len(mutex.Table))
	}
}

// A calmRun is a run without faults.
type calmRun struct {
	algorithm, elect, detector string
	options                    string // given, as name=value, with commas
	n                          int
	latency, hold              time.Duration
	load                       workload.Load // empty: saturated, or campaigns
	entries                    uint64
}

// try simulates the run with an algorithm, and returns its job and its outcome.
func (r calmRun) try(t *testing.T, algo *algorithm.Algorithm) (*Job, *Tried) {
	t.Helper()
	o := option.Defaults()
	o.Config.N, o.Config.Elect, o.Detector = r.n, r.elect, r.detector
	o.Latency, o.Workload.Hold = chance.Constant(r.latency), chance.Constant(r.hold)
	o.Warmup, o.WarmupLimit, o.Duration, o.Entries = 0, 0, 0, max(r.entries, uint64(3*r.n))
	if r.load != "" {
		o.Workload.Load = r.load
	}
	if algo.Elector != nil {
		o.Workload, o.Duration, o.Entries = workload.Workload{Load: workload.Campaign}, time.Minute, 0
	}
	for option := range strings.SplitSeq(r.options, ",") {
		if name, value, given := strings.Cut(option, "="); given {
			o.Config = o.Config.With(name, value)
		}
	}
	j, err := Resolve(catalog.Table{}, o, algo, true)
	if err != nil {
		t.Fatal(err)
	}
	tried, err := Simulate(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	tried.Simulated.Lead()
	return j, tried
}

func (r calmRun) found(t *testing.T) *algorithm.Algorithm {
	t.Helper()
	algo, err := (catalog.Table{}).Find(r.algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return algo
}

// Default timeouts cover the times of messages and holds: a sound algorithm is valid and suspects nobody,
// however long these are.
func TestTimeoutsCoverTheDelaysOfARun(t *testing.T) {
	const ms = time.Millisecond
	for _, r := range []calmRun{
		{algorithm: "token-ring-regenerating", n: 3, hold: time.Second},
		{algorithm: "token-ring-regenerating", n: 8, latency: 5 * ms, hold: 200 * ms},
		{algorithm: "token-ring-regenerating", n: 3, latency: 600 * ms},
		{algorithm: "token-ring-regenerating", n: 32, latency: 40 * ms},
		{algorithm: "token-ring-regenerating", n: 5, hold: 1500 * ms},
		{algorithm: "token-ring-regenerating", elect: "raft-election", n: 3, latency: 300 * ms},
		{algorithm: "suzuki-kasami-ft", n: 5, latency: 450 * ms},
		{algorithm: "suzuki-kasami-ft", n: 5, hold: 1500 * ms, detector: "probe"},
		{algorithm: "suzuki-kasami-ft", n: 3, latency: 500 * ms, load: workload.One, detector: "heartbeat"},
		{algorithm: "ricart-agrawala-view", n: 5, latency: 300 * ms},
		{algorithm: "ricart-agrawala-view", n: 3, latency: 100 * ms, load: workload.Sequential},
		{algorithm: "ricart-agrawala-view", n: 5, latency: 600 * ms, detector: "phi"},
		{algorithm: "ricart-agrawala-view", n: 5, latency: 600 * ms, detector: "swim"},
		{algorithm: "ricart-agrawala-ft", n: 5, latency: 300 * ms},
		{algorithm: "ricart-agrawala-ft", n: 3, latency: 2 * time.Second, options: "give-up=1"},
		{algorithm: "agrawal-el-abbadi", n: 5, latency: 700 * ms},
		{algorithm: "central-failover", n: 5, latency: 700 * ms, detector: "probe"},
		{algorithm: "central-failover", elect: "bully", n: 5, latency: 300 * ms},
		{algorithm: "central-failover", elect: "bully-shared-disk", n: 3, latency: 2 * time.Second,
			load: workload.Sequential},
		{algorithm: "central-queued", detector: "heartbeat", n: 1, latency: 2 * time.Second}, // and a server
		{algorithm: "bully", n: 5, latency: 2 * time.Second},
		{algorithm: "raft-election", n: 5, latency: 100 * ms},
		{algorithm: "ring-list", n: 5, latency: 300 * ms},
		{algorithm: "omega", n: 5, latency: 2 * time.Second},
		{algorithm: "bully-shared-disk", n: 5, latency: 300 * ms},
	} {
		algo := r.found(t)
		j, tried := r.try(t, algo)
		switch v := tried.Verdict; {
		case len(j.TooShort()) > 0:
			t.Errorf("%+v: too short: %+v", r, j.TooShort())
		case v.Outcome != check.Valid:
			t.Errorf("%+v: %v: %s", r, v.Outcome, v.Reason)
		case tried.Measures.Detection.Wrong > 0:
			t.Errorf("%+v: %d wrong suspicions", r, tried.Measures.Detection.Wrong)
		}
	}
}

// No node repeats a request while nothing is lost, however slow messages and clients are: the cost of an
// entry is the published one.
func TestNobodyAsksAgainThoughARunIsSlow(t *testing.T) {
	for _, algorithm := range []string{"agrawal-el-abbadi", "central-failover", "central-queued",
		"ricart-agrawala-ft", "ricart-agrawala-view", "suzuki-kasami-ft"} {
		for _, r := range []calmRun{{n: 5, latency: 300 * time.Millisecond, hold: time.Millisecond},
			{n: 3, hold: 2 * time.Second},
			{n: 9, latency: 40 * time.Millisecond, hold: 100 * time.Millisecond}} {
			r.algorithm, r.entries = algorithm, 100
			algo := r.found(t)
			j, tried := r.try(t, algo)
			resent := tried.Measures.Resent
			if v := tried.Verdict; v.Outcome != check.Valid || resent > 0 || len(j.Remarks(0)) > 0 {
				t.Errorf("%+v: %v: %s; sent again: %d; %q", r, v.Outcome, v.Reason, resent, j.Remarks(0))
			}
		}
	}
}

// Timeouts that the user sets too short break the bound on delays: a remark says so before the run, and
// failures that depend on the bound do not count against the algorithm.
func TestShortTimeoutsAreOutsideTheModel(t *testing.T) {
	const ms = time.Millisecond
	for _, r := range []calmRun{
		{algorithm: "token-ring-regenerating", options: "loss-timeout=1s", n: 3, hold: time.Second},
		{algorithm: "token-ring-regenerating", options: "loss-timeout=1s", n: 32, latency: 40 * ms},
		{algorithm: "token-ring-regenerating", options: "loss-timeout=1s", n: 3, latency: 500 * ms},
		{algorithm: "suzuki-kasami-ft", options: "loss-timeout=1s", detector: "heartbeat:period=50ms,timeout=250ms",
			n: 5, latency: 450 * ms},
		{algorithm: "agrawal-el-abbadi", detector: "heartbeat:period=50ms,timeout=250ms", n: 5, latency: 700 * ms},
		{algorithm: "ricart-agrawala-view", detector: "heartbeat:period=50ms,timeout=250ms", n: 5,
			latency: 300 * ms},
		{algorithm: "central-failover", elect: "bully:answer=100ms", n: 5, latency: 300 * ms},
	} {
		algo := r.found(t)
		j, tried := r.try(t, algo)
		v := tried.Verdict
		if len(j.TooShort()) == 0 || v.Outcome == check.Violated ||
			v.Outcome == check.Inconclusive && !v.OutsideModel {
			t.Errorf("%+v: too short: %+v, and %v: %s", r, j.TooShort(), v.Outcome, v.Reason)
		}
		if !strings.Contains(v.Reason, "its timeouts are too short for the delays of the run") {
			t.Errorf("%+v: it does not say so: %v: %s", r, v.Outcome, v.Reason)
		}
	}
}

// An algorithm that is wrong without faults is found violated if its timeouts cover the delays. If they do
// not, only failures that do not depend on timeouts make it violated.
func TestWrongAlgorithmsAreFoundViolatedThoughMessagesAreSlow(t *testing.T) {
	r := calmRun{algorithm: "token-ring-regenerating", n: 3, latency: 500 * time.Millisecond, entries: 30}
	hasty := *r.found(t) // it takes a census again and again, though it was told to wait for longer
	hasty.New = func(c nodes.Config) nodes.Machine { return r.found(t).New(c.With("loss-timeout", "700ms")) }
	if _, tried := r.try(t, &hasty); tried.Verdict.Outcome != check.Violated || tried.Verdict.OutsideModel {
		t.Errorf("a ring that does not wait: %v: %s", tried.Verdict.Outcome, tried.Verdict.Reason)
	}
	r.options = "loss-timeout=700ms"
	if _, tried := r.try(t, &hasty); tried.Verdict.Outcome == check.Violated {
		t.Errorf("a ring that was asked not to wait: %s", tried.Verdict.Reason)
	}
	naive := calmRun{algorithm: "naive-broadcast"}.found(t)
	wrong := *naive // it lets two in, and its safety does not depend on the timeouts that it gets here
	wrong.Flaw, wrong.Options, wrong.Safe = nil, r.found(t).Options, nodes.PerfectDetector|nodes.NoLoss
	for _, options := range []string{"", "loss-timeout=700ms"} {
		r.options, r.hold = options, time.Second
		_, tried := r.try(t, &wrong)
		if v := tried.Verdict; v.Outcome != check.Violated || v.OutsideModel || v.Worst().Check != "exclusion" {
			t.Errorf("two inside, with %q: %v: %s", options, v.Outcome, v.Reason)
		}
	}
}

// A run in which messages go on and nobody enters is not reported as blocked.
func TestALivelockIsNotCalledBlocked(t *testing.T) {
	r := calmRun{algorithm: "token-ring-regenerating", options: "loss-timeout=1s", n: 8,
		latency: 600 * time.Millisecond}
	_, tried := r.try(t, r.found(t))
	if v := tried.Verdict; v.Outcome != check.Inconclusive || !v.OutsideModel ||
		!strings.Contains(v.Reason, "messages were handled since anybody entered") ||
		!strings.Contains(v.Reason, "(a livelock: the algorithm assumes ") {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
}

// If the latency of messages exceeds what given timeouts of an elector bear, failures are outside the model;
// a shorter latency changes nothing.
func TestSlowMessagesOfElectors(t *testing.T) {
	for _, algo := range election.Table {
		if algo.Flaw != nil {
			continue
		}
		o := Options{Algorithm: algo.Name, Config: algo.Explicit(nodes.Config{N: 5}), Duration: 20 * time.Second,
			Trials: 1, Seed: 1, Patience: time.Second, Workload: workload.Workload{Load: workload.Campaign}}
		const ms = time.Millisecond
		bears := map[string]time.Duration{"answer": 50 * ms, "election-timeout": 15 * ms, "silence": 200 * ms,
			"wait": 50 * ms}
		shortest := time.Duration(0) // least latency that some timeout does not bear; 0: no such latency
		for name := range o.Config.Options {
			if b := bears[name]; b > 0 && (shortest == 0 || b < shortest) {
				shortest = b
			}
		}
		timed := shortest > 0
		if !timed {
			shortest = time.Second
		}
		for _, latency := range []time.Duration{shortest * 9 / 10, shortest, 2 * shortest, 4 * shortest,
			10 * shortest} {
			o.Latency = chance.Constant(latency)
			tried, err := tryRun(t, algo, o)
			if err != nil {
				t.Fatal(err)
			}
			v, short := tried.Verdict, timed && latency >= shortest
			if got := len(drafted(t, algo, o, true).TooShort()) > 0; got != short {
				t.Errorf("%s, messages that take %v: its timeouts are too short: %v, want %v", algo.Name, latency,
					got, short)
			}
			if v.Outcome == check.Violated && !v.OutsideModel || !short && timed && v.Outcome != check.Valid {
				t.Errorf("%s, messages that take %v: %v: %s", algo.Name, latency, v.Outcome, v.Reason)
			}
		}
	}
}
