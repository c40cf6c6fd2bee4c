package campaign

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/nodes"
)

// A Campaign says which runs are made.
type Campaign struct {
	Rows      []*nodes.Spec
	Seed      uint64      // that the cases are drawn by
	Simulated int         // how many plans are carried out in simulations
	Real      int         // and on processes
	Setup     bench.Setup // of the runs of processes
	// Progress is called after each run, by several goroutines, one at a time; it may be nil.
	Progress func(done, all int, r *Result)
}

// A Class is what became of a run.
type Class int

// The classes. Expected is what stalled, or passed somebody over, as its model allows; Inconclusive is
// whatever else is neither valid nor violated, under- and overloaded runs included.
const (
	Valid Class = iota
	Expected
	Inconclusive
	ViolatedInside
	ViolatedOutside
	Failed // the run could not be made
)

// Classes is how many classes there are.
const Classes = int(Failed) + 1

// A Result is what came of a case.
type Result struct {
	*Case
	Verdict check.Verdict
	Elected uint64 // elections that were completed, of a run about leaders
	Class   Class
	Err     error  // why it could not be made
	Wrong   string // what must not be; empty: nothing
	Folder  string // of a run of processes
}

// Inside reports whether the run ended inside the model of its algorithm: no assumption that it rests on was
// broken, or none is any more, and what went wrong meanwhile has no excuse.
func (r *Result) Inside() bool {
	return r.Err == nil && r.Verdict.Broken == 0 && !r.Verdict.OutsideModel
}

// Caught reports whether the run shows what is known to be wrong with its algorithm.
func (r *Result) Caught() bool {
	return slices.ContainsFunc(r.Verdict.Findings, func(f check.Finding) bool {
		return f.Outcome == check.Violated && f.Check == r.Spec.Broken
	})
}

// Simulating returns about how long so many simulated runs take on the processors of this machine: 3 ms of
// processor time each, as measured in runs of chaos and matrix.
func Simulating(count int) time.Duration {
	return time.Duration(count) * 3 * time.Millisecond / time.Duration(runtime.GOMAXPROCS(0))
}

// Takes returns about how long Run takes, on a machine with nothing else to do.
func (c *Campaign) Takes() time.Duration {
	sum := Simulating(c.Simulated)
	for number := range c.Real {
		if one, err := draw(c.Rows, c.Seed, number, true); err == nil {
			sum += one.Options.Warmup + one.Options.Duration
		}
	}
	return sum
}

// Run makes the runs, the simulated ones first. If ctx is done, it returns what there is, with the error of
// ctx.
func (c *Campaign) Run(ctx context.Context) ([]*Result, error) {
	done, all := 0, c.Simulated+c.Real
	note := func(r *Result) {
		if done++; c.Progress != nil {
			c.Progress(done, all, r)
		}
	}
	making := func(real bool) func(int) *Result {
		return func(number int) *Result { return c.make(ctx, number, real) }
	}
	results := Each(ctx, runtime.GOMAXPROCS(0), c.Simulated, making(false), note)
	results = append(results, Each(ctx, 1, c.Real, making(true), note)...)
	return results, ctx.Err()
}

// Each makes so many runs, some at a time, and returns what came of them in the order of their numbers, which
// are from 0. It calls note after each, one at a time. If ctx is done, it returns what there is by then.
func Each[R any](ctx context.Context, workers, count int, one func(number int) *R, note func(*R)) []*R {
	var (
		mu   sync.Mutex
		all  = make([]*R, count)
		next int
		wait sync.WaitGroup
	)
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	for range workers {
		wait.Go(func() {
			for number := take(); number < count && ctx.Err() == nil; number = take() {
				r := one(number)
				if ctx.Err() != nil {
					return // it was cut short
				}
				mu.Lock()
				all[number] = r
				note(r)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(all, func(r *R) bool { return r == nil })
}

// make makes the run of a number.
func (c *Campaign) make(ctx context.Context, number int, real bool) *Result {
	one, err := draw(c.Rows, c.Seed, number, real)
	r := &Result{Case: one}
	switch {
	case err != nil:
		r.Case = &Case{Spec: c.Rows[number%len(c.Rows)], Real: real}
	case real:
		var t *bench.Trial
		if t, r.Folder, err = MakeReal(ctx, one.Spec, one.Options, c.Setup); t != nil {
			r.take(&t.Verdict, t.Measures)
		}
	default:
		var t *bench.Tried
		if t, err = bench.Try(ctx, one.Spec, one.Options); err == nil {
			r.take(&t.Verdict, t.Measures)
		}
	}
	r.Err = err
	r.Class = r.classify()
	r.Wrong = r.wrong()
	return r
}

// take takes what came of a run.
func (r *Result) take(v *check.Verdict, m *measure.Measures) {
	r.Verdict = *v
	if m.Leaders != nil {
		r.Elected = uint64(m.Leaders.Elected())
	}
}

// MakeReal makes a run of processes that has one trial, and returns that, with the name of its folder. An
// error says why it could not be made as it was to be.
func MakeReal(ctx context.Context, spec *nodes.Spec, o bench.Options, s bench.Setup) (t *bench.Trial,
	folder string, err error) {
	run, err := bench.Make(ctx, spec, o, s)
	if run == nil {
		return nil, "", err
	}
	if len(run.Trials) == 0 {
		return nil, run.Folder.Ref(), errors.Join(err, errors.New("it has no trial"))
	}
	t = run.Trials[0]
	if err == nil && t.Trouble != "" {
		err = errors.New(t.Trouble)
	}
	return t, run.Folder.Ref(), err
}

func (r *Result) classify() Class {
	switch v := &r.Verdict; {
	case r.Err != nil:
		return Failed
	case v.Outcome == check.Valid:
		return Valid
	case v.Outcome == check.Violated && v.OutsideModel:
		return ViolatedOutside
	case v.Outcome == check.Violated:
		return ViolatedInside
	case v.Worst().Expected, v.OutsideModel && v.Worst().Check == "fairness":
		return Expected
	}
	return Inconclusive
}

// excusable reports whether a finding may be inconclusive of a run inside the model of its algorithm: because
// a fault never found whom it was for, because the load was none, because of what fairness alone rests on,
// which is that no node is slower than the others, because a fault that waited for its moment was over so
// late that nodes need not agree on a leader yet, because nobody lived that was to campaign, or because
// leaders crashed so fast that no other was elected in between.
func excusable(f *check.Finding) bool {
	return f.Check == "faults" || f.Check == "elections" || f.Check == "evidence" || f.Check == "load" ||
		f.Check == "fairness" && f.OutsideModel || f.Excused
}

// wrong says what of a run must not be, if anything is. What is known to be broken may do what it
// likes.
func (r *Result) wrong() string {
	switch {
	case r.Class == Failed:
		return fmt.Sprintf("could not be made: %v", r.Err)
	case r.Spec.Broken != "":
		return ""
	case r.Class == ViolatedInside:
		return "VIOLATED inside its model: " + r.Verdict.Reason
	}
	if !r.Inside() {
		return ""
	}
	for i := range r.Verdict.Findings {
		if f := &r.Verdict.Findings[i]; f.Outcome != check.Valid && !excusable(f) {
			return fmt.Sprintf("not valid inside its model: %s: %s", f.Check, f.Says)
		}
	}
	return ""
}
