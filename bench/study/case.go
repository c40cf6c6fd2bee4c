package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/algorithm"
	"turnstile/results"
)

// A Case is a run of a study, with what the study expects of it.
type Case struct {
	*bench.Job
	Err error // why the run cannot be made
	// If Stored is set, a simulated run is stored, like a run of processes. Name is the name of its folder, and
	// Sweep its place in a sweep; if they are empty, the folder gets a default name, and the run is in no
	// sweep.
	Stored bool
	Name   string
	Sweep  *runs.SweepRun
	// Expect sets Wrong if the run is not as expected, and keeps what the study needs of it; nil: any result is
	// as expected.
	Expect func(*Result)
	// Again returns the case to make next if the run showed too little, up to three runs in all; nil: no run
	// follows.
	Again func(*Result) *Case
}

// A Result is the result of a case.
type Result struct {
	*bench.Job
	Verdict   check.Verdict
	Shown     algorithm.Outcome // the outcome that the run shows; 0: inconclusive
	Says      string            // why the run shows this outcome
	Faults    []measure.OfFault
	Leaders   *measure.Leaders // measures of a run about leaders
	Elected   uint64           // elections that a campaign completed
	Suspected uint64           // suspicions of nodes that were up
	Folder    string           // folder of a stored run
	Row       *results.SplitBrainRow
	Figure    *Reproduced
	Err       error  // why the run could not be made
	Wrong     string // how the run differs from what is expected; empty: it does not

	// The run itself, until Expect returns.
	run   *runs.Run // nil: the run is not stored, or could not be made
	tried *bench.Tried
}

// most is the number of runs that a case may have if its runs show too little. Runs of processes share a
// machine with other processes.
const most = 3

// make makes the run of a case, and the runs that the case asks for after it.
func (e *Experiment) make(ctx context.Context, c *Case) *Result {
	number := 0
	return again(c, func(c *Case) *Result {
		number++
		r := e.once(ctx, e.named(c, number))
		if c.Expect != nil {
			c.Expect(r)
		}
		r.run, r.tried = nil, nil // frees memory: a study has many runs
		return r
	}, func() bool { return ctx.Err() == nil })
}

// named returns a case with a name, by which it is found again in the set, if the study continues one. number
// counts the runs of the case, from 1.
func (e *Experiment) named(c *Case, number int) *Case {
	if e.finished == nil || c.Err != nil || c.Name != "" {
		return c
	}
	named := *c
	if named.Name, named.Err = nameOf(c.Job, number); named.Err == nil {
		named.Sweep = &runs.SweepRun{Name: named.Name, Trial: number}
	}
	return &named
}

// again makes the run of a case, and then of the cases that Again returns, while may returns true.
func again(c *Case, once func(*Case) *Result, may func() bool) (r *Result) {
	for range most {
		if r = once(c); c.Again == nil || !may() {
			break
		}
		if c = c.Again(r); c == nil {
			break
		}
	}
	return r
}

// once makes the run of a case, without calling Expect.
func (e *Experiment) once(ctx context.Context, c *Case) *Result {
	r := &Result{Job: c.Job, Err: c.Err}
	if r.Err == nil && (c.Stored || !c.Simulated) {
		r.store(ctx, c, e)
	} else if r.Err == nil {
		r.tried, r.Err = runs.Try(ctx, r.Job, e.Setup)
	}
	if t := r.tried; t != nil {
		r.Verdict, r.Faults = t.Verdict, t.Rows
		if t.Measures != nil {
			r.Leaders, r.Suspected = t.Measures.Leaders, t.Measures.Detection.Wrong
		}
	}
	if r.Err != nil {
		r.Says = fmt.Sprintf("could not be made: %v", r.Err)
	} else {
		r.Shown, r.Says = r.Verdict.Shown()
	}
	return r
}

// store makes a run that is stored, or judges it again if the set has it.
func (r *Result) store(ctx context.Context, c *Case, e *Experiment) {
	if folder := e.finished[c.Name]; folder != nil {
		r.run, r.Err = runs.Reopen(ctx, e.Known, folder)
	} else {
		s := e.Setup
		s.Name, s.Sweep = c.Name, c.Sweep
		r.run, r.Err = runs.Make(ctx, r.Job, s)
	}
	if r.run == nil {
		return
	}
	r.Folder = r.run.Folder.Ref()
	if r.tried = r.run.Tried(); r.tried == nil {
		r.Err = cmp.Or(r.Err, errors.New("it has no trial"))
	} else if trouble := r.run.Trials[0].Trouble; r.Err == nil && trouble != "" {
		r.Err = errors.New(trouble)
	}
}

// run makes count cases, some at a time, and returns their results by number, from 0. If ctx is done, or
// results cannot be written, the results of cases not made by then are nil. For Progress, run takes the
// number of cases made before this call, and the number of all cases.
func (e *Experiment) run(ctx context.Context, workers, count, before, all int,
	of func(number int) *Case) []*Result {
	return e.each(ctx, workers, count, before, all, func(ctx context.Context, number int) *Result {
		return e.make(ctx, of(number))
	})
}

// each is like run, but calls the function one for each number. A call may make several runs, or no run.
func (e *Experiment) each(ctx context.Context, workers, count, before, all int,
	one func(ctx context.Context, number int) *Result) []*Result {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if e.unwritten != nil {
		stop()
	}
	var mu sync.Mutex
	results := make([]*Result, count)
	pool(ctx, workers, count, func(number int) {
		r := one(ctx, number)
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return // the run was cut short
		}
		if e.stops(r) {
			stop()
			return
		}
		results[number] = r
		if before++; e.Progress != nil {
			e.Progress(before, all, r)
		}
	})
	return results
}

// pool calls do for the numbers from 0 to count-1, in that order, on several workers, until ctx is done.
func pool(ctx context.Context, workers, count int, do func(number int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for number := int(next.Add(1)) - 1; number < count && ctx.Err() == nil; number = int(next.Add(1)) - 1 {
				do(number)
			}
		})
	}
	wait.Wait()
}

// made returns the results that are not nil.
func made(all []*Result) []*Result {
	return slices.DeleteFunc(all, func(r *Result) bool { return r == nil })
}
