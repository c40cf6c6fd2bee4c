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
func (f *trialFaults) followRequests(now int64) error {
	if f.driver.Announced() && f.orders.allObeyed() {
		f.driver.Known(f.Duration)
		if err := f.save(); err != nil {
			return err
		}
	}
	return f.requests.Answer(func(r *control.Request) (control.Reply, error) {
		reply, err := f.answer(r, now)
		if err != nil {
			reply.Refused = err.Error()
		}
		reply.Trial, reply.Faults = f.number, f.driver.Progress()
		return reply, err
	})
}

// answer carries out a request. The error is one that ends the trial.
func (f *trialFaults) answer(r *control.Request, now int64) (control.Reply, error) {
	switch {
	case r.Do == control.List:
		return control.Reply{}, nil
	case now < f.measured:
		return control.Reply{Refused: "the run warms up", Later: true}, nil
	case r.Do == control.Heal:
		return f.healNow(r.Number)
	case r.Do == control.Inject && f.driver.Announced(): // so that no pipe fills up
		return control.Reply{Refused: "not all nodes know the fault that was injected before", Later: true},
			nil
	case r.Do == control.Inject:
		return f.inject(r.Faults, now)
	}
	return control.Reply{Refused: fmt.Sprintf("a run cannot %q", r.Do), Wrong: true}, nil
}

// wrong refuses a request.
func wrong(err error) (control.Reply, error) {
	return control.Reply{Refused: err.Error(), Wrong: true}, nil
}

// inject adds faults, whose times count from now, to those of the trial, and tells the nodes. They begin when
// all nodes know them.
func (f *trialFaults) inject(faults []chaos.Fault, now int64) (reply control.Reply, err error) {
	for i := range faults {
		one := &faults[i]
		one.Seed, one.Hit = 0, nil
		if one.At < 0 {
			return wrong(fmt.Errorf("%v: its time counts from now, and is not negative", one))
		}
		one.At += chaos.Whole(time.Duration(now - f.measured))
	}
	more, err := chaos.ResolveMore(f.all, faults, f.Scene(), f.seed)
	if err == nil && f.share != nil {
		err = chaos.CheckApart(more)
	}
	if m := new(chaos.Mistake); errors.As(err, &m) && (m.Key == "at" || m.Key == "for") {
		err = fmt.Errorf("%w; it has been for %v", err, time.Duration(now-f.measured).Round(time.Millisecond))
	}
	if err != nil {
		return wrong(err)
	}
	orders, err := f.announcements(more)
	if err != nil {
		return wrong(err)
	}
	before := f.all
	f.all = append(f.all[:len(before):len(before)], more...)
	if err := f.keep(f.all); err != nil {
		f.all = before
		return wrong(err)
	}
	f.counts.wants = true
	for _, one := range more {
		number, err := f.driver.Add(one)
		if err != nil {
			return control.Reply{}, err
		}
		reply.Numbers = append(reply.Numbers, number)
	}
	for _, o := range orders {
		if err := f.orders.give(o, f.nodes.up()...); err != nil {
			return control.Reply{}, err
		}
	}
	return reply, nil
}

// announcements returns the orders that tell nodes of more faults, for those that nodes must know.
func (f *trialFaults) announcements(more []chaos.Fault) (orders []host.Order, err error) {
	for i := range more {
		one := &more[i]
		if err := errors.Join(f.checkPause(one), f.checkCarried(one)); err != nil {
			return nil, err
		}
		if !one.OfNodes() {
			continue
		}
		o := host.Order{Do: host.TakeFault, Number: len(f.all) + i + 1}
		if o.Fault, err = json.Marshal(one); err != nil {
			return nil, err
		}
		if text, err := json.Marshal(o); err != nil || len(text) > longestOrder {
			return nil, errors.Join(err, fmt.Errorf("%s: it takes %d bytes to say, and nodes of a run that "+
				"is on are told %d at a time: name fewer nodes", one.What(), len(text), longestOrder))
		}
		orders = append(orders, o)
	}
	return orders, nil
}

// checkCarried says why connections and brokers of a run that is on cannot suffer a fault, if they cannot.
func (f *trialFaults) checkCarried(fault *chaos.Fault) error {
	one, c := []chaos.Fault{*fault}, f.connections
	if chaos.CutsNetworks(one) && c.cutter == nil {
		return fmt.Errorf("%s: %w", fault.What(), errNoCutter)
	}
	if chaos.SkewsServers(one) && !chaos.SkewsServers(f.Faults) {
		return fmt.Errorf("%s: the servers were started with the clock of the machine: name a fault of that kind "+
			"when the run begins", fault.What())
	}
	if chaos.NeedsProxies(one) && c.transport.proxies == nil || chaos.Disconnects(one) && !c.reconnects {
		return fmt.Errorf("%s: connections run through no proxies, and nodes do not outlive them, "+
			"unless a run begins with --proxies", fault.What())
	}
	return nil
}

// healNow heals a fault before its time.
func (f *trialFaults) healNow(number int) (control.Reply, error) {
	switch err := f.step(func() error { return f.driver.Heal(number) }); {
	case errors.As(err, new(*chaos.Unhealable)):
		return wrong(err)
	case err != nil:
		return control.Reply{}, err
	}
	return control.Reply{}, f.save()
}

// save puts the faults of the trial on record as they are to be repeated.
func (f *trialFaults) save() error {
	f.all = f.driver.Faults()
	return f.keep(f.all)
}

// refuse has requests to the trial refused from now on, for what it does.
func (f *trialFaults) refuse(does string) {
	reply := control.Reply{Trial: f.number, Refused: fmt.Sprintf("trial %d %s", f.number, does)}
	if f.driver != nil {
		reply.Faults = f.driver.Progress()
	}
	f.requests.Close(reply)
}
