package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"turnstile/bench/cluster"
	"turnstile/bench/control"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// A trial is one run of a cluster of processes, from the start of the first to the end of the last.
type trial struct {
	*Job
	number    int // from 1
	seed      uint64
	origin    uint64 // see history.Header
	dir       string // where its logs go
	launcher  *cluster.Launcher
	transport *transport
	program   string // of a node
	progress  func(Progress)
	// reconnects says that connections to the broker may be lost on purpose, so that nodes outlive that.
	reconnects bool
	resets     map[int]bool // faults in force that close connections or routes, by number

	name       string // of the run, in its subjects
	started    time.Time
	zero       int64 // the same, on CLOCK_MONOTONIC
	anchor     host.Anchor
	journal    *history.Journal
	resource   *host.Resource
	watch      watch
	circulates bool // an instance sends messages even if nobody requests
	processes  []*cluster.Process
	ended      chan *cluster.Process
	notes      *notes
	pauses     pauses
	faults     []chaos.Fault   // of this trial, those of the plan first
	driver     *chaos.Driver   // carries them out; nil: the trial has not begun
	measured   int64           // from when on the times of faults count
	orders     *control.Server // takes requests for more; nil: nobody makes any
	// keepFaults puts faults on record that differ from those of the plan.
	keepFaults func([]chaos.Fault) error
	counts     bool    // it has faults, so messages are counted at their moments
	ahead      reading // for the next that begins
	outage     outage
	asked      int                // how often all nodes were asked for their status
	stall      string             // the report of a stall, if there was one
	lives      []life             // by node
	past       []*cluster.Process // of nodes that have restarted since
	began      int64              // when issuing began; 0: not yet
	end        int64              // until when the nodes were told to issue; 0: until they are told
	calmed     string             // the order by which they were told to come to rest, if they were
	context    context.Context    // of the run, for what is done to nodes in the course of it
	lossy      bool               // messages may have been lost that nobody has counted
	livelock   uint64             // messages handled since anybody entered, if that is why
}

// A Progress says how far a trial has come.
type Progress struct {
	Trial     int
	Phase     string        // starting, warming up, measuring, draining, judging
	Done      float64       // 0 to 1
	Elapsed   time.Duration // since issuing began
	Entries   uint64
	PerSecond float64 // entries, lately
}

// errInterrupted ends a trial that the user interrupts.
var errInterrupted = errors.New("interrupted")

// errStalled ends a trial in which somebody waits and nothing moves.
var errStalled = errors.New("stalled")

// How often a trial reads the counters of its nodes. Each time takes them out of the caches of the nodes'
// processors, so it is done rarely where nothing depends on it.
const (
	tick     = 10 * time.Millisecond
	slowTick = 50 * time.Millisecond
)

// run runs the trial. Whatever the error, the folder holds what was recorded up to then, and no
// process is left.
func (t *trial) run(ctx context.Context) (err error) {
	t.anchor, t.context = host.DropAnchor(), ctx
	t.started, t.zero = time.Now(), t.anchor.Now()
	t.journal, err = history.CreateJournal(filepath.Join(t.dir, "orchestrator.log"), t.origin, t.anchor.Error)
	if err != nil {
		return err
	}
	defer func() {
		t.finish(err)
		err = errors.Join(err, t.journal.Close())
	}()
	if err := t.start(ctx); err != nil {
		return err
	}
	if err := t.issue(ctx); err != nil {
		return err
	}
	return t.rest(ctx)
}

// finish marks why the trial ended early, if it did, and ends its processes.
func (t *trial) finish(err error) {
	t.refuse("trial %d has ended", t.number)
	switch {
	case errors.Is(err, errStalled):
		t.journal.Stall(t.now(), t.livelock)
	case err != nil:
		t.journal.Mark(t.now(), history.Interrupted)
	}
	if err != nil {
		t.count(t.now(), false)
		t.gaugeMemory()
	}
	started := t.up() // the others have ended
	for _, p := range started {
		p.Kill()
	}
	for _, p := range started {
		<-p.Ended()
	}
	t.watch.close()
}

func (t *trial) now() int64 { return t.anchor.Now() - t.zero }

// wait lets a time pass, unless the trial must end sooner.
func (t *trial) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	planned := t.now() + int64(d)
	for {
		select {
		case <-timer.C:
			return t.overslept(planned, t.now())
		case p := <-t.ended:
			if err := t.death(p); err != nil {
				return err
			}
		case <-ctx.Done():
			return errInterrupted
		}
	}
}

// cut returns why the trial must end at once, or nil.
func (t *trial) cut(ctx context.Context) error {
	select {
	case p := <-t.ended:
		return t.death(p)
	case <-ctx.Done():
		return errInterrupted
	default:
		return nil
	}
}

func (t *trial) report(p Progress) {
	if t.progress != nil {
		t.progress(p)
	}
}

// rest waits until all requests are granted and released and all messages have arrived, and then has the
// nodes quit.
func (t *trial) rest(ctx context.Context) error {
	stallDetector := t.newStallDetector()
	for {
		s := t.watch.read()
		if (t.calming() == "" || t.watch.hushed) && !t.unhealed() {
			if rested, err := t.rested(ctx, s); err != nil {
				return err
			} else if rested {
				break
			}
		}
		if order := t.calming(); order != "" && t.calmed == "" {
			idle, err := t.idle(ctx, s)
			if err == nil && idle {
				t.calmed = order
				err = t.order(ctx, host.Order{Do: order}, t.up()...)
			}
			if err != nil {
				return err
			}
		}
		if t.calmed != "" && !t.watch.hushed && t.allObeyed() {
			// From now on, what detectors have sent is to arrive.
			t.watch.hushed = true
			stallDetector.restart(t.sums(), t.now())
			continue
		}
		if err := stallDetector.look(ctx, s, t.now()); err != nil {
			return err
		}
		t.report(Progress{Phase: "draining", Done: 1, Entries: s.entries})
		if err := t.wait(ctx, tick/2); err != nil {
			return err
		}
	}
	if err := t.checkHealed(ctx); err != nil {
		return err
	}
	if err := t.journal.Mark(t.now(), history.Rested); err != nil {
		return err
	}
	return t.quit(ctx)
}

// idle reports whether no request is open, and none will be. A process that stands still may have one to make
// that was due before issuing ended, so each has to go on first, and to answer.
func (t *trial) idle(ctx context.Context, s sums) (bool, error) {
	if s.open() {
		return false, nil
	}
	if err := t.followPauses(t.now()); err != nil || len(t.pauses.since) > 0 {
		return false, err
	}
	status, err := t.ask(ctx, time.Second)
	return err == nil && t.unanswered(status) < 0 && !t.sums().open(), err
}

// rested reports whether the trial is at rest for good, for which each process has to answer, as for idle.
func (t *trial) rested(ctx context.Context, s sums) (bool, error) {
	if err := t.followPauses(t.now()); err != nil || len(t.pauses.since) > 0 {
		return false, err
	}
	if resting, err := t.resting(ctx, s); !resting || err != nil {
		return false, err
	}
	return t.unchanged(ctx, s)
}

// calming returns the order by which what goes on for ever comes to rest; nothing if all does so by itself.
func (t *trial) calming() string {
	switch {
	case t.circulates, t.Stack.Elector() != nil: // a leader may send heartbeats
		return host.Park
	case t.Detects():
		return host.Hush
	}
	return ""
}

// gaugeMemory records how much memory the largest node has taken.
func (t *trial) gaugeMemory() error {
	var most int64
	for _, p := range t.up() {
		if kb, ok := p.PeakResidentKB(); ok {
			most = max(most, kb)
		}
	}
	if most == 0 {
		return nil
	}
	return t.journal.Gauge(t.now(), history.ResidentKB, most)
}

// quit records how much memory the nodes took, and has them close their logs and end.
func (t *trial) quit(ctx context.Context) error {
	if err := t.gaugeMemory(); err != nil {
		return err
	}
	if err := t.order(ctx, host.Order{Do: host.Quit}, t.up()...); err != nil {
		return err
	}
	late := time.After(t.longestPause() + time.Duration(t.total())*10*time.Millisecond)
	for _, p := range t.up() {
		select {
		case <-p.Ended():
			if p.Err() != nil {
				return fmt.Errorf("%s did not end well: %s", p.Name, p.Fate())
			}
		case <-late:
			return fmt.Errorf("%s did not end when it was told to", p.Name)
		case <-ctx.Done():
			return errInterrupted
		}
	}
	return nil
}

// TrialSeed returns the seed of the trial numbered from 1.
func TrialSeed(seed uint64, number int) uint64 {
	if number == 1 {
		return seed
	}
	return chance.Dice(seed).Bits(chance.Roll{Purpose: chance.ForTrial,
		Count: uint64(number)}) & math.MaxInt64
}
