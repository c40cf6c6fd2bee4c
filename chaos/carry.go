package chaos

import (
	"errors"
	"slices"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

var errNoTransport = errors.New("this cluster has neither connections nor brokers of its own")

// beginCarried is begin of a fault that the transport carries out.
func (d *Driver) beginCarried(f *fault, b port.FaultBeginning) (err error) {
	of := f.target().Nodes
	if effect.TargetOf(f.Effect) == nil {
		of = f.brokers(f.among)
	} else if f.ByRun() {
		of = effect.Group{b.Victim}
	}
	if !f.hitsVictim() {
		b.Victim = nodes.None
	}
	b.At = d.cluster.Now()
	t, has := d.cluster.(port.Transport)
	if !has {
		return errNoTransport
	}
	f.carrier = &effect.Carrier{Transport: t, Number: f.number, Network: uint8(f.net()),
		Up: d.cluster.Up, Stands: d.stands, NodesOn: f.nodesOn, ServerStands: d.serverStands, Nth: f.Nth}
	b.Nodes, err = f.carried().Begin(f.carrier, of)
	b.Servers = f.carrier.Hit
	f.servers, f.parted = b.Servers, f.carrier.Parted
	if f.ofServers() && err == nil && d.majorityJoined(t.Servers(), b.At) {
		b.Breaks &^= nodes.ServerMajority
	}
	if err == nil && f.ForGood() && f.Nth == 0 && !f.killsServers() {
		err = f.mend()
	}
	if err != nil {
		return err
	}
	return d.record(f, b)
}

// stands reports whether a broker stands still because of a fault, and one that hits it would do nothing.
func (d *Driver) stands(broker int) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		return is[*effect.PauseBroker](f.Fault) && f.carrier != nil && slices.Contains(f.carrier.Taken, broker)
	})
}

// mend has the transport heal a fault that it has begun.
func (f *fault) mend() error {
	c := f.carrier
	if f.carrier = nil; c == nil {
		return nil
	}
	err := f.carried().Heal(c)
	f.shared.hits.Add(c.Lost)
	return err
}

// Mend heals what is in force of faults of connections, brokers and servers, off the record. These outlive
// the nodes of a run that ended early. Servers that were killed for good stay down.
func (d *Driver) Mend() (err error) {
	for _, f := range d.faults {
		if f.state != healed {
			err = errors.Join(err, f.mend())
		}
	}
	return err
}

// Unhealed reports whether a fault is in force. After End, that is one whose heal waits for something.
func (d *Driver) Unhealed() bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool { return f.state == inForce })
}

// mustWait reports whether a fault cannot be healed now: who was killed finds no broker to connect to.
func (d *Driver) mustWait(f *fault) bool {
	t, has := d.cluster.(port.Transport)
	return has && is[*effect.Kill](f.Fault) && !t.Connected()
}

// NeedsProxies reports whether connections must run through proxies for some of the faults.
func NeedsProxies(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool {
		return effect.KindOf(f.Effect).Layer == effect.OfConnections || is[*effect.CutRoutes](&f) ||
			f.proxiesServers()
	})
}

// Disconnects reports whether some of the faults may take a connection, a broker or a route away.
func Disconnects(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool {
		return is[effect.Carried](&f) && !f.ofServers() && f.Breaks()&nodes.NoLoss != 0
	})
}
