package chaos

import (
	"errors"
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
	stops    map[port.Member]map[int]bool // the numbers of the faults that stop each member
	stepping bool
	codec    *nodes.Codec
	over     bool
	apart    bool // the hosts share no memory, see Apart
}

// A fault is a Fault with its progress in this run.
type fault struct {
	*Fault
	by      carrier
	number  int // faults count from 1
	shared  *faultState
	state   state
	began   int64         // when its beginning was recorded; 0: not yet
	ended   int64         // when its heal was recorded; 0: not yet
	victims []port.Member // the members that it has struck
	working bool          // the fault has struck members or strained connections, and is not undone yet
	hit     []int         // servers that the fault has hit or cut off
	parted  [][2]int      // pairs of servers that the fault keeps apart
	turn    int64         // for a slow fault: when its victims stop or go on next
	stands  bool          // for a slow fault: its victims are stopped
	sought  int64         // when the driver first looked in vain for the leader to hit; 0: never
	counts  int64         // for a fault that loses answers: when the driver counts them next; 0: never
	clients int           // for a fault that loses answers: how many clients lose one
}

// state is the progress of a fault.
type state uint8

const (
	planned   state = iota
	announced       // added while the run goes on; not all nodes know it yet
	armed           // waits for its moment
	inForce
	spent  // all clients have lost their answers; the connections stay silent to the end of the run
	healed // ended, or will never begin
)

// newFault returns a fault that has not begun.
func newFault(f *Fault, number int, b *SharedState) *fault {
	return &fault{Fault: f, by: carrierOf(f), number: number, shared: &b.faults[number-1]}
}

// NewDriver returns the driver of resolved faults in a run of so many clients.
func NewDriver(faults []Fault, b *SharedState, clients int, codec *nodes.Codec) (*Driver, error) {
	w, err := newWatcher(faults, b, clients, codec)
	if err != nil {
		return nil, err
	}
	d := &Driver{Watcher: w, state: b, stops: map[port.Member]map[int]bool{}, codec: codec}
	for i := range faults {
		d.faults = append(d.faults, newFault(&faults[i], i+1, b))
	}
	return d, nil
}

var _ port.FaultDriver = (*Driver)(nil)

// Begin implements port.FaultDriver. It puts timed faults of links in the shared state at once: the nodes
// bring them into force without the driver.
func (d *Driver) Begin(c port.Cluster, measured int64) error {
	if d.cluster != nil { // there was an earlier run: forget its leaders
		d.state.clear()
	}
	d.cluster, d.measured, d.over = c, measured, false
	clear(d.stops)
	for _, f := range d.faults {
		*f = *newFault(f.Fault, f.number, d.state) // an earlier run may have left progress here
		f.shared.reset()
		if f.Timed() && f.OfLinks() {
			f.shared.begin(d.start(f), d.end(f, d.start(f)))
		}
	}
	return d.Step()
}

// start returns when a fault begins, or begins to wait.
func (d *Driver) start(f *fault) int64 { return d.measured + int64(f.At) }

// end returns when a fault that begins at from is healed.
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
			if f.counts > 0 {
				next = min(next, f.counts)
			}
		}
	}
	return next
}

// NextBeginning returns when the next timed fault begins, or math.MaxInt64.
func (d *Driver) NextBeginning() int64 {
	next := int64(math.MaxInt64)
	for _, f := range d.faults {
		if f.state == planned && f.Timed() {
			next = min(next, d.start(f))
		}
	}
	return next
}

// Waits reports whether a fault waits for its moment, or until all nodes know it.
func (d *Driver) Waits() bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool { return f.state == armed || f.state == announced })
}

// Step implements port.FaultDriver.
func (d *Driver) Step() error {
	if d.stepping { // a step may notice that a node has died, and call Step again
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

// step arms, begins, turns or heals a fault if that is due.
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
		_, err := d.heal(f, f.shared.to.Load())
		return err
	}
	switch {
	case f.state != inForce:
	case f.turn > 0 && now >= f.turn:
		return d.turn(f, now)
	case f.counts > 0 && now >= f.counts:
		f.counts = now + lookAgain
		last, all, err := d.countLost(f)
		if err == nil && all {
			f.state, f.ended = spent, last
			err = d.recordEnd(f, last)
		}
		return err
	}
	return nil
}

// countLost counts the answers that a fault has lost. It returns when the last was lost, and whether each
// client has lost its answer.
func (d *Driver) countLost(f *fault) (last int64, all bool, err error) {
	now := d.cluster.Now()
	lost, err := d.cluster.Lost(f.number)
	if lost.Answers > 0 {
		last = now - int64(lost.Last)
		f.shared.hits.Store(lost.Answers)
		f.shared.acts(now-int64(lost.First), last)
	}
	return last, lost.Answers >= uint64(f.clients), err
}

// arm begins a fault, or lets it wait for its moment.
func (d *Driver) arm(f *fault) error {
	f.state = armed
	start := d.start(f)
	leader := nodes.None
	if f.target().Word == "leader" {
		leader = d.state.leads(d.up)
	}
	switch {
	case f.Timed() && f.OfLinks(): // Begin has put it in the shared state
	case f.Timed():
		f.shared.begin(start, d.end(f, start))
	case leader != nodes.None:
		from := start
		if now := d.cluster.Now(); now > start+lookAgain { // the leader became known late
			from = now + int64(ahead)
		}
		f.sought = 0
		f.shared.claim.Store(uint64(leader) + 1)
		f.shared.begin(from, d.end(f, from))
	case d.apart:
		f.state = planned // the next step looks again for a leader
		d.seeks(f)
	default:
		f.shared.armed.Store(max(first, start))
	}
	return nil
}

// up reports whether a node is up.
func (d *Driver) up(id nodes.ID) bool { return d.cluster.Up(port.NodeOf(id)) }

// begin carries out the beginning of a fault, and records it.
func (d *Driver) begin(f *fault, from int64) error {
	b := port.FaultEvent{At: from, Number: f.number, Breaks: f.Breaks(), Victim: nodes.None}
	of := f.target().List
	if f.ByRun() {
		victim := f.shared.victim()
		of = nodes.Group{victim}
		if f.hitsVictim() {
			b.Victim = victim
		}
	}
	var err error
	switch {
	case f.Timed() && d.restartsLate(f, of):
		err = errRestartsLate
	default:
		err = f.by.begin(d, f, b, of)
	}
	if d.triedLater(f, err) {
		return nil
	}
	if err != nil {
		return err
	}
	f.state = inForce // set only now: until then, Struck tells that a dead victim may have killed itself
	if f.ForGood() && f.Nth == 0 {
		f.state = healed
	}
	return nil
}

// heal ends a fault, and records the end. It returns false if a killed member could not connect if restarted
// now: then a later step heals the fault.
func (d *Driver) heal(f *fault, at int64) (bool, error) {
	was := f.state
	f.state = healed
	if !f.OfLinks() {
		at = d.cluster.Now()
	}
	if f.counts > 0 {
		if _, _, err := d.countLost(f); err != nil {
			return false, err
		}
	}
	if err := f.by.undo(d, f); errors.Is(err, port.ErrLater) {
		f.state = was
		return false, nil
	} else if err != nil {
		return false, err
	}
	f.ended = at
	return true, d.recordEnd(f, at)
}

// recordEnd records the end of a fault. A lost answer may have consequences until its client has reconnected.
func (d *Driver) recordEnd(f *fault, at int64) error {
	until := f.shared.until.Load()
	if until > 0 && !f.OfLinks() {
		until += int64(f.Leaves())
	}
	return d.cluster.Record(port.FaultEvent{At: at, Number: f.number, Healed: true,
		Hits: f.shared.hits.Load(), HitAt: f.shared.hitAt.Load(), Until: until})
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
	if err := d.Step(); err != nil { // begins faults that nodes have fired
		return err
	}
	now := d.cluster.Now()
	for _, f := range d.faults {
		was := f.state
		if f.shared.heal(now); was != inForce {
			if f.state = healed; was == spent {
				if err := f.by.undo(d, f); err != nil {
					return err
				}
			}
			continue
		}
		if _, err := d.heal(f, now); err != nil {
			return err
		}
	}
	return nil
}

// Pending reports whether a fault is in force or may still begin. Unless untimed is set, it counts only
// faults that time alone begins or heals: others may last forever, and so would a run that ends by entries.
// So would one whose fault looks for a leader in vain for ever.
func (d *Driver) Pending(untimed bool) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		soon := untimed || f.sought == 0 || d.cluster.Now() < f.sought+mostSearch
		switch f.state {
		case planned, announced:
			return soon
		case armed:
			return untimed || f.shared.from.Load() != 0 && soon
		}
		return f.state == inForce && (untimed || f.shared.to.Load() != never)
	})
}

// Lingers reports whether a clock was set back so recently that old timers may still run.
func (d *Driver) Lingers(now int64) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		from := f.shared.from.Load()
		return f.kind().Sets && from != 0 && now < from+int64(f.Leaves())
	})
}

// Struck reports whether a node may have killed itself for a fault that is not recorded yet.
func (d *Driver) Struck(id nodes.ID) bool {
	for _, f := range d.faults {
		if f.state == armed && f.shared.from.Load() != 0 && f.shared.victim() == id &&
			f.downs() {
			return true
		}
	}
	return false
}

// CameTo returns the faults, with the victims that the run determined.
func (d *Driver) CameTo() (all []Fault) {
	for _, f := range d.faults {
		one := *f.Fault
		if f.namesServersByRun() {
			for _, i := range f.hit {
				one.HitServers = append(one.HitServers, nodes.ID(i))
			}
		}
		if victim := f.shared.victim(); one.hitsVictim() && victim >= 0 && f.shared.from.Load() != 0 {
			one.Hit = new(victim)
		}
		all = append(all, one)
	}
	return all
}

// Mend undoes the faults of connections, brokers and servers that are in force, without recording it: if a
// run ends early, these faults outlive its nodes. Servers that were killed for good stay down.
func (d *Driver) Mend() (err error) {
	for _, f := range d.faults {
		if f.state != healed && f.carried() && f.working {
			err = errors.Join(err, f.by.undo(d, f))
		}
	}
	return err
}

// Unhealed reports whether a fault is in force. After End, a fault may stay in force until a killed member
// can connect.
func (d *Driver) Unhealed() bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool { return f.state == inForce })
}

// NeedsProxies reports whether some of the faults need connections that run through proxies.
func NeedsProxies(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool {
		return f.kind().Proxies || f.names(effect.ServerOfHolder)
	})
}

// Disconnects reports whether some of the faults may break a connection to a broker, or a route.
func Disconnects(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool {
		return f.kind().Carried() && !f.ofServers() && f.Breaks()&nodes.NoLoss != 0
	})
}
