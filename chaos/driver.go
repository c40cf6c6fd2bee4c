package chaos

import (
	"fmt"
	"math"
	"slices"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Driver carries out the faults of a run on its cluster.
type Driver struct {
	*Watcher
	cluster  port.Cluster
	state    *SharedState
	faults   []*fault
	measured int64
	stops    map[nodes.ID]map[int]bool // by which faults nodes stand still
	stepping bool
	codec    *nodes.Codec
	over     bool
	apart    bool // see Apart
}

// A fault is one that the driver carries out.
type fault struct {
	*Fault
	number  int // from 1
	shared  *faultState
	state   state
	began   int64        // when that was recorded; 0: it was not
	ended   int64        // the same of its heal
	victims effect.Group // of a fault of processes
	// that carries it out, from its beginning until it is healed; nil: it needs none
	carrier *effect.Carrier
	servers []int    // that it has hit
	parted  [][2]int // pairs of servers that it keeps apart
	turn    int64    // slow: when they stop or go on next
	stands  bool     // slow: they stand still
}

// state is how far a fault has come.
type state uint8

const (
	planned   state = iota
	announced       // it was added, and not all nodes know it yet
	armed           // it waits for its moment
	inForce
	healed // or it never will begin
)

// NewDriver returns the driver of the faults of a run, which Resolve has returned, of so many clients.
func NewDriver(faults []Fault, b *SharedState, clients int, codec *nodes.Codec) (*Driver, error) {
	w, err := newWatcher(faults, b, clients, codec)
	if err != nil {
		return nil, err
	}
	d := &Driver{Watcher: w, state: b, stops: map[nodes.ID]map[int]bool{}, codec: codec}
	for i := range faults {
		d.faults = append(d.faults, &fault{Fault: &faults[i], number: i + 1, shared: &b.faults[i]})
	}
	return d, nil
}

var _ port.FaultDriver = (*Driver)(nil)

// Begin implements port.FaultDriver. What the time alone begins is in force at its time by itself, if it is a
// fault of links.
func (d *Driver) Begin(c port.Cluster, measured int64) error {
	if d.cluster != nil { // of a run before; in this one a node may lead already
		d.state.clear()
	}
	d.cluster, d.measured, d.over = c, measured, false
	clear(d.stops)
	for _, f := range d.faults {
		*f = fault{Fault: f.Fault, number: f.number, shared: f.shared} // there may have been a run before
		f.shared.reset()
		if f.Timed() && f.OfLinks() {
			f.shared.begin(d.start(f), d.end(f, d.start(f)))
		}
	}
	return d.Step()
}

// start returns when a fault begins, or begins to wait.
func (d *Driver) start(f *fault) int64 { return d.measured + int64(f.At) }

// end returns when a fault is healed that begins at a time.
func (d *Driver) end(f *fault, from int64) int64 {
	if f.For == 0 {
		return never
	}
	return from + int64(f.For)
}

// Next implements port.FaultDriver.
func (d *Driver) Next() int64 {
	next := int64(math.MaxInt64)
	for _, f := range d.faults {
		switch f.state {
		case planned:
			next = min(next, d.start(f))
		case armed:
			if from := f.shared.from.Load(); from != 0 {
				next = min(next, from)
			}
		case inForce:
			next = min(next, f.shared.to.Load())
			if f.turn > 0 {
				next = min(next, f.turn)
			}
		}
	}
	return next
}

// NextBeginning returns when the next fault begins whose time is known; math.MaxInt64: none does.
func (d *Driver) NextBeginning() int64 {
	next := int64(math.MaxInt64)
	for _, f := range d.faults {
		if f.state == planned && f.Timed() {
			next = min(next, d.start(f))
		}
	}
	return next
}

// Waits reports whether a fault waits for something to happen at a node, or for all nodes to know it.
func (d *Driver) Waits() bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool { return f.state == armed || f.state == announced })
}

// Step implements port.FaultDriver.
func (d *Driver) Step() error {
	if d.stepping { // a death was noticed in the course of a step
		return nil
	}
	d.stepping = true
	defer func() { d.stepping = false }()
	for _, f := range d.faults {
		if err := d.step(f, d.cluster.Now()); err != nil {
			return fmt.Errorf("%v: %w", f.Fault, err)
		}
	}
	return nil
}

// step does what is due of one fault.
func (d *Driver) step(f *fault, now int64) error {
	if f.state == planned && now >= d.start(f) {
		if err := d.arm(f); err != nil {
			return err
		}
	}
	if from := f.shared.from.Load(); f.state == armed && from != 0 && now >= from {
		if err := d.begin(f, from); err != nil {
			return err
		}
	}
	if f.state == inForce && now >= f.shared.to.Load() {
		if d.mustWait(f) {
			return nil
		}
		return d.heal(f, f.shared.to.Load())
	}
	if f.state == inForce && f.turn > 0 && now >= f.turn {
		return d.turn(f, now)
	}
	return nil
}

// arm has a fault begin now, or wait for its moment.
func (d *Driver) arm(f *fault) error {
	f.state = armed
	start := d.start(f)
	leader := nodes.None
	if f.target().Word == "leader" {
		leader = d.state.leads(d.cluster.Up)
	}
	switch {
	case f.Timed() && f.OfLinks(): // see Begin
	case f.Timed():
		f.shared.begin(start, d.end(f, start))
	case leader != nodes.None:
		f.shared.claim.Store(uint64(leader) + 1)
		f.shared.begin(start, d.end(f, start))
	case d.apart:
		f.state = planned // and is looked at again
	default:
		f.shared.armed.Store(max(first, start))
	}
	return nil
}

// begin carries out the beginning of a fault, and records it.
func (d *Driver) begin(f *fault, from int64) error {
	b := port.FaultBeginning{At: from, Number: f.number, Breaks: f.Breaks(), Victim: nodes.None}
	if f.ByRun() {
		b.Victim = f.shared.victim()
	}
	var err error
	switch {
	case f.OfLinks():
		err = d.record(f, b)
	case f.carried() != nil:
		err = d.beginCarried(f, b)
	case f.ByRun():
		err = d.beginAt(f, b, effect.Group{b.Victim})
	default:
		err = d.beginAt(f, b, f.target().Nodes)
	}
	if d.triedLater(f, err) {
		return nil
	}
	if err != nil {
		return err
	}
	f.state = inForce // not before: a victim that has killed itself may be gone by now, see Struck
	if f.ForGood() && f.Nth == 0 {
		f.state = healed
	}
	return nil
}

// beginAt is begin of a fault of processes, which is to hit these. Who has killed itself is on record as the
// victim before it is on record as down.
func (d *Driver) beginAt(f *fault, b port.FaultBeginning, who effect.Group) error {
	struck := len(who) == 1 && f.struck(who[0]) && (is[*effect.Kill](f.Fault) || d.cluster.Up(who[0]))
	if struck {
		b.Nodes = 1
		if err := d.record(f, b); err != nil {
			return err
		}
	}
	b.At = d.cluster.Now()
	for _, id := range who {
		hit, err := d.hit(f, id)
		if err != nil {
			return err
		}
		if hit {
			f.victims = append(f.victims, id)
		}
	}
	if struck {
		return nil
	}
	b.Nodes = len(f.victims)
	return d.record(f, b)
}

// record records the beginning of a fault.
func (d *Driver) record(f *fault, b port.FaultBeginning) error {
	f.began = b.At
	return d.cluster.FaultBegan(b)
}

// hit does to a node what a fault of processes does, and reports whether that was possible.
func (d *Driver) hit(f *fault, id nodes.ID) (bool, error) {
	if !d.cluster.Up(id) {
		return is[*effect.Kill](f.Fault) && f.struck(id), nil
	}
	if is[*effect.Slow](f.Fault) {
		f.turn, f.stands = d.cluster.Now(), false
	}
	return true, f.Effect.(effect.OnNodes).Strike(d.struckBy(f), id)
}

// struckBy returns the cluster as a fault strikes it.
func (d *Driver) struckBy(f *fault) struckCluster { return struckCluster{d.cluster, d, f} }

// struck reports whether a node has killed or stopped itself, where the moment of the fault came.
func (f *fault) struck(id nodes.ID) bool { return f.shared.victim() == id && f.strikes(id) }

// rateOf returns the rate at which the faults in force have the clock of a node run.
func (d *Driver) rateOf(id nodes.ID) float64 {
	rate := 1.0
	for _, f := range d.faults {
		c, is := f.Effect.(*effect.Clock)
		if is && c.Rate != 0 && f.state == inForce && slices.Contains(f.victims, id) {
			rate = c.Rate
		}
	}
	return rate
}

// heal ends a fault, and records it.
func (d *Driver) heal(f *fault, at int64) error {
	f.state = healed
	if !f.OfLinks() {
		at = d.cluster.Now()
	}
	if err := f.mend(); err != nil {
		return err
	}
	for _, id := range f.victims {
		if err := f.Effect.(effect.OnNodes).Undo(d.struckBy(f), id); err != nil {
			return err
		}
	}
	f.ended = at
	return d.cluster.FaultHealed(at, f.number, f.shared.hits.Load())
}

// End implements port.FaultDriver.
func (d *Driver) End() error {
	if d.over || d.cluster == nil {
		return nil
	}
	d.over = true
	for _, f := range d.faults {
		f.shared.disarm()
	}
	if err := d.Step(); err != nil { // what was fired until then has begun
		return err
	}
	now := d.cluster.Now()
	for _, f := range d.faults {
		was := f.state
		if f.shared.heal(now); was != inForce {
			f.state = healed
			continue
		}
		if d.mustWait(f) { // for a step to come
			continue
		}
		if err := d.heal(f, now); err != nil {
			return err
		}
	}
	return nil
}

// Pending reports whether a fault is in force or may still begin. If issuing goes on until enough has
// happened, only those count that time alone will begin or heal: others may last for ever.
func (d *Driver) Pending(untimed bool) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		switch f.state {
		case planned, announced:
			return true
		case armed:
			return untimed || f.shared.from.Load() != 0
		}
		return f.state == inForce && (untimed || f.shared.to.Load() != never)
	})
}

// Lingers reports whether timers that a clock has set back may not have run out yet.
func (d *Driver) Lingers(now int64) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		from := f.shared.from.Load()
		return is[*effect.Clock](f.Fault) && from != 0 && now < from+int64(f.Leaves())
	})
}

// Struck reports whether a node was to kill itself, because a fault had it do so that is not on record yet.
func (d *Driver) Struck(id nodes.ID) bool {
	for _, f := range d.faults {
		if f.state == armed && f.shared.from.Load() != 0 && f.shared.victim() == id &&
			is[*effect.Kill](f.Fault) {
			return true
		}
	}
	return false
}

// CameTo returns the faults, with those whom they hit where that has come out in the run.
func (d *Driver) CameTo() (all []Fault) {
	for _, f := range d.faults {
		one := *f.Fault
		if f.namesServersByRun() {
			one.HitServers = effect.ServersNamed(f.servers)
		}
		if victim := f.shared.victim(); one.hitsVictim() && victim >= 0 && f.shared.from.Load() != 0 {
			one.Hit = new(victim)
		}
		all = append(all, one)
	}
	return all
}
