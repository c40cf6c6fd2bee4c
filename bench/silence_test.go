package bench

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
)

// What a textbook waits is known where what it rests on is: a bound of messages and of entries.
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
		row, err := mutex.Find(test.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Config: nodes.Config{N: 5}, Latency: test.latency, Regions: test.regions}
		o.Workload.Hold = test.hold
		if got := drafted(t, row, o, true).silence().String(); got != test.want {
			t.Errorf("%s, latency %v, hold %v: %q, want %q", test.algorithm, test.latency, test.hold, got, test.want)
		}
	}
}
