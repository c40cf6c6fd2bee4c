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

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/port"
)

// Again returns the options by which the run is made again. Its injected faults are then asked for, and their
// times count from a warm-up of a fixed length.
func (o Options) Again() Options {
	if len(o.Injected) > 0 {
		o.WarmupLimit = 0
	}
	return o
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
	faults, _ := r.resolve(number, TrialSeed(r.Seed, number)) // it was valid when run
	return faults
}

// checked returns what the checks must know of faults.
func checked(faults []chaos.Fault) (all []check.Fault) {
	for i := range faults {
		f := &faults[i]
		asked := check.Fault{Text: f.String(), OfLinks: f.OfLinks(), ForGood: f.ForGood(), Breaks: f.Breaks(),
			Waits: !f.Timed(), Leaves: f.Leaves()}
		if cut := f.Parts(); cut != nil {
			asked.Separates, asked.Blocks = cut.Parts, cut.Blocks
		}
		if effect.KindOf(f.Effect).Cuts {
			asked.CutsOff = f.CutsOff
		}
		all = append(all, asked)
	}
	return all
}

// checkPause says what is wrong with a fault by which processes or connections stand still, if anything is.
func (o *Options) checkPause(f *chaos.Fault) error {
	if lasts := cmp.Or(f.For, o.Duration-f.At); effect.KindOf(f.Effect).Holds && lasts >= o.longestPause() {
		return fmt.Errorf("%v: a process may stand still for less than %v, and so may a connection: let it "+
			"last for less, or allow for more by a --patience of %v", f, o.longestPause(), lasts/10)
	}
	return nil
}

// prepareFaults makes ready to carry out the faults of the trial, and those that are injected. Processes
// share what is in the file of their state.
func (t *trial) prepareFaults() (err error) {
	if t.faults, err = t.resolve(t.number, t.seed); err != nil {
		return err
	}
	t.counts = len(t.faults) > 0
	t.reconnects = t.reconnects || t.Proxies || chaos.Disconnects(t.faults)
	state, err := chaos.CreateSharedState(t.faultStatePath(), t.Config.N)
	if err != nil {
		return err
	}
	t.driver, err = chaos.NewDriver(t.faults, state, t.Config.N, t.Stack.Codec())
	return err
}

// faultStatePath returns where the state of the faults is.
func (t *trial) faultStatePath() string { return filepath.Join(t.dir, "faults") }

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
	t.orders.Open()
	return t.driver.Begin(faultCluster{t}, measured)
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

// A faultCluster is the cluster of a trial, on which faults are carried out.
type faultCluster struct{ *trial }

var _ port.Cluster = faultCluster{}

// Now implements port.Cluster.
func (s faultCluster) Now() int64 { return s.now() }

// Up implements port.Cluster.
func (s faultCluster) Up(id nodes.ID) bool { return s.isUp(id) }

// Kill implements port.Cluster.
func (s faultCluster) Kill(id nodes.ID) error { return s.kill(id) }

// Restart implements port.Cluster.
func (s faultCluster) Restart(id nodes.ID, forget bool) error { return s.restart(id, forget) }

// Pause implements port.Cluster.
func (s faultCluster) Pause(id nodes.ID) error { return s.stop(id, true) }

// Resume implements port.Cluster.
func (s faultCluster) Resume(id nodes.ID) error { return s.stop(id, false) }

// stop stops the process of a node, or has it go on. One that has just killed itself may be gone.
func (s faultCluster) stop(id nodes.ID, still bool) error {
	if err := s.processes[id].Stop(still); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// SetClock implements port.Cluster.
func (s faultCluster) SetClock(id nodes.ID, jump time.Duration, rate float64) error {
	return s.order(s.context, host.Order{Do: host.SetClock, Jump: jump, Rate: rate}, s.processes[id])
}

// FaultBegan implements port.Cluster.
func (s faultCluster) FaultBegan(b port.FaultBeginning) error {
	return errors.Join(s.journal.Add(history.FaultEvent(b)), s.count(b.At, true))
}

// FaultHealed implements port.Cluster.
func (s faultCluster) FaultHealed(at int64, number int, hits uint64) error {
	e := history.Event{At: at, Kind: history.FaultHealed, Count: uint32(number), Value: int64(hits),
		Node: nodes.None}
	return errors.Join(s.journal.Add(e), s.count(at, false))
}

// faultsPending reports whether a fault is in force or to come that will be healed or begin whatever happens.
func (t *trial) faultsPending() bool {
	return t.driver != nil && t.driver.Pending(t.Duration > 0)
}
