package bench

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/nodes/mutex"
	"turnstile/nodes/workload"
)

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Options)
		says   string // of the error; empty: none
	}{
		{"defaults", func(*Options) {}, ""},
		{"alias", func(o *Options) { o.Algorithm = "ricart" }, ""},
		{"unknown algorithm", func(o *Options) { o.Algorithm = "ricard" }, `did you mean ricart`},
		{"no nodes", func(o *Options) { o.Config.N = 0 }, "0 nodes: it takes at least one"},
		{"too many nodes", func(o *Options) { o.Config.N = 1 << 21 }, "at most 1048576"},
		{"no trials", func(o *Options) { o.Trials = 0 }, "at least one"},
		{"no patience", func(o *Options) { o.Patience = 0 }, "longer than nothing"},
		{"grid of no square", func(o *Options) {
			o.Algorithm, o.Config = "maekawa", o.Config.With("quorums", "grid")
		}, "square"},
		{"negative duration", func(o *Options) { o.Duration = -1 }, "longer than nothing, such as 3s"},
		{"negative warm-up", func(o *Options) { o.Warmup = -1 }, "must be 0s or longer"},
		{"two ends", func(o *Options) { o.Entries = 5 }, "ends by one of them"},
		{"no end", func(o *Options) { o.Duration = 0 }, "would never end"},
		{"entries", func(o *Options) { o.Duration, o.Warmup, o.Entries = 0, 0, 5 }, ""},
		{"warm-up before entries", func(o *Options) { o.Duration, o.Entries = 0, 5 },
			"warmed up by its first 2 per node"},
		{"too many entries", func(o *Options) { o.Duration, o.Entries = 0, 1<<33 }, "at most 4294967295"},
		{"too long", func(o *Options) { o.Duration = 25 * time.Hour }, "at most 24h"},
		{"long hold", func(o *Options) { o.Workload.Hold = chance.Constant(time.Minute) },
			"longer than the run of 3s"},
		{"long latency", func(o *Options) { o.Latency = chance.Constant(time.Minute) },
			"longer than the run of 3s"},
		{"unknown load", func(o *Options) { o.Workload.Load = "heavy" }, `no load "heavy": take one of saturated`},
		{"open without rate", func(o *Options) { o.Workload.Load = workload.Open }, "an open load takes a rate"},
		{"rate without open", func(o *Options) { o.Workload.Rate = 5 }, "and no other does"},
		{"negative rate", func(o *Options) { o.Workload.Load, o.Workload.Rate = workload.Open, -5 },
			"at least 0.000001, and at most 1000000"},
		{"tiny rate", func(o *Options) { o.Workload.Load, o.Workload.Rate = workload.Open, 1e-12 },
			"a rate of 1e-12 requests per second and node: it must be at least 0.000001"},
		{"long warm-up", func(o *Options) { o.Warmup = 25 * time.Hour }, "a warm-up of 25h0m0s: at most 24h"},
		{"open", func(o *Options) { o.Workload.Load, o.Workload.Rate = workload.Open, 5 }, ""},
		{"think", func(o *Options) { o.Workload.Think = chance.Constant(1) }, "only a closed load thinks"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := option.Defaults()
			test.change(&o)
			spec, err := mutex.Find(o.Algorithm)
			if err == nil {
				before := o
				var j *Job
				if j, err = Resolve(o, spec, false); !reflect.DeepEqual(o, before) {
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
