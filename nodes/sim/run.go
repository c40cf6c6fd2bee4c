package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/replay"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
)

// Options is all that a simulated run depends on. Equal options give equal histories, byte for byte, unless
// the run is interrupted.
type Options struct {
	Stack    *algorithm.Stack // the instances that every node runs
	Workload workload.Workload
	Seed     uint64

	Warmup time.Duration // the time before measuring begins
	// WarmupLimit, if not zero, extends the warm-up of a run with a Duration until no client waits for its first
	// or second entry, but at most until this time.
	WarmupLimit time.Duration
	Duration    time.Duration // how long the run is measured; zero: the run ends after Entries
	Entries     uint64        // requests in all, including warm-up; zero: the run ends after Duration

	Latency     time.Duration    // latency of every message, if there is no Shaper
	Shaper      nodes.Shaper     // decides which messages arrive, and when
	Reordering  bool             // messages of one link may arrive in any order
	Multicast   bool             // a broadcast counts as one publish
	FaultDriver port.FaultDriver // carries out faults; nil: no faults
	Trace       bool             // record all messages, numbered from 1, and which of them are lost
	// Messages takes each message, as Trace records it, in the order of time; the logs then have none. It may be
	// nil.
	Messages func(history.MessageRecord)
	// Schedule writes the run as a schedule; nil: nobody does. Replay.Recorder says what a schedule cannot tell.
	Schedule *replay.Recorder
	Counts   bool // record message counts when a fault or measuring begins or ends

	// Patience is how many messages and timers in all may be handled without an entry while a client waits,
	// before the run counts as stalled; zero: the constant plenty for each node. Patience ends runs in which
	// messages circulate or are resent for ever.
	Patience uint64

	Interrupt <-chan struct{} // closed to end the run at once; nil: never
	Beat      *atomic.Uint64  // incremented as long as handlers return; may be nil
}

// check returns what is wrong with the options.
func (o *Options) check() error {
	if o.Duration == 0 && o.Entries == 0 {
		return errors.New("neither a duration nor a number of entries: the run would never end")
	}
	return o.Workload.CheckRate()
}

// A Result is the result of a simulated run, beside its history.
type Result struct {
	Stall      stall.Reports // a report of each instance; nil: the run did not stall
	Cut        error         // why the run ended early, such as ErrInterrupted or a Panic; nil: it did not
	Deliveries uint64        // messages handled, except by failure detectors
}

// ErrInterrupted ends a run when its Interrupt is closed.
var ErrInterrupted = errors.New("interrupted")

// errTooLong ends a run whose times might overflow.
var errTooLong = errors.New("more than 100 years have passed: take fewer entries or shorter times")

// mostPending is how many planned events a run may hold. So many events take some three gigabytes.
const mostPending = 1 << 25

// watchEvery is the number of events between two checks whether the run must end. It is small, since each
// event may send a message to every node.
const watchEvery = 64

// plenty is the default of Options.Patience per node.
const plenty = 100_000

// Run makes a simulated run, and gives its history to folds while it goes on.
func Run(o Options, folds ...history.Fold) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	w := newWorld(o)
	w.folds = folds
	w.run()
	w.close()
	return &Result{Stall: w.stall, Cut: w.cut, Deliveries: w.handled}, nil
}

// run makes the run, and records how it has ended.
func (w *world) run() {
	w.loop()
	switch {
	case w.cut != nil:
		w.mark(history.Interrupted)
	case w.stall == nil && w.open > 0:
		w.stalled(0)
	case w.stall == nil:
		w.stop()
		w.markStopped()
		w.mark(history.Rested)
	}
}

// begin starts all nodes, and plans faults, requests and campaigns.
func (w *world) begin() {
	w.mark(history.Began)
	w.planWindow()
	w.beginFaults(int64(w.Warmup))
	for id := range w.processes {
		w.bring(&w.processes[id], nodes.Input{Kind: nodes.Start}, false, (*nodes.Process).Boot)
	}
	for id := range nodes.ID(w.n) {
		w.planAll(id)
	}
	w.planCampaigns()
	if w.brief() {
		w.mark(history.Measuring)
	}
}

// steady returns the number of entries after which a run that ends by entries is warm.
func (w *world) steady() uint64 {
	if w.brief() {
		return 0
	}
	return workload.SteadyEntries * uint64(w.n)
}

// loop handles events until none are left, or the run must end.
func (w *world) loop() {
	defer w.catch()
	w.begin()
	for turns := 0; w.stall == nil && w.cut == nil; turns++ {
		if turns%watchEvery == 0 {
			if w.cut = w.watch(); w.cut != nil {
				break
			}
		}
		if w.atRest() && w.Workload.Load == workload.Sequential {
			w.noteCost()
			w.ask()
		}
		if w.stopped && w.open == 0 {
			// From here on, circulating messages and runs without clients would go on for ever, so nodes stop
			// handling.
			w.parked = w.Stack.Circulates() || len(w.lab.Resources) == 0
			w.silenced, w.last = true, max(1, cmp.Or(w.last, w.steps))
			if w.endFaults(); w.cut != nil {
				break
			}
			w.markStopped()
		}
		if w.queue.empty() || w.idle() {
			break
		}
		if w.endless() {
			break
		}
		var e *event
		if w.now, e = w.queue.take(); w.now > int64(chance.Longest) {
			w.cut = errTooLong
			break
		}
		if w.postponed(e) {
			continue
		}
		w.carryOut(e)
		if w.stuck() {
			w.stalled(w.steps - w.moved)
		}
	}
}

// endless reports whether messages are still sent long after all requests are over. Some algorithms keep
// asking a node that is down: after 1000 steps for each node, timers no longer run out, so that no such
// messages are sent.
func (w *world) endless() bool {
	if w.last == 0 || w.open > 0 || w.parked {
		return false
	}
	after, total := w.steps-min(w.steps, w.last), uint64(len(w.processes))
	w.expired = after > 1000*total
	return after > 10_000*total
}

// stuck reports whether the run counts as stalled: a client waits, and too many steps have passed without an
// entry. An algorithm that retries rarely makes few steps; for such an algorithm the messages of detectors
// count as well, unless a client is inside or a fault is not over.
func (w *world) stuck() bool {
	if w.waiting == 0 {
		return false
	}
	idle, total := w.steps-w.moved, uint64(len(w.processes))
	if idle <= w.short { // the usual case
		return false
	}
	return idle > w.Patience || idle > 100*total && w.beats > w.Patience+4000*total*total &&
		w.open == w.waiting && (w.FaultDriver == nil || w.FaultDriver.Next() == math.MaxInt64)
}

// watch returns why the run must end at once, or nil.
func (w *world) watch() error {
	if w.Beat != nil {
		w.Beat.Add(1)
	}
	select {
	case <-w.Interrupt:
		return ErrInterrupted
	default:
	}
	if w.queue.size > mostPending {
		return fmt.Errorf("more than %d messages are on their way at once: take fewer nodes, a lighter load or an "+
			"algorithm that sends less", mostPending)
	}
	return nil
}

// atRest reports whether no request is open and no message is on its way, except circulating ones.
func (w *world) atRest() bool { return w.open == 0 && (w.inflight == 0 || w.Stack.Circulates()) }

// stalled ends the run with a report of each instance. steps is how many messages and timers were handled
// since the last entry; 0: the run stalled because no event was left.
func (w *world) stalled(steps uint64) {
	for i, in := range w.Stack.Instances() {
		if in.Kind == nodes.Detection {
			continue // no client waits for a failure detector
		}
		status := make([]*nodes.NodeStatus, len(w.processes))
		for id := range w.processes {
			if p := &w.processes[id]; p.Up() {
				status[id] = p.Brief(int32(i))
				status[id].Since = w.since(p.ID(), int32(i))
			}
		}
		report := stall.OfBrief(status, w.n, func(id nodes.ID) *nodes.NodeStatus {
			if p := &w.processes[id]; p.Up() {
				return p.Status(int32(i))
			}
			return nil
		})
		if i > 0 {
			report.Instance = fmt.Sprintf("%d, %s", i, in.Name)
		}
		w.stall = append(w.stall, report)
	}
	w.lab.Mark(history.Stalled, int64(steps))
}

// since returns when the latest request of a client was due; 0: the node has no client of the instance.
func (w *world) since(id nodes.ID, instance int32) int64 {
	if r := w.lab.Resource(instance); r >= 0 && int(id) < w.n {
		return w.arrival(id, r).due
	}
	return 0
}

// plan returns a new event at a node and a time, for the caller to fill in. The event is void if the node
// crashes before this time.
func (w *world) plan(at int64, what eventKind, to nodes.ID) *event {
	e := w.queue.add(at)
	e.what, e.to, e.life, e.void, e.late = what, to, w.lives[to], false, false
	return e
}

// carryOut carries out an event.
func (w *world) carryOut(e *event) {
	p := &w.processes[e.to]
	there := e.life == w.lives[e.to] && e.life%2 == 0
	switch e.what {
	case toDeliver:
		w.deliver(p, e, there)
	case toMeasure:
		w.warm()
	case toStop:
		w.stop()
	case toFault:
		w.stepFaults()
	case toRequest:
		if r := w.lab.Resource(e.input.Instance); there && !w.arrival(e.to, r).over {
			w.request(p, r)
		}
	case toRelease:
		if c := w.lab.Client(e.to, w.lab.Resource(e.input.Instance)); there && c.Count == e.input.Gen &&
			p.Client(e.input.Instance) == nodes.Inside { // otherwise the critical section was revoked
			if w.lab.Step(p, e.input.Instance) {
				w.planStep(e.to, e.input.Instance, e.local)
			} else {
				w.release(p, e.input.Instance)
			}
		}
	case toHandBack:
		if there {
			w.handBack(p, e.input.Instance)
		}
	case toTimeout:
		detects := w.detects(e.input.Instance)
		if detects && !e.void {
			w.idling--
		}
		if there && !e.void && !w.parked && !w.expired && !(detects && w.silenced) {
			if !detects {
				w.steps++
			}
			w.feed(p, &e.input)
		}
	case toCampaign:
		if there && !w.parked {
			w.lab.Campaign(e.to, 0)
			w.feed(p, &nodes.Input{Kind: nodes.Campaign})
			w.planCampaign(e.to, w.now)
		}
	case toTell:
		if there {
			w.tellOracle(p, e.input.From)
		}
	}
	if w.inboxes != nil {
		w.attend(p)
	}
}

// feed hands a process an input.
func (w *world) feed(p *nodes.Process, in *nodes.Input) {
	w.turn = p.ID()
	if w.Schedule == nil { // the usual case
		p.Handle(in)
		return
	}
	w.Schedule.Begin(p, in, w.arriving, false)
	p.Handle(in)
	w.Schedule.End()
}

// bring has a process start or restart, by a call of do, which hands it the input in.
func (w *world) bring(p *nodes.Process, in nodes.Input, forgets bool, do func(*nodes.Process)) {
	w.turn = p.ID()
	w.Schedule.Begin(p, &in, 0, forgets)
	do(p)
	w.Schedule.End()
}

// A Panic ends a run in which a machine panics or breaks its contract.
type Panic struct {
	Node  nodes.ID
	At    time.Duration // time since the run began
	Text  string
	Where string // the line of the machine, as in lamport.go:57; empty if unknown
}

func (p *Panic) Error() string {
	text := fmt.Sprintf("node %d panicked after %v: %s", p.Node, p.At, p.Text)
	if p.Where != "" {
		text += " (" + p.Where + ")"
	}
	return text
}

// catch ends the run if a machine panics. It must be deferred.
func (w *world) catch() {
	if text := recover(); text != nil {
		w.Schedule.End()
		w.cut = &Panic{Node: w.turn, At: time.Duration(w.now), Text: fmt.Sprint(text), Where: machineLine()}
	}
}

// machineLine returns the line at which a machine panics: the first line of the call stack outside the Go
// runtime and the core. It is empty if the host itself panicked.
func machineLine() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	for more, panicking := true, false; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case !panicking || strings.HasPrefix(f.Function, "runtime."):
		case strings.HasPrefix(f.Function, "turnstile/nodes.(*Node)"),
			strings.HasPrefix(f.Function, "turnstile/nodes.(*Process)"),
			strings.HasPrefix(f.Function, "turnstile/nodes/sim.(*world)"):
			return ""
		case !strings.HasPrefix(f.Function, "turnstile/nodes.") &&
			!strings.HasPrefix(f.Function, "turnstile/nodes/sim."):
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
	return ""
}
