package bench

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"turnstile/chaos"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
)

// The kinds of runs, as runs.csv names them.
const (
	kindBench    = "bench"
	kindSimulate = "simulate"
)

// simulateAll makes the trials, one after the other, and saves their results even after an error.
func (r *Run) simulateAll(ctx context.Context, s Setup) (err error) {
	defer func() { err = errors.Join(err, r.end()) }()
	for number := 1; number <= r.Options.Trials; number++ {
		if ctx.Err() != nil {
			return errInterrupted
		}
		if s.Progress != nil {
			s.Progress(Progress{Trial: number, Phase: "simulating"})
		}
		err := r.simulate(ctx, number)
		if s.OnTrial != nil && len(r.Trials) == number {
			s.OnTrial(r.Trials[number-1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// simulation returns the options of the simulator for a trial, given its number and its seed, and the faults
// of the trial.
func (j *Job) simulation(number int, seed uint64) (*sim.Options, []chaos.Fault, error) {
	faults, err := j.resolve(number, seed)
	if err != nil {
		return nil, nil, err
	}
	network := j.network()
	s, err := network.Simulated(faults, j.Scene(), seed)
	return &sim.Options{
		Stack: j.Stack, Workload: j.Workload, Seed: seed,
		Warmup: j.Warmup, WarmupLimit: j.WarmsUpTo(), Duration: j.Duration, Entries: j.Entries,
		Multicast: j.Multicast, Counts: j.Faulty(), Trace: j.Trace, Latency: s.Latency, Shaper: s.Shaper,
		FaultDriver: s.FaultDriver,
	}, faults, err
}

// A simulatedTrial is a trial on virtual time that has been judged.
type simulatedTrial struct {
	judgement
	result *sim.Result
	faults []chaos.Fault // that were carried out, with those whom they hit
}

// simulated makes a trial on virtual time, given its number and its seed, and judges it. Its history, which
// has the header h, goes to other folds too. After a stuckError the folds are still in use.
func (j *Job) simulated(ctx context.Context, number int, seed uint64, h history.Header,
	folds ...history.Fold) (*simulatedTrial, error) {
	asked, faults, err := j.simulation(number, seed)
	if err != nil {
		return nil, err
	}
	asked.Interrupt = ctx.Done()
	t := &simulatedTrial{judgement: j.judgementOf(h, j.setting(faults))}
	t.result, err = simulateWatched(ctx, *asked, stuckAfter, append([]history.Fold{t.judgement}, folds...)...)
	if err != nil {
		return nil, err
	}
	if driver, faulty := asked.FaultDriver.(*chaos.Driver); faulty {
		t.faults = driver.CameTo()
	}
	return t, nil
}

// simulate makes one trial. One that ends early is an error, and judged all the same.
func (r *Run) simulate(ctx context.Context, number int) error {
	record := TrialRecord{Seed: TrialSeed(r.Seed, number), Started: time.Now().UTC().Round(time.Microsecond)}
	header := history.Header{Nodes: r.total(), Origin: r.Record.origin(number)}
	file, err := history.CreateFile(r.Folder.HistoryFile(number), header)
	if err != nil {
		return err
	}
	t, err := r.simulated(ctx, number, record.Seed, header, file)
	if errors.As(err, new(stuckError)) {
		return err
	}
	saved := file.Save()
	if err != nil {
		return fmt.Errorf("simulating: %w", err)
	}
	cut := t.result.Cut
	if errors.Is(cut, sim.ErrInterrupted) {
		cut = errInterrupted
	}
	if cut != nil {
		record.Trouble = cut.Error()
	}
	record.Faults = t.faults
	r.Record.Trials = append(r.Record.Trials, record)
	r.conclude(number, t.judgement, t.result.Stall)
	return errors.Join(cut, saved)
}

// How long a simulation may handle a single message: it takes a microsecond, unless the algorithm is stuck.
// After an interruption nobody wants to wait as long.
const (
	stuckAfter       = 30 * time.Second
	stuckInterrupted = 2 * time.Second
)

// A stuckError ends a simulated run in which a handler does not return. What was simulated is lost, since
// nothing can stop the handler.
type stuckError struct{ where string }

func (e stuckError) Error() string {
	return "a handler of the algorithm does not return (it is at " + e.where +
		"); nothing of the trial is kept, and the same seed shows it again"
}

// simulateWatched makes a simulated run, unless one of its handlers does not return within limit.
func simulateWatched(ctx context.Context, o sim.Options, limit time.Duration, folds ...history.Fold) (
	*sim.Result, error) {
	type outcome struct {
		result *sim.Result
		err    error
	}
	var beat atomic.Uint64
	o.Beat = &beat
	over, started := make(chan outcome, 1), make(chan string, 1)
	go func() {
		started <- goroutine()
		result, err := sim.Run(o, folds...)
		over <- outcome{result, err}
	}()
	interrupted := ctx.Done()
	simulates := <-started
	last, since := uint64(0), time.Now()
	tick := time.NewTicker(limit / 30)
	defer tick.Stop()
	for {
		select {
		case got := <-over:
			return got.result, got.err
		case <-interrupted:
			interrupted, limit = nil, min(limit, stuckInterrupted)
		case <-tick.C:
			if now := beat.Load(); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) > limit {
				if place := inHandler(simulates); place != "" {
					return nil, stuckError{place}
				}
				since = time.Now() // on a busy machine it has not got as far
			}
		}
	}
}

// frame is a line of a stack that names a place in a file.
var frame = regexp.MustCompile(`(?m)^\t(\S+\.go:\d+)`)

// goroutine returns how the stack of the goroutine that calls it begins, as in goroutine 7.
func goroutine() string {
	begin := make([]byte, 64)
	says, _, _ := strings.Cut(string(begin[:runtime.Stack(begin, false)]), " [")
	return says
}

// inHandler returns the place in the algorithm that the handler of a simulation has come to, given the
// goroutine that simulates; others may simulate beside it. Empty: it is in no handler.
func inHandler(simulates string) string {
	stacks := make([]byte, 1<<20)
	for _, stack := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if !strings.HasPrefix(stack, simulates+" [") {
			continue
		}
		handler := ""
		for _, place := range frame.FindAllStringSubmatch(stack, -1) { // the innermost call first
			if strings.Contains(place[1], "/nodes/node.go:") {
				return handler // it has called the handler
			}
			handler = place[1]
		}
	}
	return ""
}

// A Tried is what came of a trial that was made alone.
type Tried struct {
	Verdict  check.Verdict
	Measures *measure.Measures
	Faults   []chaos.Fault     // as TrialRecord has them
	Rows     []measure.OfFault // what the faults did
	Folder   string            // of a run of processes

	Led       *leadership.Fold // of a simulated run about leaders
	simulated *simulatedTrial
}

// Try makes a run that has one trial. Of one on virtual time nothing is stored. An error says why it could
// not be made as it was to be; what there is of a run of processes comes with it.
func Try(ctx context.Context, j *Job, s Setup) (*Tried, error) {
	if !j.Simulated {
		return j.tryReal(ctx, s)
	}
	t, err := Simulate(ctx, j)
	if err != nil {
		return nil, err
	}
	t.simulated.lead()
	if faults := t.simulated.judgement.faults; faults != nil {
		t.Rows = faults.Rows(faultIn(t.Faults), t.Measures.Leaders)
	}
	return t, nil
}

// Simulate makes a trial on virtual time, of which nothing is stored. Its history goes to folds as well. The
// figures about leaders, and what the faults did, are left out: they take longer than a short trial.
func Simulate(ctx context.Context, j *Job, folds ...history.Fold) (*Tried, error) {
	got, err := j.simulated(ctx, 0, j.Seed, history.Header{Nodes: j.total()}, folds...)
	if err == nil {
		err = got.result.Cut
	}
	if err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	return &Tried{Verdict: got.checks.Verdict(), Measures: &got.measures.Measures, Faults: got.faults,
		Led: got.checks.Leaders(), simulated: got}, nil
}

// tryReal is Try of a run of processes.
func (j *Job) tryReal(ctx context.Context, s Setup) (*Tried, error) {
	r, err := Make(ctx, j, s)
	if r == nil {
		return nil, err
	}
	t := &Tried{Folder: r.Folder.Ref()}
	if len(r.Trials) == 0 {
		return t, errors.Join(err, errors.New("it has no trial"))
	}
	one := r.Trials[0]
	t.Verdict, t.Measures, t.Faults = one.Verdict, one.Measures, r.Record.Trials[0].Faults
	for i := range one.Faults {
		t.Rows = append(t.Rows, one.Faults[i].OfFault)
	}
	if err == nil && one.Trouble != "" {
		err = errors.New(one.Trouble)
	}
	return t, err
}
