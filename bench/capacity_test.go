package bench

import (
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/workload"
)

// A load demands all units of a resource only if each client requests again at once, requests fit the
// capacity without a rest, holds are long, and there is one resource: of several, too few clients may want
// one.
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
		spec, err := catalog.Find("multi-copy")
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Algorithm, o.Config, o.Latency = spec.Name, nodes.Config{N: 5, Units: 3}, ms
		o.Workload.Hold = chance.Constant(100 * time.Millisecond)
		test.change(&o)
		j, err := Resolve(o, spec, true)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, network := check.SettingOf(j.Stack), j.network()
		s.Delay, s.Bounded = network.Bound()
		if got := j.fills(&s); got != test.fills {
			t.Errorf("%s: the load demands all units: %v", name, got)
		}
	}
}
