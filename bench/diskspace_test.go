package bench

import (
	"testing"

	"turnstile/bench/option"
	"turnstile/nodes/mutex"
	"turnstile/nodes/workload"
)

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
