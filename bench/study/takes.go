package study

import (
	"cmp"
	"context"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/internal/proc"
)

// A Length is an estimate, made in advance, of how long runs take.
type Length struct {
	Low, High time.Duration
	Unknown   int // runs without an estimate, since they take too long to try
}

// aroundRun is about how long it takes to start and end the processes of a run, and to judge the run.
const aroundRun = 500 * time.Millisecond

// Takes returns about how long the remaining runs take. It tries short simulated runs.
func (s *Sweep) Takes(ctx context.Context) Length {
	left := make([]int, len(s.Cells))
	for _, r := range s.left {
		left[r.cell]++
	}
	if s.Cells[0].Simulated {
		return s.simulatedLength(ctx, s.Cells, left)
	}
	var sum time.Duration
	for cell, count := range left {
		sum += time.Duration(count) * (aroundRun + s.Cells[cell].Warmup + s.Cells[cell].Duration)
	}
	return Length{Low: sum, High: sum}
}

// trying limits the time that simulatedLength spends on trying runs.
const trying = 800 * time.Millisecond

// simulatedLength returns about how long the simulated runs of each job take. For each algorithm it tries a
// run with the fewest and one with the most nodes; runs of other sizes take a time in between.
func (s *Sweep) simulatedLength(ctx context.Context, jobs []*bench.Job, left []int) (sum Length) {
	byAlgorithm := map[string][]int{}
	for cell, j := range jobs {
		if left[cell] > 0 {
			byAlgorithm[j.Algorithm] = append(byAlgorithm[j.Algorithm], cell)
		}
	}
	var tried []int
	for _, cells := range byAlgorithm {
		slices.SortStableFunc(cells, func(a, b int) int { return cmp.Compare(jobs[a].Config.N, jobs[b].Config.N) })
		tried = append(tried, cells[0])
		if last := len(cells) - 1; last > 0 {
			tried = append(tried, cells[last])
		}
	}
	slices.SortFunc(tried, func(a, b int) int { return cmp.Compare(jobs[a].Config.N, jobs[b].Config.N) })
	folder, err := proc.TempDir("tried")
	if err != nil {
		return Length{Unknown: sumOf(left)}
	}
	defer proc.RemoveTemp(folder)
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	short := make([]*trialRun, len(jobs)) // nil for a job that is not tried
	try := func(more func(*trialRun)) {
		pool(ctx, s.workers(), len(tried), func(number int) { more(short[tried[number]]) })
	}
	for _, cell := range tried {
		short[cell] = &trialRun{ctx: ctx, job: jobs[cell], setup: runs.Setup{Results: folder, Set: "tried"}}
	}
	try((*trialRun).begin)
	if sum = lengthOf(byAlgorithm, short, left, s.workers()); sum.Unknown == 0 && sum.High < brief {
		return Length{High: brief} // no need for a better estimate
	}
	try((*trialRun).more)
	return lengthOf(byAlgorithm, short, left, s.workers())
}

// brief is a time so short that it needs no precise estimate.
const brief = 10 * time.Second

func sumOf(all []int) (sum int) {
	for _, n := range all {
		sum += n
	}
	return sum
}

// lengthOf returns how long the remaining runs of all jobs take, given the tried runs of the first and the
// last cell of each algorithm.
func lengthOf(byAlgorithm map[string][]int, tried []*trialRun, left []int, workers int) (sum Length) {
	for _, cells := range byAlgorithm {
		first, last := tried[cells[0]], tried[cells[len(cells)-1]]
		for _, cell := range cells {
			low, high := min(first.low, last.low), max(first.high, last.high)
			if t := tried[cell]; t != nil {
				low, high = t.low, t.high
			}
			if high == 0 || first.high == 0 || last.high == 0 && tried[cell] == nil {
				sum.Unknown += left[cell]
				continue
			}
			sum.Low += time.Duration(left[cell]) * low / time.Duration(workers)
			sum.High += time.Duration(left[cell]) * high / time.Duration(workers)
		}
	}
	return sum
}

// A trialRun first tries leastSlice of the length, or sliceTime of virtual time, whichever is less. Each
// following run tries a share that is sliceStep times longer, until a run takes much longer than the first,
// and longer than wellTried, so that the noise of the system matters little.
const (
	leastSlice = 1.0 / 64
	sliceTime  = 50 * time.Millisecond
	sliceStep  = 4
	wellTried  = 60 * time.Millisecond
)

// A trialRun estimates how long a simulated run takes, from shorter runs of the same job without its faults.
type trialRun struct {
	ctx   context.Context
	job   *bench.Job
	setup runs.Setup

	least     float64       // share of the length that the first run has
	first     time.Duration // how long the first run took: mostly the fixed cost of a run
	low, high time.Duration // estimate of how long the run takes; 0: unknown
}

// once makes a run of a share of the length. It returns how long the run took, or 0 if the run was cut short.
func (t *trialRun) once(share float64) time.Duration {
	part := *t.job
	part.Trials, part.Faults, part.Plan = 1, nil, ""
	part.Warmup, part.WarmupLimit = portion(part.Warmup, share), portion(part.WarmupLimit, share)
	part.Duration = portion(part.Duration, share)
	if part.Entries > 0 {
		part.Entries = max(1, uint64(float64(part.Entries)*share))
	}
	began := time.Now()
	e := Experiment{Setup: t.setup}
	if e.once(t.ctx, &Case{Job: &part, Stored: true}).Err != nil {
		return 0
	}
	took := time.Since(began)
	if share == t.least {
		t.first = took
		t.low, t.high = took, time.Duration(float64(took)/share)
		return took
	}
	perShare := float64(took-t.first) / (share - t.least)
	about := took + time.Duration(max(0, perShare*(1-share)))
	t.low, t.high = about/2, 2*about
	if took > 3*t.first && took > wellTried || share*sliceStep > 1 {
		t.low, t.high = about, about
	}
	return took
}

// begin makes the shortest run.
func (t *trialRun) begin() {
	if t.least = leastSlice; t.job.Entries == 0 {
		t.least = min(t.least, float64(sliceTime)/float64(t.job.Warmup+t.job.Duration))
	}
	t.once(t.least)
}

// more makes longer runs, until the estimate is precise. If there is no time for that, the estimate of the
// shortest run stays, which is a wide range.
func (t *trialRun) more() {
	for share := t.least * sliceStep; share <= 1; share *= sliceStep {
		if t.once(share) == 0 || t.low == t.high {
			return
		}
	}
}

// portion returns a share of a duration.
func portion(d time.Duration, share float64) time.Duration { return time.Duration(float64(d) * share) }
