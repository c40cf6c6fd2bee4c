package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A calmRun is a run in which nothing goes wrong.
type calmRun struct {
	algorithm, elect, detector string
	options                    string // given, as name=value, with commas
	n                          int
	latency, hold              time.Duration
	load                       workload.Load // empty: saturated, or campaigns
	entries                    uint64
}

// try makes the run of a row, which is to be valid, or to say before that its timeouts are too short.
func (r calmRun) try(t *testing.T, row *row.Row) (*Job, *Tried) {
	t.Helper()
	o := option.Defaults()
	o.Config.N, o.Config.Elect, o.Detector = r.n, r.elect, r.detector
	o.Latency, o.Workload.Hold = chance.Constant(r.latency), chance.Constant(r.hold)
	o.Warmup, o.WarmupLimit, o.Duration, o.Entries = 0, 0, 0, max(r.entries, uint64(3*r.n))
	if r.load != "" {
		o.Workload.Load = r.load
	}
	if row.Elector != nil {
		o.Workload, o.Duration, o.Entries = workload.Workload{Load: workload.Campaign}, time.Minute, 0
	}
	for option := range strings.SplitSeq(r.options, ",") {
		if name, value, given := strings.Cut(option, "="); given {
			o.Config = o.Config.With(name, value)
		}
	}
	j, err := Resolve(o, row, true)
	if err != nil {
		t.Fatal(err)
	}
	tried, err := Try(t.Context(), j, Setup{})
	if err != nil {
		t.Fatal(err)
	}
	return j, tried
}

func (r calmRun) row(t *testing.T) *row.Row {
	t.Helper()
	row, err := catalog.Find(r.algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// Timeouts that nobody asked for cover what messages and holds take, so that a sound row is valid, and
// suspects nobody, however long that is.
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
		row := r.row(t)
		j, tried := r.try(t, row)
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

// Nobody asks again while nothing is lost, however slow messages and clients are: what an entry costs is what
// is published.
func TestNobodyAsksAgainThoughARunIsSlow(t *testing.T) {
	for _, algorithm := range []string{"agrawal-el-abbadi", "central-failover", "central-queued",
		"ricart-agrawala-ft", "ricart-agrawala-view", "suzuki-kasami-ft"} {
		for _, r := range []calmRun{{n: 5, latency: 300 * time.Millisecond}, {n: 3, hold: 2 * time.Second},
			{n: 9, latency: 40 * time.Millisecond, hold: 100 * time.Millisecond}} {
			r.algorithm, r.entries = algorithm, 100
			row := r.row(t)
			j, tried := r.try(t, row)
			resent := tried.Measures.Resent
			if v := tried.Verdict; v.Outcome != check.Valid || resent > 0 || len(j.Remarks(0)) > 0 {
				t.Errorf("%+v: %v: %s; sent again: %d; %q", r, v.Outcome, v.Reason, resent, j.Remarks(0))
			}
		}
	}
}

// Timeouts that were asked for and are too short break the bound on delays: that is said before the run, and
// what rests on it is not held against the row.
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
		row := r.row(t)
		j, tried := r.try(t, row)
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

// A row that is wrong under no fault is convicted where its timeouts cover the delays; and where they do not,
// of what does not rest on them.
func TestRowsThatAreWrongAreConvictedThoughMessagesAreSlow(t *testing.T) {
	r := calmRun{algorithm: "token-ring-regenerating", n: 3, latency: 500 * time.Millisecond, entries: 30}
	hasty := *r.row(t) // it takes a census again and again, though it was told to wait for longer
	hasty.New = func(c nodes.Config) nodes.Machine { return r.row(t).New(c.With("loss-timeout", "700ms")) }
	if _, tried := r.try(t, &hasty); tried.Verdict.Outcome != check.Violated || tried.Verdict.OutsideModel {
		t.Errorf("a ring that does not wait: %v: %s", tried.Verdict.Outcome, tried.Verdict.Reason)
	}
	r.options = "loss-timeout=700ms"
	if _, tried := r.try(t, &hasty); tried.Verdict.Outcome == check.Violated {
		t.Errorf("a ring that was asked not to wait: %s", tried.Verdict.Reason)
	}
	naive := calmRun{algorithm: "naive-broadcast"}.row(t)
	wrong := *naive // it lets two in, and no timeout of its own is what its safety rests on
	wrong.Flaw, wrong.Options, wrong.Safe = nil, r.row(t).Options, nodes.PerfectDetector|nodes.NoLoss
	for _, options := range []string{"", "loss-timeout=700ms"} {
		r.options, r.hold = options, time.Second
		_, tried := r.try(t, &wrong)
		if v := tried.Verdict; v.Outcome != check.Violated || v.OutsideModel || v.Worst().Check != "exclusion" {
			t.Errorf("two inside, with %q: %v: %s", options, v.Outcome, v.Reason)
		}
	}
}

// A run in which messages go on and nobody enters is no run in which all are blocked.
func TestALivelockIsNotCalledBlocked(t *testing.T) {
	r := calmRun{algorithm: "token-ring-regenerating", options: "loss-timeout=1s", n: 8,
		latency: 600 * time.Millisecond}
	_, tried := r.try(t, r.row(t))
	if v := tried.Verdict; v.Outcome != check.Inconclusive || !v.OutsideModel ||
		!strings.Contains(v.Reason, "messages were handled since anybody entered") ||
		!strings.Contains(v.Reason, "(a livelock, as its model allows: ") {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
}
