package experiment

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/nodes/workload"
)

// A Length is about how long runs take, as far as that is known before.
type Length struct {
	Low, High time.Duration
	Unknown   int // runs that it leaves out, since they take too long to be tried
}

// aroundRun is about how long processes take to start and to end, and what they recorded to be judged.
const aroundRun = 500 * time.Millisecond

// Takes returns about how long the runs take that are left. Of simulated runs it tries short ones.
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

// Takes returns how long the probes take at most that are left: of processes, with the longest warm-up; of
// simulated ones, with clients that always request, since no load makes more events.
func (s *RateSweep) Takes(ctx context.Context) Length {
	jobs, left := make([]*bench.Job, len(s.Cells)), make([]int, len(s.Cells))
	var sum time.Duration
	for cell, searches := range s.searches {
		j := *s.Cells[cell]
		j.Workload.Load, j.Workload.Rate = workload.Saturated, 0
		jobs[cell] = &j
		for _, r := range searches {
			if !r.over {
				left[cell] += max(1, r.most-len(r.said))
			}
		}
		sum += time.Duration(left[cell]) * (aroundRun + max(j.Warmup, j.WarmupLimit) + j.Duration)
	}
	if s.Cells[0].Simulated {
		return s.simulatedLength(ctx, jobs, left)
	}
	return Length{Low: sum, High: sum}
}

// trying is how long simulated runs are tried to know how long they take.
const trying = 800 * time.Millisecond

// simulatedLength returns about how long so many simulated runs of each job take. Of each algorithm it tries
// a run of the fewest and one of the most nodes; the others take a time between theirs.
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
	took := make([]time.Duration, len(jobs)) // 0: it is not known
	folder, err := os.MkdirTemp("", "turnstile-")
	if err == nil {
		defer os.RemoveAll(folder)
		ctx, cancel := context.WithTimeout(ctx, trying)
		defer cancel()
		pool(ctx, s.workers(), len(tried), func(number int) {
			took[tried[number]] = timeOf(ctx, jobs[tried[number]], bench.Setup{Results: folder, Set: "tried"})
		})
	}
	for _, cells := range byAlgorithm {
		ends := []time.Duration{took[cells[0]], took[cells[len(cells)-1]]}
		for i, cell := range cells {
			low, high := slices.Min(ends), slices.Max(ends)
			switch {
			case i == 0 || i == len(cells)-1:
				low, high = took[cell], took[cell]
			case low == 0:
				high = 0
			}
			if high == 0 {
				sum.Unknown += left[cell]
			}
			sum.Low += time.Duration(left[cell]) * low / time.Duration(s.workers())
			sum.High += time.Duration(left[cell]) * high / time.Duration(s.workers())
		}
	}
	return sum
}

// The shares of a run that are tried begin with leastSlice, each sliceStep times the one before.
const (
	leastSlice = 1.0 / 64
	sliceStep  = 4
)

// timeOf returns about how long a simulated run takes, by runs of a part of its length, without its faults:
// what a run takes however short it is, and what comes with its length. 0: that is not known in time.
func timeOf(ctx context.Context, j *bench.Job, setup bench.Setup) time.Duration {
	var first, took time.Duration
	for share := leastSlice; ; share *= sliceStep {
		part := *j
		part.Trials, part.Faults, part.Plan = 1, nil, ""
		part.Warmup, part.WarmupLimit = portion(j.Warmup, share), portion(j.WarmupLimit, share)
		part.Duration = portion(j.Duration, share)
		if part.Entries > 0 {
			part.Entries = max(1, uint64(float64(j.Entries)*share))
		}
		began := time.Now()
		if _, err := bench.Make(ctx, &part, setup); err != nil {
			return time.Duration(float64(took) * sliceStep / share) // of the one before; 0: there is none
		}
		if took = time.Since(began); first == 0 {
			first = took
		} else if perShare := float64(took-first) / (share - leastSlice); share >= 1 || took > 3*first {
			return took + time.Duration(max(0, perShare*(1-share)))
		}
	}
}

// portion returns a share of a length of time.
func portion(d time.Duration, share float64) time.Duration { return time.Duration(float64(d) * share) }
