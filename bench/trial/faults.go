package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/hosts/control"
	"turnstile/nodes/host"
)

// faults are the faults of a trial, and carry them out.
type faults struct {
	*journal
	*bench.Job
	number      int // of the trial
	seed        uint64
	requests    *control.Server
	keep        func([]chaos.Fault) error // puts faults on record that differ from those of the plan
	nodes       *nodeSet
	orders      *orders
	connections *connections
	counts      *messageCounts

	state *chaos.SharedState
	share func() error // has hosts that share no memory know the state; nil: there are none

	all      []chaos.Fault // those of the plan first
	driver   *chaos.Driver // nil: the trial has not begun
	measured int64         // from when on their times count
}

// prepare makes ready to carry out the faults of the trial, and those that are injected. Processes share what
// is in the file at path.
func (f *faults) prepare(path string) (err error) {
	if f.all, err = f.FaultsAsked(f.number, f.seed); err != nil {
		return err
	}
	f.counts.wants = len(f.all) > 0
	f.connections.reconnects = f.connections.reconnects || chaos.Disconnects(f.all)
	state, err := chaos.CreateSharedState(path, f.Config.N)
	if err != nil {
		return err
	}
	f.state = state
	f.driver, err = chaos.NewDriver(f.all, state, f.Config.N, f.Stack.Codec())
	f.nodes.driver = f.driver
	return err
}

// spread has hosts that share no memory know the state of faults from now on, which follow does.
func (f *faults) spread(follow func(*chaos.SharedState, int) error) error {
	f.driver.Apart()
	f.share = func() error { return follow(f.state, f.Config.N) }
	return f.share() // which makes the state of each host
}

// shared has other hosts know what has changed, if there are any, unless err says that it went wrong.
func (f *faults) shared(err error) error {
	if err != nil || f.share == nil || len(f.all) == 0 {
		return err
	}
	return f.share()
}

// step has the driver do what is due. What nodes on other hosts have seen counts for that: how many messages
// a fault has hit is put on record as it is healed.
func (f *faults) step(do func() error) error {
	err := f.shared(nil)
	if err == nil {
		err = do()
	}
	return f.shared(err)
}

// cameTo returns the faults of the trial, with those whom they hit.
func (f *faults) cameTo() []chaos.Fault {
	if f.driver == nil {
		return nil
	}
	return f.driver.CameTo()
}

// begin begins to carry out faults, whose times count from when what is measured begins, and lets others be
// injected.
func (f *faults) begin(measured int64) error {
	f.measured = measured
	f.requests.Open()
	return f.shared(f.driver.Begin(faultCluster{f.connections, f.counts, f}, measured))
}

// follow carries out and records the faults that are to begin or to be healed by now. Nodes carry out those
// of links themselves, at the planned time.
func (f *faults) follow(now int64) error {
	if err := f.followRequests(now); err != nil {
		return err
	}
	f.counts.readAhead(now, f.driver.NextBeginning())
	if f.driver.Next() > now {
		return f.shared(nil)
	}
	return f.step(f.driver.Step)
}

// pending reports whether time alone will heal a fault or begin one. While requests are issued, a fault that
// waits for an event counts as well; once that is over, the event may never come.
func (f *faults) pending(over bool) bool { return f.driver.Pending(f.Duration > 0 && !over) }

// checkHealed says what is left of faults at the end of the trial, if anything is: each was to be healed.
func (f *faults) checkHealed() error {
	carried, err := f.connections.unhealed()
	if left := append(f.driver.InForce(), carried...); err == nil && len(left) > 0 {
		err = fmt.Errorf("faults were not healed: %s", strings.Join(left, "; "))
	}
	return err
}

// StartsLater refuses requests to a run that is about to be on.
var StartsLater = control.Reply{Refused: "the run starts", Later: true}

// longestOrder is how many bytes an order may have for a pipe to take it as a whole.
const longestOrder = 4096

// followRequests carries out what others have asked for, while the trial issues requests of its own.
func (f *faults) followRequests(now int64) error {
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
func (f *faults) answer(r *control.Request, now int64) (control.Reply, error) {
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
func (f *faults) inject(faults []chaos.Fault, now int64) (reply control.Reply, err error) {
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
func (f *faults) announcements(more []chaos.Fault) (orders []host.Order, err error) {
	for i := range more {
		one := &more[i]
		if err := errors.Join(f.CheckPause(one), f.checkCarried(one)); err != nil {
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
func (f *faults) checkCarried(fault *chaos.Fault) error {
	one, c := []chaos.Fault{*fault}, f.connections
	if chaos.CutsNetworks(one) && !c.cutter.CutsNetworks() {
		return fmt.Errorf("%s: %w", fault.What(), errNoCutter)
	}
	if chaos.SkewsServers(one) && !chaos.SkewsServers(f.Faults) {
		return fmt.Errorf("%s: the servers were started with the clock of the machine: name a fault of that kind "+
			"when the run begins", fault.What())
	}
	if chaos.NeedsProxies(one) && !c.site.Proxies.Any() || chaos.Disconnects(one) && !c.reconnects {
		return fmt.Errorf("%s: connections run through no proxies, and nodes do not outlive them, "+
			"unless a run begins with --proxies", fault.What())
	}
	return nil
}

// healNow heals a fault before its time.
func (f *faults) healNow(number int) (control.Reply, error) {
	switch err := f.step(func() error { return f.driver.Heal(number) }); {
	case errors.As(err, new(*chaos.Unhealable)):
		return wrong(err)
	case err != nil:
		return control.Reply{}, err
	}
	return control.Reply{}, f.save()
}

// save puts the faults of the trial on record as they are to be repeated.
func (f *faults) save() error {
	f.all = f.driver.Faults()
	return f.keep(f.all)
}

// refuse has requests to the trial refused from now on, for what it does.
func (f *faults) refuse(does string) {
	reply := control.Reply{Trial: f.number, Refused: fmt.Sprintf("trial %d %s", f.number, does)}
	if f.driver != nil {
		reply.Faults = f.driver.Progress()
	}
	f.requests.Close(reply)
}
