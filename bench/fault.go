package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"turnstile/bench/check"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// resolve returns the faults of a trial, given its number and its seed: those that come of the plan, or those
// that are on record instead.
func (o *Options) resolve(spec *nodes.Spec, number int, seed uint64, simulated bool) ([]chaos.Fault, error) {
	came, injected := o.Injected[number]
	switch {
	case injected:
		return chaos.ResolveMore(nil, came, o.scene(spec, simulated), seed)
	case len(o.Faults) == 0:
		return nil, nil
	}
	return chaos.Resolve(o.Faults, o.scene(spec, simulated), seed)
}

// resolvable says what is wrong with the faults of some trial, if anything is.
func (o *Options) resolvable(spec *nodes.Spec) error {
	_, err := o.resolve(spec, 0, 1, false) // there is no such trial, so they are those of the plan
	for number := range o.Injected {
		if _, wrong := o.resolve(spec, number, 1, false); wrong != nil {
			err = errors.Join(err, fmt.Errorf("trial %d: %w", number, wrong))
		}
	}
	return err
}

// Again returns the options by which the run is made again. Its injected faults are then asked for, and their
// times count from a warm-up of a fixed length.
func (o Options) Again() Options {
	if len(o.Injected) > 0 {
		o.WarmupLimit = 0
	}
	return o
}

// Scene returns what faults must know of the run, also for options that Validate has not completed. If no
// nodes can be made of these, it says why, and the scene is that of the algorithm alone.
func (o Options) Scene(spec *nodes.Spec, simulated bool) (*chaos.Scene, error) {
	o.Config = spec.Fitted(o.Config, o.delays())
	s := &chaos.Scene{Spec: spec, Config: o.Config, Measured: o.Duration, Simulated: simulated,
		Brokers: o.Brokers, Foreign: o.NATS != "", Campaigns: o.Workload.CampaignEvery}
	if err := o.resolveDetector(spec); err != nil {
		return s, err
	}
	stack, err := o.newStack(spec)
	if err == nil {
		s.Stack = stack
	}
	return s, err
}

// scene is Scene of valid options.
func (o *Options) scene(spec *nodes.Spec, simulated bool) *chaos.Scene {
	s, err := o.Scene(spec, simulated)
	if err != nil {
		panic(err)
	}
	return s
}

// FaultTexts says what faults were asked for, in words. Where some were injected, those of a trial are those
// that came of all.
func (o *Options) FaultTexts() []string {
	if one := o.Injected[1]; one != nil && o.Trials == 1 {
		return textsOf(one)
	}
	texts := textsOf(o.Faults)
	for _, number := range slices.Sorted(maps.Keys(o.Injected)) {
		for _, text := range textsOf(o.Injected[number]) {
			texts = append(texts, fmt.Sprintf("in trial %d: %s", number, text))
		}
	}
	return texts
}

// textsOf says faults in words.
func textsOf(faults []chaos.Fault) (texts []string) {
	for i := range faults {
		texts = append(texts, faults[i].String())
	}
	return texts
}

// faulty reports whether faults were asked for, before the run or while it went on.
func (o *Options) faulty() bool { return len(o.Faults)+len(o.Injected) > 0 }

// faults returns the faults of a trial, by its number: those on record, or else those of the plan.
func (r *Run) faults(number int) []chaos.Fault {
	if number <= len(r.Record.Trials) && len(r.Record.Trials[number-1].Faults) > 0 {
		return r.Record.Trials[number-1].Faults
	}
	// it was valid when run
	faults, _ := r.Record.Options.resolve(r.Spec, number, trialSeed(r.Record.Options.Seed, number),
		r.Record.Simulated)
	return faults
}

// checked returns what the checks must know of faults.
func checked(faults []chaos.Fault) (all []check.Fault) {
	for i := range faults {
		f := &faults[i]
		asked := check.Fault{Text: f.String(), OfLinks: f.OfLinks(), ForGood: f.ForGood(), Breaks: f.Breaks(),
			Waits: !f.Timed(), Leaves: f.Leaves()}
		if f.Parts() {
			asked.Separates, asked.Blocks = f.Cut.Parts, f.Cut.Blocks
		}
		if f.Cuts() {
			asked.CutsOff = f.CutsOff
		}
		all = append(all, asked)
	}
	return all
}

// checkPause says what is wrong with a fault by which processes or connections stand still, if anything is.
func (o *Options) checkPause(f *chaos.Fault) error {
	if lasts := cmp.Or(f.For, o.Duration-f.At); f.Holds() && lasts >= o.longestPause() {
		return fmt.Errorf("%v: a process may stand still for less than %v, and so may a connection: let it "+
			"last for less, or allow for more by a --patience of %v", f, o.longestPause(), lasts/10)
	}
	return nil
}

// prepareFaults makes ready to carry out the faults of the trial, and those that are injected. Processes
// share what is in the file of the board.
func (t *trial) prepareFaults() (err error) {
	if t.faults, err = t.resolve(t.spec, t.number, t.seed, false); err != nil {
		return err
	}
	t.counts = len(t.faults) > 0
	t.reconnects = t.reconnects || t.Proxies || chaos.Disconnects(t.faults)
	board, err := chaos.CreateBoard(t.boardPath(), t.Config.N)
	if err != nil {
		return err
	}
	t.driver, err = chaos.NewDriver(t.faults, board, t.Config.N, t.stack(t.spec).Codec())
	return err
}

// boardPath returns where the state of the faults is.
func (t *trial) boardPath() string { return filepath.Join(t.dir, "faults") }

// cameTo returns the faults of the trial, with those whom they hit.
func (t *trial) cameTo() []chaos.Fault {
	if t.driver == nil {
		return nil
	}
	return t.driver.CameTo()
}

// beginFaults begins to carry out faults, whose times count from when what is measured begins, and lets
// others be injected.
func (t *trial) beginFaults(measured int64) error {
	t.measured = measured
	t.desk.Open()
	return t.driver.Begin(stage{t}, measured)
}

// followFaults carries out and records the faults that are to begin or to be healed by now. Nodes carry out
// those of links themselves, at the planned time.
func (t *trial) followFaults(now int64) error {
	if t.driver == nil {
		return nil
	}
	if err := t.followRequests(now); err != nil {
		return err
	}
	t.readAhead(now)
	if t.driver.Next() > now {
		return nil
	}
	return t.driver.Step()
}

// endFaults heals what is not healed when issuing stops.
func (t *trial) endFaults() error {
	if t.driver == nil {
		return nil
	}
	return t.driver.End()
}

// checkHealed says what is left of faults at the end of the trial, if anything is: each was to be healed.
func (t *trial) checkHealed(ctx context.Context) error {
	if t.driver == nil {
		return nil
	}
	left := t.driver.InForce()
	numbers, err := t.inForce(ctx)
	for _, number := range numbers {
		left = append(left, fmt.Sprintf("fault %d of a connection or a route", number))
	}
	for i := range t.transport.brokerCount() {
		if !t.transport.running(i) {
			left = append(left, t.transport.process(i).Name+" is down")
		}
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("faults were not healed: %s", strings.Join(left, "; "))
	}
	return err
}

// unhealed reports whether a fault is in force.
func (t *trial) unhealed() bool { return t.driver != nil && t.driver.Unhealed() }

// mend heals what is left of faults in processes that the next trial shares.
func (t *trial) mend() error {
	if t.driver == nil {
		return nil
	}
	return t.driver.Mend()
}

// A stage is the cluster of a trial, on which faults are carried out.
type stage struct{ *trial }

var _ nodes.Cluster = stage{}

// Now implements nodes.Cluster.
func (s stage) Now() int64 { return s.now() }

// Up implements nodes.Cluster.
func (s stage) Up(id nodes.ID) bool { return s.isUp(id) }

// Kill implements nodes.Cluster.
func (s stage) Kill(id nodes.ID) error { return s.kill(id) }

// Restart implements nodes.Cluster.
func (s stage) Restart(id nodes.ID, forget bool) error { return s.restart(id, forget) }

// Pause implements nodes.Cluster.
func (s stage) Pause(id nodes.ID) error { return s.stop(id, true) }

// Resume implements nodes.Cluster.
func (s stage) Resume(id nodes.ID) error { return s.stop(id, false) }

// stop stops the process of a node, or has it go on. One that has just killed itself may be gone.
func (s stage) stop(id nodes.ID, still bool) error {
	if err := s.processes[id].Stop(still); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// SetClock implements nodes.Cluster.
func (s stage) SetClock(id nodes.ID, jump time.Duration, rate float64) error {
	return s.order(s.context, host.Order{Do: host.SetClock, Jump: jump, Rate: rate}, s.processes[id])
}

// FaultBegan implements nodes.Cluster.
func (s stage) FaultBegan(b nodes.FaultBeginning) error {
	return errors.Join(s.journal.Add(history.FaultEvent(b)), s.count(b.At, true))
}

// FaultHealed implements nodes.Cluster.
func (s stage) FaultHealed(at int64, number int, hits uint64) error {
	e := history.Event{At: at, Kind: history.FaultHealed, Count: uint32(number), Value: int64(hits),
		Node: nodes.None}
	return errors.Join(s.journal.Add(e), s.count(at, false))
}

// faultsPending reports whether a fault is in force or to come that will be healed or begin whatever happens.
func (t *trial) faultsPending() bool {
	return t.driver != nil && t.driver.Pending(t.Duration > 0)
}
