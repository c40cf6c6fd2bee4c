package sim

import (
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// measuredFrom returns when a run began to be measured, and for how long it was.
func measuredFrom(t *testing.T, o Options) (from, length time.Duration) {
	t.Helper()
	h := &history.History{}
	if _, err := Run(o, h); err != nil {
		t.Fatal(err)
	}
	marks := map[uint32]int64{}
	for _, e := range h.Events {
		if e.Kind == history.Marked {
			marks[e.Count] = e.At
		}
	}
	from = time.Duration(marks[history.Measuring])
	return from, time.Duration(marks[history.Stopped]) - from
}

// The warm-up lasts until every client that requests has entered twice, within its limits.
func TestClientsEndTheWarmUp(t *testing.T) {
	const n = 5
	o := options(t, "central", n, slow(t))
	o.Entries, o.Duration, o.Warmup = 0, 100*time.Millisecond, time.Millisecond
	o.Latency = time.Millisecond
	o.Workload = workload.Workload{Load: workload.Saturated, Hold: chance.Constant(10 * time.Millisecond)}
	o.WarmupLimit = time.Second
	entered := func(before time.Duration) (times int) {
		h := &history.History{}
		if _, err := Run(o, h); err != nil {
			t.Fatal(err)
		}
		for _, e := range h.Events {
			if e.Kind == history.Entered && time.Duration(e.At) <= before {
				times++
			}
		}
		return times
	}
	from, length := measuredFrom(t, o)
	if got := entered(from); got != 2*n || length != o.Duration {
		t.Errorf("measured for %v after %v and %d entries, not %d", length, from, got, 2*n)
	}
	for name, test := range map[string]struct {
		change func(o *Options)
		want   time.Duration
	}{
		"no extension": {func(o *Options) { o.WarmupLimit = 0 }, time.Millisecond},
		"limited":      {func(o *Options) { o.WarmupLimit = 30 * time.Millisecond }, 30 * time.Millisecond},
		"long enough":  {func(o *Options) { o.Warmup = 500 * time.Millisecond }, 500 * time.Millisecond},
		"few requests": {func(o *Options) {
			o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(time.Second)
			o.Warmup = 200 * time.Millisecond
		}, 200 * time.Millisecond},
	} {
		changed := o
		test.change(&changed)
		if got, _ := measuredFrom(t, changed); got != test.want {
			t.Errorf("%s: measured after %v, not %v", name, got, test.want)
		}
	}
}
