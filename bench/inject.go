package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"turnstile/bench/control"
	"turnstile/chaos"
	"turnstile/nodes/host"
)

// startsLater refuses requests to a run that is about to be on.
var startsLater = control.Reply{Refused: "the run starts", Later: true}

// keepFaults writes to run.yaml which faults a trial has that differ from those of the plan, so that this is
// known even if the orchestrator is killed.
func (r *Run) keepFaults(number int, all []chaos.Fault) error {
	injected := maps.Clone(r.Injected) // which may be that of another run
	if injected == nil {
		injected = map[int][]chaos.Fault{}
	}
	injected[number] = slices.Clone(all)
	r.Injected = injected
	r.Record.Options = r.Options
	return r.Folder.WriteYAML(r.Record)
}

// longestOrder is how many bytes an order may have for a pipe to take it as a whole.
const longestOrder = 4096

// followRequests carries out what others have asked for, while the trial issues requests of its own.
func (t *trial) followRequests(now int64) error {
	if t.driver.Announced() && t.allObeyed() {
		t.driver.Known(t.Duration)
		if err := t.saveFaults(); err != nil {
			return err
		}
	}
	for _, v := range t.orders.Take() {
		reply, err := t.answer(&v.Request, now)
		reply.Trial, reply.Faults = t.number, t.driver.Progress()
		v.Answer(reply)
		if err != nil {
			return err
		}
	}
	return nil
}

// answer carries out a request. The error is one that ends the trial.
func (t *trial) answer(r *control.Request, now int64) (control.Reply, error) {
	switch {
	case r.Do == control.List:
		return control.Reply{}, nil
	case now < t.measured:
		return control.Reply{Refused: "the run warms up", Later: true}, nil
	case r.Do == control.Heal:
		return t.healNow(r.Number)
	case r.Do == control.Inject && t.driver.Announced(): // so that no pipe fills up
		return control.Reply{Refused: "not all nodes know the fault that was injected before", Later: true},
			nil
	case r.Do == control.Inject:
		return t.inject(r.Faults, now)
	}
	return control.Reply{Refused: fmt.Sprintf("a run cannot %q", r.Do), Wrong: true}, nil
}

// wrong refuses a request.
func wrong(err error) (control.Reply, error) {
	return control.Reply{Refused: err.Error(), Wrong: true}, nil
}

// inject adds faults, whose times count from now, to those of the trial, and tells the nodes. They begin when
// all nodes know them.
func (t *trial) inject(faults []chaos.Fault, now int64) (reply control.Reply, err error) {
	for i := range faults {
		f := &faults[i]
		f.Seed, f.Hit = 0, nil
		if f.At < 0 {
			return wrong(fmt.Errorf("%v: its time counts from now, and is not negative", f))
		}
		f.At += chaos.Whole(time.Duration(now - t.measured))
	}
	more, err := chaos.ResolveMore(t.faults, faults, t.Scene(), t.seed)
	if m := new(chaos.Mistake); errors.As(err, &m) && (m.Key == "at" || m.Key == "for") {
		err = fmt.Errorf("%w; it has been for %v", err, time.Duration(now-t.measured).Round(time.Millisecond))
	}
	if err != nil {
		return wrong(err)
	}
	orders, err := t.announcements(more)
	if err != nil {
		return wrong(err)
	}
	before := t.faults
	t.faults = append(t.faults[:len(before):len(before)], more...)
	if err := t.keepFaults(t.faults); err != nil {
		t.faults = before
		return wrong(err)
	}
	t.counts = true
	for _, f := range more {
		number, err := t.driver.Add(f)
		if err != nil {
			return control.Reply{Refused: err.Error()}, err
		}
		reply.Numbers = append(reply.Numbers, number)
	}
	for _, o := range orders {
		if err := t.order(t.context, o, t.up()...); err != nil {
			return control.Reply{Refused: err.Error()}, err
		}
	}
	return reply, nil
}

// announcements returns the orders by which nodes learn of more faults, as far as they must.
func (t *trial) announcements(more []chaos.Fault) (orders []host.Order, err error) {
	for i := range more {
		f := &more[i]
		if err := errors.Join(t.checkPause(f), t.checkCarried(f)); err != nil {
			return nil, err
		}
		if !f.OfNodes() {
			continue
		}
		o := host.Order{Do: host.TakeFault, Number: len(t.faults) + i + 1}
		if o.Fault, err = json.Marshal(f); err != nil {
			return nil, err
		}
		if text, err := json.Marshal(o); err != nil || len(text) > longestOrder {
			return nil, errors.Join(err, fmt.Errorf("%s: it takes %d bytes to say, and nodes of a run that "+
				"is on are told %d at a time: name fewer nodes", f.What(), len(text), longestOrder))
		}
		orders = append(orders, o)
	}
	return orders, nil
}

// checkCarried says why connections and brokers of a run that is on cannot suffer a fault, if they cannot.
func (t *trial) checkCarried(f *chaos.Fault) error {
	one := []chaos.Fault{*f}
	if chaos.NeedsProxies(one) && t.transport.proxies == nil || chaos.Disconnects(one) && !t.reconnects {
		return fmt.Errorf("%s: connections run through no proxies, and nodes do not outlive them, "+
			"unless a run begins with --proxies", f.What())
	}
	return nil
}

// healNow heals a fault before its time.
func (t *trial) healNow(number int) (control.Reply, error) {
	switch err := t.driver.Heal(number); {
	case errors.As(err, new(*chaos.Unhealable)):
		return wrong(err)
	case err != nil:
		return control.Reply{Refused: err.Error()}, err
	}
	return control.Reply{}, t.saveFaults()
}

// saveFaults puts the faults of the trial on record as they are to be repeated.
func (t *trial) saveFaults() error {
	t.faults = t.driver.Faults()
	return t.keepFaults(t.faults)
}

// refuse has requests to the trial refused from now on.
func (t *trial) refuse(format string, args ...any) {
	reply := control.Reply{Trial: t.number, Refused: fmt.Sprintf(format, args...)}
	if t.driver != nil {
		reply.Faults = t.driver.Progress()
	}
	t.orders.Close(reply)
}
