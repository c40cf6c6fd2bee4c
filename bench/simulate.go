package bench

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"turnstile/chaos"
	"turnstile/internal/pattern"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
)

// Simulation returns the options of the simulator for a trial, given its number and its seed, and the faults
// of the trial.
func (j *Job) Simulation(number int, seed uint64) (*sim.Options, []chaos.Fault, error) {
	faults, err := j.FaultsAsked(number, seed)
	if err != nil {
		return nil, nil, err
	}
	network := j.Network()
	s, err := network.Simulated(faults, j.Scene(), seed)
	return &sim.Options{
		Stack: j.Stack, Workload: j.Workload, Seed: seed,
		Warmup: j.Warmup, WarmupLimit: j.WarmsUpTo(), Duration: j.Duration, Entries: j.Entries,
		Multicast: j.Multicast, Counts: j.Faulty(), Trace: j.Trace, Latency: s.Latency, Shaper: s.Shaper,
		FaultDriver: s.FaultDriver,
	}, faults, err
}

// A SimulatedTrial is a trial on virtual time that has been judged.
type SimulatedTrial struct {
	Judgement
	Result  *sim.Result
	Carried []chaos.Fault // faults that were carried out, with the nodes they hit
}

// SimulateTrial simulates a trial, given its number and its seed, and judges it. The history, whose header is
// h, also goes to folds. After a StuckError the folds are still in use by the stuck simulation.
func (j *Job) SimulateTrial(ctx context.Context, number int, seed uint64, h history.Header,
	folds ...history.Fold) (*SimulatedTrial, error) {
	asked, faults, err := j.Simulation(number, seed)
	if err != nil {
		return nil, err
	}
	asked.Interrupt = ctx.Done()
	t := &SimulatedTrial{Judgement: j.Judge(h, j.Setting(faults))}
	t.Result, err = simulateWatched(ctx, *asked, stuckAfter, append([]history.Fold{t.Judgement}, folds...)...)
	if err != nil {
		return nil, err
	}
	if driver, faulty := asked.FaultDriver.(*chaos.Driver); faulty {
		t.Carried = driver.CameTo()
	}
	return t, nil
}

// SimulateAgain simulates a stored trial again, and does not judge it. Its history goes to folds, and its
// messages to messages: see sim.Options.
func (j *Job) SimulateAgain(ctx context.Context, seed uint64, messages func(history.MessageRecord),
	folds ...history.Fold) error {
	asked, _, err := j.Simulation(0, seed)
	if err != nil {
		return err
	}
	asked.Interrupt, asked.Messages = ctx.Done(), messages
	result, err := simulateWatched(ctx, *asked, stuckAfter, folds...)
	if err == nil {
		err = result.Cut
	}
	if err != nil {
		return fmt.Errorf("simulating: %w", err)
	}
	return nil
}

// Schedule simulates a trial again, given its seed, and returns its steps: see replay.Recorder.
func (j *Job) Schedule(ctx context.Context, seed uint64) (*replay.Schedule, error) {
	recorder, err := replay.NewRecorder(j.Stack)
	if err != nil {
		return nil, err
	}
	asked, _, err := j.Simulation(0, seed)
	if err != nil {
		return nil, err
	}
	asked.Interrupt, asked.Schedule, asked.Messages = ctx.Done(), recorder, func(history.MessageRecord) {}
	if _, err := simulateWatched(ctx, *asked, stuckAfter); err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	return recorder.Schedule()
}

// Limits on how long a simulation may spend on one message, which takes a microsecond unless the algorithm is
// stuck. After an interruption the limit is shorter, so that the user need not wait.
const (
	stuckAfter       = 30 * time.Second
	stuckInterrupted = 2 * time.Second
)

// A StuckError ends a simulated run in which a handler does not return. The trial is lost, since nothing can
// stop the handler.
type StuckError struct{ where string }

func (e StuckError) Error() string {
	return "a handler of the algorithm does not return (it is at " + e.where +
		"); nothing of the trial is kept, and the same seed shows it again"
}

// simulateWatched simulates a run. It gives up if a handler does not return within limit.
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
					return nil, StuckError{place}
				}
				since = time.Now() // the machine is busy: the simulation is in no handler
			}
		}
	}
}

// frame matches the file and line in a stack trace.
var frame = pattern.Of(`(?m)^\t(\S+\.go:\d+)`)

// goroutine returns the name of the calling goroutine as stack traces print it, such as "goroutine 7".
func goroutine() string {
	begin := make([]byte, 64)
	says, _, _ := strings.Cut(string(begin[:runtime.Stack(begin, false)]), " [")
	return says
}

// inHandler returns the file and line in the algorithm where the simulating goroutine is, or "" if it is in
// no handler. Other goroutines may simulate at the same time.
func inHandler(simulates string) string {
	stacks := make([]byte, 1<<20)
	for _, stack := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if !strings.HasPrefix(stack, simulates+" [") {
			continue
		}
		handler := ""
		for _, place := range frame().FindAllStringSubmatch(stack, -1) { // innermost call first
			if strings.Contains(place[1], "/nodes/node.go:") {
				return handler // this frame has called the handler
			}
			handler = place[1]
		}
	}
	return ""
}

// A Tried is the outcome of a single trial, without the record of a run.
type Tried struct {
	Verdict  check.Verdict
	Measures *measure.Measures
	Faults   []chaos.Fault     // faults that were carried out, with the nodes they hit
	Rows     []measure.OfFault // the effects of the faults
	Folder   string            // folder of a run of processes

	Led       *leadership.Fold // leaders in a simulated run about leaders
	Simulated *SimulatedTrial  // nil: a run of processes
}

// Simulate simulates a trial and stores nothing. Its history also goes to folds. It leaves out the figures
// about leaders and about the effects of faults, which take longer to compute than a short trial.
func Simulate(ctx context.Context, j *Job, folds ...history.Fold) (*Tried, error) {
	got, err := j.SimulateTrial(ctx, 0, j.Seed, history.Header{Nodes: j.Total()}, folds...)
	if err == nil {
		err = got.Result.Cut
	}
	if err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	return &Tried{Verdict: got.Checks.Verdict(), Measures: &got.Measures.Measures, Faults: got.Carried,
		Led: got.Checks.Leaders(), Simulated: got}, nil
}
