package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// So is that the timeouts of an elector are too short for its messages.
func TestRemarksOnElectors(t *testing.T) {
	waits := nodes.Spec{Info: nodes.Info{Name: "e"}, Leads: &nodes.Leadership{
		Bears: func(nodes.Config) time.Duration { return 10 * time.Millisecond }}}
	for latency, want := range map[time.Duration]string{9 * time.Millisecond: "",
		10 * time.Millisecond: "may take 10ms, and the timeouts of e allow for less than 10ms"} {
		o := Defaults()
		o.Config.N, o.Latency = 3, chance.Constant(latency)
		got := strings.Join(o.Remarks(&waits, 2), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%v: %q", latency, got)
		}
	}
}

// What is allowed and yet likely to surprise is said before the run.
func TestRemarks(t *testing.T) {
	majority := nodes.Spec{Info: nodes.Info{Name: "m"}, Live: nodes.Majority, Detects: "heartbeat"}
	for _, test := range []struct {
		detector string
		latency  time.Duration
		n        int
		want     string // empty: nothing
	}{
		{"heartbeat:period=5ms,timeout=20ms", 19 * time.Millisecond, 3, ""},
		{"heartbeat:period=5ms,timeout=20ms", 20 * time.Millisecond, 3, "may take 20ms, and the detector suspects"},
		{"probe:period=5ms,timeout=20ms", time.Second, 3, "may take 2s"},
		{"probe:period=5ms,timeout=20ms", 10 * time.Millisecond, 3, "a message and its answer may take 20ms, and"},
		{"phi", time.Hour, 3, ""},
		{"swim:suspicion=0", 49 * time.Millisecond, 3, ""},
		{"swim:suspicion=0", 50 * time.Millisecond, 3, "its answer may take 100ms, and the detector " +
			"suspects a node after 100ms of silence"},
		{"perfect", time.Hour, 3, ""},
		{"heartbeat", 0, 2, "a majority of 2 is all"},
		{"heartbeat", 0, 1, "a majority of 1 is all"},
		{"heartbeat", 0, 4, "a majority of 4 is 3, one more than of 3, which outlast as many crashes: 1"},
		{NoDetector, 0, 3, "none runs"},
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
		o := Defaults()
		o.Detector, o.Config.N, o.Latency = test.detector, test.n, chance.Constant(test.latency)
		got := strings.Join(o.Remarks(&majority, 2), "; ")
		if simulated := strings.Join(o.Remarks(&majority, 0), "; "); strings.Contains(simulated, "core") {
			t.Errorf("%+v, simulated: %q", test, simulated)
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
