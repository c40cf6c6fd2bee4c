package runs

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// large simulates a run of many nodes, and returns it with the bytes of memory that it has taken in all.
func large(t *testing.T, algorithm string, n int, faults ...chaos.Fault) (*Run, uint64) {
	t.Helper()
	spec, err := mutex.Find(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := simulateRun(t, spec, bench.Options{Algorithm: spec.Name, Config: nodes.Config{N: n},
		Entries: uint64(2 * n), Seed: 1, Trials: 1, Patience: time.Second, Faults: faults,
		Latency: chance.Constant(time.Millisecond), Workload: workload.Workload{Load: workload.Saturated}},
		Setup{Results: t.TempDir(), Set: "set"})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return r, after.TotalAlloc - before.TotalAlloc
}

// sizes returns the sizes of the files with the verdict of a run.
func sizes(t *testing.T, r *Run) (all []int64) {
	t.Helper()
	for _, name := range []string{results.VerdictFile, "verdict.txt"} {
		info, err := os.Stat(r.Folder.File(name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Size())
	}
	return all
}

// A run that stalls costs little more than one that works, and its verdict does not grow with the cluster.
func TestStallOfManyNodes(t *testing.T) {
	kill := chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{1500}}},
		Schedule: chaos.Schedule{At: time.Second, For: 100 * time.Second}}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // or what is pooled would be made anew
	large(t, "naimi-trehel", 2000, kill)             // takes what a process takes once
	_, ofFew := large(t, "naimi-trehel", 2000)
	_, ofMany := large(t, "naimi-trehel", 12_000)
	few, stalledFew := large(t, "naimi-trehel", 2000, kill)
	many, stalledMany := large(t, "naimi-trehel", 12_000, kill)
	if stalled, works := (stalledMany-stalledFew)/10_000, (ofMany-ofFew)/10_000; stalled > 2*works {
		t.Errorf("a node of a run that stalls takes %d bytes, one of a run that works %d", stalled, works)
	}
	for i, size := range sizes(t, few) {
		if more := sizes(t, many)[i]; size > 16<<10 || more > size+size/20 {
			t.Errorf("the verdict of 2,000 nodes takes %d bytes, that of 12,000 takes %d", size, more)
		}
	}
	v := many.Trials[0].Verdict
	if len(v.Starved) != stall.Most || len(v.Starved)+v.MoreStarved != int(v.Unfinished) {
		t.Errorf("%d nodes wait, of which %d are listed: %v", v.Unfinished, v.MoreStarved, v.Starved)
	}
	report := v.Stall[0]
	waiting := slices.DeleteFunc(slices.Clone(report.Nodes), func(id nodes.ID) bool {
		return report.States[slices.Index(report.Nodes, id)].Token
	})
	if !slices.Equal(waiting, v.Starved[:len(waiting)]) || len(waiting) < stall.Most-1 ||
		len(report.Nodes)+report.LeftOut.Nodes != 12_000 {
		t.Errorf("the nodes that have waited longest are %v; listed are %v", v.Starved, report.Nodes)
	}
	if again := audited(t, many.Folder); len(again.Differences)+len(again.Remarks) > 0 {
		t.Errorf("judged again: %v", again)
	}
}

// The circle of a deadlock among many nodes stands in the verdict, with its states and waits.
func TestCircleOfManyNodes(t *testing.T) {
	for _, n := range []int{100, 300} {
		r, _ := large(t, "naive-broadcast-deferring", n)
		v := r.Trials[0].Verdict
		if len(v.Stall) == 0 || len(v.Stall[0].Circle) == 0 {
			t.Fatalf("%d nodes are in no circle: %v", n, v.Reason)
		}
		report := v.Stall[0]
		for i, id := range report.Circle[1:] {
			edge := stall.Wait{From: report.Circle[i], To: id, By: nodes.None}
			if !slices.Contains(report.Nodes, id) || !slices.Contains(report.Waits, edge) {
				t.Errorf("the circle is %v: node %d is not in %v, or its wait is missing", report.Circle, id,
					report.Nodes)
			}
		}
		if size := sizes(t, r); size[0] > 200<<10 || size[1] > 16<<10 {
			t.Errorf("the verdict of %d nodes takes %d bytes", n, size)
		}
	}
}
