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

// faults hold the faults of a trial, and carry them out.
type faults struct {
	*journal
	*bench.Job
	number      int // number of the trial
	seed        uint64
	requests    *control.Server
	keep        func([]chaos.Fault) error // saves the faults of the trial if they differ from the plan's
	nodes       *nodeSet
	orders      *orders
	connections *connections
	counts      *messageCounts

	state *chaos.SharedState
	share func() error // copies the state to hosts that share no memory with this one; nil: no such hosts

	all      []chaos.Fault // all faults of the trial: first the plan's, then injected ones
	driver   *chaos.Driver // nil until prepare makes it
	measured int64         // start of the measurement, from which times of faults count
}

// prepare resolves the faults, and makes the driver. Processes share the state of the faults in the file at
// path.
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

// spread makes follow copy the state of the faults to hosts without shared memory, now and after each change.
func (f *faults) spread(follow func(*chaos.SharedState, int) error) error {
	f.driver.Apart()
	f.share = func() error { return follow(f.state, f.Config.N) }
	return f.share() // creates the state on each host
}

// syncState copies changes of the state to other hosts, if the run has any. It does nothing if err is set.
func (f *faults) syncState(err error) error {
	if err != nil || f.share == nil || len(f.all) == 0 {
		return err
	}
	return f.share()
}

// step calls do, and copies the state from and to other hosts before and after. So the record of a healed
// fault includes how many messages it hit on those hosts.
func (f *faults) step(do func() error) error {
	err := f.syncState(nil)
	if err == nil {
		err = do()
	}
	return f.syncState(err)
}

// cameTo returns the faults of the trial, with the nodes they hit.
func (f *faults) cameTo() []chaos.Fault {
	if f.driver == nil {
		return nil
	}
	return f.driver.CameTo()
}

// begin starts the faults, whose times count from measured, the start of the measurement. It also admits
// injected faults.
func (f *faults) begin(measured int64) error {
	f.measured = measured
	f.requests.Open()
	return f.syncState(f.driver.Begin(faultCluster{f.connections, f.counts, f}, measured))
}

// follow begins and heals the faults that are due. Nodes carry out the faults of links themselves, at the
// planned time.
func (f *faults) follow(now int64) error {
	if err := f.followRequests(now); err != nil {
		return err
	}
	f.counts.readAhead(now, f.driver.NextBeginning())
	if f.driver.Next() > now {
		return f.syncState(nil)
	}
	return f.step(f.driver.Step)
}

// pending reports whether time alone will begin or heal a fault. If the run has a duration that is not over,
// a fault that waits for an event counts too; otherwise the event may never come.
func (f *faults) pending(over bool) bool { return f.driver.Pending(f.Duration > 0 && !over) }

// checkHealed returns an error if a fault is still in force at the end of the trial.
func (f *faults) checkHealed() error {
	carried, err := f.connections.unhealed()
	if left := append(f.driver.InForce(), carried...); err == nil && len(left) > 0 {
		err = fmt.Errorf("faults were not healed: %s", strings.Join(left, "; "))
	}
	return err
}

// StartsLater is the reply to requests before the run has started.
var StartsLater = control.Reply{Refused: "the run starts", Later: true}

// longestOrder is the size in bytes up to which a pipe takes an order in one piece.
const longestOrder = 4096

// followRequests answers the requests of other processes to list, inject or heal faults.
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

// answer carries out a request. An error ends the trial.
func (f *faults) answer(r *control.Request, now int64) (control.Reply, error) {
	switch {
	case r.Do == control.List:
		return control.Reply{}, nil
	case now < f.measured:
		return control.Reply{Refused: "the run warms up", Later: true}, nil
	case r.Do == control.Heal:
		return f.healNow(r.Number)
	case r.Do == control.Inject && f.driver.Announced(): // one injection at a time, so that no pipe fills up
		return control.Reply{Refused: "not all nodes know the fault that was injected before", Later: true},
			nil
	case r.Do == control.Inject:
		return f.inject(r.Faults, now)
	}
	return control.Reply{Refused: fmt.Sprintf("a run does not know %q", r.Do), Wrong: true}, nil
}

// wrong returns the reply to a request that is wrong, and no error.
func wrong(err error) (control.Reply, error) {
	return control.Reply{Refused: err.Error(), Wrong: true}, nil
}

// inject adds faults, whose times count from now, to the faults of the trial, and tells the nodes. The faults
// begin once all nodes know them.
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
		err = fmt.Errorf("%w; the measurement has lasted %v", err,
			time.Duration(now-f.measured).Round(time.Millisecond))
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

// announcements returns the orders that tell nodes about more faults, for faults that nodes must know.
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
			return nil, errors.Join(err, fmt.Errorf("%s: its description takes %d bytes, and running "+
				"nodes accept %d: name fewer nodes", one.What(), len(text), longestOrder))
		}
		orders = append(orders, o)
	}
	return orders, nil
}

// checkCarried returns an error if the connections and brokers of a running trial cannot suffer a fault.
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
		return fmt.Errorf("%s: this run has no proxies, and its nodes do not survive the loss of a "+
			"connection: begin a run with --proxies", fault.What())
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

// save records the faults of the trial so that they can be repeated.
func (f *faults) save() error {
	f.all = f.driver.Faults()
	return f.keep(f.all)
}

// refuse rejects all requests to the trial from now on. The text does is the reason, as in "has stalled".
func (f *faults) refuse(does string) {
	reply := control.Reply{Trial: f.number, Refused: fmt.Sprintf("trial %d %s", f.number, does)}
	if f.driver != nil {
		reply.Faults = f.driver.Progress()
	}
	f.requests.Close(reply)
}
