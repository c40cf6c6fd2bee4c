package chaos

import (
	"errors"
	"slices"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A carrier carries out the faults of one layer.
type carrier interface {
	// begin carries out the beginning of a fault, which hits the nodes of a group, and records it as b.
	begin(d *Driver, f *fault, b port.FaultEvent, of nodes.Group) error
	// undo reverts what a fault has done.
	undo(d *Driver, f *fault) error
}

// The carriers of faults of links, of members of the cluster, and of connections.
type (
	links       struct{}
	members     struct{ effect.OnMembers }
	connections struct{ effect.OnConnections }
)

// carrierOf returns the carrier of a fault.
func carrierOf(f *Fault) carrier {
	if f.OfLinks() { // by itself or by its stand-in
		return links{}
	}
	if e := f.onMembers(); e != nil {
		return members{e}
	}
	return connections{f.Effect.(effect.OnConnections)}
}

// begin implements carrier: the nodes bring the fault into force, by the shared state.
func (links) begin(d *Driver, f *fault, b port.FaultEvent, _ nodes.Group) error {
	return d.record(f, b)
}

func (links) undo(*Driver, *fault) error { return nil }

// begin implements carrier. If the watcher of a node has killed that node already, begin records the fault
// before anybody records that the node is down.
func (e members) begin(d *Driver, f *fault, b port.FaultEvent, of nodes.Group) error {
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
		hit := d.nodesOf(m)
		f.victims = append(f.victims, m)
		if m.Role == port.Server {
			f.hit = append(f.hit, m.I)
		}
		if d.cluster.Up(m) { // a victim that has killed itself is down
			switch err := e.Strike(d.struckBy(f), m); {
			case errors.Is(err, port.ErrNothing):
				hit = 0
			case err != nil:
				return err
			}
		}
		b.Nodes += hit
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

func (e members) undo(d *Driver, f *fault) error {
	for _, m := range f.victims {
		if err := e.Undo(d.struckBy(f), m); err != nil {
			return err
		}
	}
	f.working = false
	return nil
}

func (e connections) begin(d *Driver, f *fault, b port.FaultEvent, of nodes.Group) error {
	b.At = d.cluster.Now()
	d.endAfter(f, b.At)
	w := effect.Wires{Nodes: of, Nth: f.Nth,
		Members: func(t *effect.Target) ([]port.Member, error) { return d.members(f, t, of) }}
	if f.placement != nil {
		w.Hosts = f.placement.Hosts()
	}
	s, err := e.Strain(&w)
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
		if err := e.undo(d, f); err != nil {
			return err
		}
	}
	return d.record(f, b)
}

// undo implements carrier. It ends the strain that the fault has put on connections.
func (connections) undo(d *Driver, f *fault) error {
	if !f.working {
		return nil
	}
	f.working = false
	return d.cluster.Relieve(f.number)
}

// restartsLate reports whether a node that this fault is to hit is still down because of another timed fault.
// No plan asks for that (see checkTogether): the restart took longer than planned.
func (d *Driver) restartsLate(f *fault, of nodes.Group) bool {
	return f.onMembers() != nil && slices.ContainsFunc(d.faults, func(other *fault) bool {
		return other.state == inForce && other.downs() && other.Timed() &&
			slices.ContainsFunc(of, func(id nodes.ID) bool { return slices.Contains(other.victims, port.NodeOf(id)) })
	})
}

// named returns the members that a fault is to hit, given the nodes that the fault names or, for a fault of
// the holder's server, the holder.
func (d *Driver) named(f *fault, of nodes.Group) (all []port.Member, err error) {
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
func (d *Driver) members(f *fault, t *effect.Target, of nodes.Group) (all []port.Member, err error) {
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
	if c.Up(m) { // it has not left yet, or another fault has started it
		return c.Cluster.Start(m, forget)
	}
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
