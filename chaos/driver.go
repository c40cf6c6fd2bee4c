package chaos

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

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

// NewDriver returns the driver of resolved faults in a run of so many clients.
func NewDriver(faults []Fault, b *SharedState, clients int, codec *nodes.Codec) (*Driver, error) {
	w, err := newWatcher(faults, b, clients, codec)
	if err != nil {
		return nil, err
	}
	d := &Driver{Watcher: w, state: b, stops: map[port.Member]map[int]bool{}, codec: codec}
	for i := range faults {
		d.faults = append(d.faults, &fault{Fault: &faults[i], number: i + 1, shared: &b.faults[i]})
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
		*f = fault{Fault: f.Fault, number: f.number, shared: f.shared} // an earlier run may have left progress here
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
		of = effect.Group{victim}
		if f.hitsVictim() {
			b.Victim = victim
		}
	}
	var err error
	switch {
	case f.Timed() && d.restartsLate(f, of):
		err = errRestartsLate
	case f.OfLinks():
		err = d.record(f, b)
	case f.onMembers() != nil:
		err = d.strike(f, b, of)
	default:
		err = d.strain(f, b, of)
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

// restartsLate reports whether a node that this fault is to hit is still down because of another timed fault.
// No plan asks for that (see checkTogether): the restart took longer than planned.
func (d *Driver) restartsLate(f *fault, of effect.Group) bool {
	return f.onMembers() != nil && slices.ContainsFunc(d.faults, func(other *fault) bool {
		return other.state == inForce && other.downs() && other.Timed() &&
			slices.ContainsFunc(of, func(id nodes.ID) bool { return slices.Contains(other.victims, port.NodeOf(id)) })
	})
}

// strike begins a fault of members. If the watcher of a node has killed that node already, strike records
// the fault before anybody records that the node is down.
func (d *Driver) strike(f *fault, b port.FaultEvent, of effect.Group) error {
	struck := len(of) == 1 && f.struck(of[0]) && (f.downs() || d.up(of[0]))
	if struck {
		b.Nodes = 1
		if err := d.record(f, b); err != nil {
			return err
		}
	}
	b.At = d.cluster.Now()
	if !struck {
		d.endAfter(f, b.At)
	}
	members, err := d.named(f, of)
	if err != nil {
		return err
	}
	f.working = true
	for _, m := range members {
		if !d.mayHit(f, m) {
			continue
		}
		b.Nodes += d.nodesOf(m)
		f.victims = append(f.victims, m)
		if m.Role == port.Server {
			f.hit = append(f.hit, m.I)
		}
		if d.cluster.Up(m) { // a victim that has killed itself is down
			if err := f.onMembers().Strike(d.struckBy(f), m); err != nil {
				return err
			}
		}
	}
	if f.kind().Turns != nil && len(f.victims) > 0 {
		f.turn, f.stands = d.cluster.Now(), false
	}
	if f.kind().Did != "" && f.ForGood() {
		f.working = false
	}
	if struck {
		return nil
	}
	return d.record(f, d.ofServers(f, b))
}

// named returns the members that a fault is to hit, given the nodes that the fault names or, for a fault of
// the holder's server, the holder.
func (d *Driver) named(f *fault, of effect.Group) (all []port.Member, err error) {
	named := effect.MembersIn(f.Effect)
	for i := range named {
		more, err := d.members(f, &named[i], of)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	if named == nil {
		for _, id := range of {
			all = append(all, port.NodeOf(id))
		}
	}
	return all, nil
}

// members returns the brokers or servers that a target names at this moment. If the target is the holder's
// server, of[0] is the holder.
func (d *Driver) members(f *fault, t *effect.Target, of effect.Group) (all []port.Member, err error) {
	switch t.Word {
	case effect.ServerOfHolder:
		return d.cluster.Find(port.Answered, port.NodeOf(of[0]))
	case effect.LeadingServer:
		all, err = d.cluster.Find(port.Leads, port.Member{})
		if err != nil || len(all) == 0 { // servers that are down or elect a leader may not even answer
			err = errors.Join(effect.ErrNobodyLeads, err)
		}
		return all, err
	case effect.AllServers:
		for i := range f.servers {
			all = append(all, port.Member{Role: port.Server, I: i})
		}
	}
	for _, i := range t.List {
		m := port.Member{Role: t.Role, I: int(i)}
		if t.Role == port.Broker && f.net() > 0 {
			m.I += f.among
		}
		all = append(all, m)
	}
	return all, nil
}

// mayHit reports whether a fault can hit a member: a node that is up, or has killed itself for this fault; a
// broker or server that is up and that no other fault has stopped.
func (d *Driver) mayHit(f *fault, m port.Member) bool {
	if m.Role == port.Node {
		return d.cluster.Up(m) || f.downs() && f.struck(m.ID())
	}
	return d.cluster.Up(m) && len(d.stops[m]) == 0
}

// nodesOf returns how many nodes a fault of a member hits: all that are connected, if it is a broker.
func (d *Driver) nodesOf(m port.Member) int {
	switch m.Role {
	case port.Node:
		return 1
	case port.Broker:
		if all, err := d.cluster.Find(port.Connected, m); err == nil {
			return len(all)
		}
	}
	return 0
}

// strain begins a fault of connections.
func (d *Driver) strain(f *fault, b port.FaultEvent, of effect.Group) error {
	b.At = d.cluster.Now()
	d.endAfter(f, b.At)
	w := effect.Wires{Nodes: of, Nth: f.Nth,
		Members: func(t *effect.Target) ([]port.Member, error) { return d.members(f, t, of) }}
	if f.placement != nil {
		w.Hosts = f.placement.Hosts()
	}
	s, err := f.Effect.(effect.OnConnections).Strain(&w)
	if err != nil {
		return err
	}
	s.Network = uint8(f.net())
	b.Nodes = d.touch(f, &s)
	f.working = true
	if err := d.cluster.Strain(f.number, s); err != nil {
		return err
	}
	if s.Answer > 0 {
		f.counts, f.clients = b.At+lookAgain, len(of)
	}
	b = d.ofServers(f, b)
	if f.ForGood() && f.Nth == 0 {
		if err := f.mend(d.cluster); err != nil {
			return err
		}
	}
	return d.record(f, b)
}

// touch notes the servers that a strain hits, and returns how many running nodes it hits: the nodes whose
// connections it strains; between brokers, the nodes connected to them; between hosts, the nodes on hosts
// that are cut off.
func (d *Driver) touch(f *fault, s *port.Strain) (count int) {
	seen := map[port.Member]bool{}
	for _, l := range s.Links {
		if l.A.Role == port.Server && l.B.Role == port.Server {
			f.parted = append(f.parted, [2]int{l.A.I, l.B.I})
		}
		for _, m := range []port.Member{l.A, l.B} {
			if seen[m] || m == l.B && (m.Role == port.Host || l.A.Role == port.Node && m.Role == port.Broker) {
				continue
			}
			seen[m] = true
			switch {
			case m.Role == port.Server && s.Answer == 0:
				f.hit = append(f.hit, m.I)
			case m.Role == port.Host:
				for _, id := range f.nodesOn(m.I) {
					if d.up(id) {
						count++
					}
				}
			case m.Role != port.Node || d.cluster.Up(m):
				count += d.nodesOf(m)
			}
		}
	}
	slices.Sort(f.hit)
	return count
}

// ofServers adds the servers that a fault hits to the event of its beginning. While a majority of the servers
// stays joined, the fault does not break the assumption of a majority.
func (d *Driver) ofServers(f *fault, b port.FaultEvent) port.FaultEvent {
	b.Servers = f.hit
	if f.ofServers() && d.majorityJoined(f.servers, b.At) {
		b.Breaks &^= nodes.ServerMajority
	}
	return b
}

// endAfter sets the end of a fault that begins, perhaps later than planned.
func (d *Driver) endAfter(f *fault, begun int64) {
	if f.For > 0 && f.shared.to.Load() != 0 {
		f.shared.to.Store(d.end(f, begun))
	}
}

// record records the beginning of a fault.
func (d *Driver) record(f *fault, b port.FaultEvent) error {
	f.began = b.At
	return d.cluster.Record(b)
}

// struckBy returns the cluster to carry out a fault on.
func (d *Driver) struckBy(f *fault) struckCluster { return struckCluster{d.cluster, d, f} }

// struck reports whether the watcher of a node killed or stopped that node for this fault.
func (f *fault) struck(id nodes.ID) bool { return f.shared.victim() == id && f.strikes(id) }

// rateOf returns the rate of a member's clock under the faults in force.
func (d *Driver) rateOf(m port.Member) float64 {
	rate := 1.0
	for _, f := range d.faults {
		if r := effect.RateOf(f.Effect); r != 0 && f.state == inForce && slices.Contains(f.victims, m) {
			rate = r
		}
	}
	return rate
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
	if err := d.undo(f); errors.Is(err, port.ErrLater) {
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

// undo reverts what a fault has done to members, or to connections.
func (d *Driver) undo(f *fault) error {
	for _, m := range f.victims {
		if err := f.onMembers().Undo(d.struckBy(f), m); err != nil {
			return err
		}
	}
	return f.mend(d.cluster)
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
				if err := f.mend(d.cluster); err != nil {
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

// mend ends the strain that a fault has put on connections.
func (f *fault) mend(c port.Cluster) error {
	if !f.working {
		return nil
	}
	f.working = false
	if f.onMembers() != nil {
		return nil
	}
	return c.Relieve(f.number)
}

// Mend undoes the faults of connections, brokers and servers that are in force, without recording it: if a
// run ends early, these faults outlive its nodes. Servers that were killed for good stay down.
func (d *Driver) Mend() (err error) {
	for _, f := range d.faults {
		if f.state != healed && f.carried() && f.working {
			err = errors.Join(err, d.undo(f))
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

// A struckCluster is the cluster as one fault sees it. If two faults stop a member, the member goes on when
// both are healed.
type struckCluster struct {
	port.Cluster
	d *Driver
	f *fault
}

var _ effect.Cluster = struckCluster{}

// Stop implements port.Cluster.
func (c struckCluster) Stop(m port.Member) error {
	by := c.d.stops[m]
	if by == nil {
		by = map[int]bool{}
		c.d.stops[m] = by
	}
	if by[c.f.number] = true; len(by) > 1 {
		return nil
	}
	return c.Cluster.Stop(m)
}

// Continue implements port.Cluster.
func (c struckCluster) Continue(m port.Member) error {
	by := c.d.stops[m]
	if !by[c.f.number] {
		return nil
	}
	if delete(by, c.f.number); len(by) > 0 {
		return nil
	}
	return c.Cluster.Continue(m)
}

// Rate implements effect.Cluster.
func (c struckCluster) Rate(m port.Member) float64 { return c.d.rateOf(m) }

// Start implements port.Cluster.
func (c struckCluster) Start(m port.Member, forget bool) error {
	delete(c.d.stops, m) // the stopped process is gone
	if m.Role == port.Node {
		c.d.state.follow(m.ID()) // the new process has not declared itself leader
	}
	err := c.Cluster.Start(m, forget)
	if rate := c.Rate(m); rate != 1 && err == nil {
		err = c.SetClock(m, 0, rate)
	}
	return err
}

// turn stops the victims of a slow fault, or lets them go on.
func (d *Driver) turn(f *fault, now int64) error {
	f.stands = !f.stands
	lasts, err := f.kind().Turns(f.Effect, d.struckBy(f), f.victims, f.stands)
	f.turn = now + int64(lasts)
	return err
}

// The rest of this file adds faults while a run goes on, and heals faults early.

// ahead is how early the beginning or the end of a fault of links is put in the shared state, so that all
// nodes see it in time.
const ahead = time.Millisecond

// Add adds a fault that ResolveMore has returned, and returns its number. The fault does not begin before
// Known is called.
func (d *Driver) Add(one Fault) (number int, err error) {
	number = len(d.faults) + 1
	if number > mostShared {
		return 0, fmt.Errorf("a run has %d faults at most", mostShared)
	}
	f := &fault{Fault: &one, number: number, shared: &d.state.faults[number-1], state: announced}
	f.shared.reset()
	if err := d.Watcher.add(f.Fault, f.shared, d.codec); err != nil {
		return 0, err
	}
	d.faults = append(d.faults, f)
	return number, nil
}

// Announced reports whether faults were added since Known was called.
func (d *Driver) Announced() bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool { return f.state == announced })
}

// Known tells the driver that all nodes know the added faults. Faults that are due begin now. measured is how
// long the run is measured; 0: entries end it.
func (d *Driver) Known(measured time.Duration) {
	now := time.Duration(d.cluster.Now() - d.measured)
	for _, f := range d.faults {
		if f.state != announced {
			continue
		}
		f.state = planned
		f.At = max(f.At, Whole(now+ahead))
		if measured > 0 { // the fault ends with the run, so that a plan can repeat it
			f.At = min(f.At, measured-time.Millisecond)
			f.For = min(f.For, measured-f.At)
		}
		if f.Timed() && f.OfLinks() {
			f.shared.begin(d.start(f), d.end(f, d.start(f)))
		}
	}
}

// Whole rounds a time up to whole milliseconds, so a plan with it is easy to read.
func Whole(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// An Unhealable is an error of Heal. It says why the fault cannot be healed.
type Unhealable struct{ why string }

func (u *Unhealable) Error() string { return u.why }

func unhealable(format string, args ...any) error { return &Unhealable{fmt.Sprintf(format, args...)} }

// Heal ends a fault early. If it has not begun, it never will. A fault that lasts for good is undone if
// possible: a killed node is restarted. The error is an Unhealable if nothing was done.
func (d *Driver) Heal(number int) error {
	if number < 1 || number > len(d.faults) {
		return unhealable("there is no fault %d: they count from 1 to %d", number, len(d.faults))
	}
	f := d.faults[number-1]
	if f.began == 0 {
		f.shared.disarm()
	}
	if err := d.Step(); err != nil { // begins faults that nodes have fired
		return err
	}
	now := d.cluster.Now()
	switch {
	case f.ended != 0:
		return unhealable("fault %d is healed already", number)
	case f.state == healed && f.began == 0:
		return unhealable("fault %d never began, and never will", number)
	case f.Nth > 0 && f.began != 0:
		return unhealable("fault %d hits one message: there is nothing to heal", number)
	case f.state == healed && f.kind().Did != "":
		return unhealable("fault %d %s, once and for good: there is nothing to heal", number, f.kind().Did)
	case f.began == 0:
		f.shared.heal(now)
		f.state = healed
		return nil
	case f.OfLinks(): // a later Step heals it
		f.shared.heal(now + int64(ahead))
		f.For = Whole(time.Duration(f.shared.to.Load() - f.began))
		return nil
	}
	f.shared.heal(now)
	switch done, err := d.heal(f, now); {
	case err != nil:
		return err
	case !done: // a later Step heals it
		f.state, f.For = inForce, max(time.Millisecond, Whole(time.Duration(now-f.began)))
		return nil
	}
	f.For = max(time.Millisecond, Whole(time.Duration(f.ended-f.began)))
	return nil
}

// Faults returns the faults for a run that repeats this one: added faults with the time they began, and
// faults that were healed early with the time they lasted.
func (d *Driver) Faults() (all []Fault) {
	for _, f := range d.faults {
		all = append(all, *f.Fault)
	}
	return all
}

// A Progress says whether a fault has begun and ended, and what it has hit.
type Progress struct {
	Number int    `json:"number"`
	Fault  string `json:"fault"`
	State  string `json:"state"` // one of the constants below
	// Began and Ended are when the fault began and was healed, since measuring began; nil: not yet.
	Began   *time.Duration `json:"began,omitempty"`
	Ended   *time.Duration `json:"ended,omitempty"`
	Nodes   []nodes.ID     `json:"nodes,omitempty"`   // nodes that the fault hits, as far as known
	Hits    uint64         `json:"hits,omitempty"`    // messages that the fault has hit
	Brokers []nodes.ID     `json:"brokers,omitempty"` // brokers that the fault hits
	Servers []int          `json:"servers,omitempty"` // servers of the service that the fault has hit
}

// The states of a fault.
const (
	ToCome           = "to come"
	waitingForMoment = "waiting for its moment"
	nowInForce       = "in force"
	doneForGood      = "done, for good"
	Healed           = "healed"
	NeverBegan       = "never began"
)

// Progress returns the progress of each fault, in the order of their numbers.
func (d *Driver) Progress() (all []Progress) {
	since := func(at int64) *time.Duration {
		if at == 0 {
			return nil
		}
		return new(time.Duration(at - d.measured))
	}
	for _, f := range d.faults {
		p := Progress{Number: f.number, Fault: f.String(), State: f.progress(), Began: since(f.began),
			Ended: since(f.ended), Hits: f.shared.hits.Load(), Brokers: f.brokers(f.among),
			Servers: slices.Clone(f.hit)}
		p.Nodes = slices.Clone(f.target().List)
		if victim := f.shared.victim(); f.hitsVictim() && victim >= 0 {
			p.Nodes = effect.Group{victim}
		}
		all = append(all, p)
	}
	return all
}

// progress returns the state of the fault, which is one of the constants above.
func (f *fault) progress() string {
	switch {
	case f.ended != 0:
		return Healed
	case f.began != 0 && f.state == healed:
		return doneForGood
	case f.began != 0:
		return nowInForce
	case f.state == healed:
		return NeverBegan
	case f.state == armed && !f.Timed() && f.shared.from.Load() == 0:
		return waitingForMoment
	}
	return ToCome
}

// InForce describes the faults in force, and the nodes that are stopped.
func (d *Driver) InForce() (texts []string) {
	if d.cluster == nil {
		return nil
	}
	now := d.cluster.Now()
	for _, f := range d.faults {
		if f.carried() && f.working && f.state != healed || f.OfLinks() && f.shared.inForce(now) {
			texts = append(texts, f.String())
		}
	}
	for m, by := range d.stops {
		if len(by) > 0 && m.Role == port.Node {
			texts = append(texts, fmt.Sprintf("%v stands still", m))
		}
	}
	return texts
}
