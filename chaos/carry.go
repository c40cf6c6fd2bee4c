package chaos

import (
	"errors"
	"slices"

	"turnstile/nodes"
)

var errNoTransport = errors.New("this cluster has neither connections nor brokers of its own")

// beginCarried is begin of a fault that the transport carries out.
func (d *Driver) beginCarried(f *fault, b nodes.FaultBeginning) (err error) {
	var of Group
	if t := f.target(); t != nil {
		of = t.Nodes
		if t.ByRun() {
			of = Group{b.Victim}
		}
	}
	b.At = d.cluster.Now()
	if b.Nodes, err = d.carry(f, of); err != nil {
		return err
	}
	return d.record(f, b)
}

// carry has the transport begin a fault of the connections of some nodes, or of brokers, and returns how many
// nodes it hits.
func (d *Driver) carry(f *fault, of Group) (hit int, err error) {
	t, is := d.cluster.(nodes.Transport)
	if !is {
		return 0, errNoTransport
	}
	f.transport = t
	if f.target() != nil {
		for _, id := range of {
			if d.cluster.Up(id) {
				hit++
			}
		}
		err = t.BeginConnection(f.number, of, f.strain())
		if err == nil && f.ForGood() {
			err = f.mend()
		}
		return hit, err
	}
	for _, i := range f.ends(f.among) {
		if !f.CutRoutes.IsZero() {
			break
		}
		if !t.BrokerUp(int(i)) || d.stands(int(i)) {
			continue // another fault has it down, or stopped
		}
		hit += t.NodesAt(int(i))
		f.brokers = append(f.brokers, int(i))
		if f.PauseBroker.IsZero() {
			err = t.KillBroker(int(i))
		} else {
			err = t.PauseBroker(int(i))
		}
		if err != nil {
			return hit, err
		}
	}
	if f.CutRoutes.IsZero() {
		return hit, nil
	}
	for _, i := range f.ends(f.among) {
		hit += t.NodesAt(int(i))
	}
	return hit, t.CutRoutes(f.number, f.CutRoutes.numbers())
}

// stands reports whether a broker stands still because of a fault, and one that hits it would do nothing.
func (d *Driver) stands(broker int) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		return !f.PauseBroker.IsZero() && f.transport != nil && slices.Contains(f.brokers, broker)
	})
}

// strain returns what the fault does to connections.
func (f *Fault) strain() nodes.Strain {
	s := nodes.Strain{Network: uint8(f.net()), Stall: !f.Stall.IsZero(), Reset: !f.Reset.IsZero(),
		Bandwidth: int64(f.To)}
	if !f.Lag.IsZero() {
		s.Latency = f.By
	}
	return s
}

// mend has the transport heal a fault that it has begun.
func (f *fault) mend() (err error) {
	t := f.transport
	f.transport = nil
	switch {
	case t == nil:
		return nil
	case f.target() != nil:
		return t.HealConnection(f.number)
	case !f.CutRoutes.IsZero():
		return t.HealRoutes(f.number)
	}
	for _, i := range f.brokers {
		switch {
		case !f.KillBroker.IsZero():
			err = errors.Join(err, t.RestartBroker(i))
		case t.BrokerUp(i): // and not killed since by another
			err = errors.Join(err, t.ResumeBroker(i))
		}
	}
	return err
}

// Mend heals what is in force of faults of connections and brokers, off the record. These outlive the nodes
// of a run that ended early.
func (d *Driver) Mend() (err error) {
	for _, f := range d.faults {
		err = errors.Join(err, f.mend())
	}
	return err
}

// Unhealed reports whether a fault is in force. After End, that is one whose heal waits for something.
func (d *Driver) Unhealed() bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool { return f.state == inForce })
}

// mustWait reports whether a fault cannot be healed now: who was killed finds no broker to connect to.
func (d *Driver) mustWait(f *fault) bool {
	t, is := d.cluster.(nodes.Transport)
	return is && !f.Kill.IsZero() && !t.Connected()
}
