package chaos

import (
	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// struckCluster is what one fault strikes.
type struckCluster struct {
	port.Cluster
	d *Driver
	f *fault
}

var _ effect.Cluster = struckCluster{}

// Stop implements effect.Cluster.
func (c struckCluster) Stop(id nodes.ID) error {
	by := c.d.stops[id]
	if by == nil {
		by = map[int]bool{}
		c.d.stops[id] = by
	}
	if by[c.f.number] = true; len(by) > 1 {
		return nil
	}
	return c.Pause(id)
}

// Proceed implements effect.Cluster.
func (c struckCluster) Proceed(id nodes.ID) error {
	by := c.d.stops[id]
	if !by[c.f.number] {
		return nil
	}
	if delete(by, c.f.number); len(by) > 0 {
		return nil
	}
	return c.Resume(id)
}

// Rate implements effect.Cluster.
func (c struckCluster) Rate(id nodes.ID) float64 { return c.d.rateOf(id) }

// Restart implements port.Cluster.
func (c struckCluster) Restart(id nodes.ID, forget bool) error {
	delete(c.d.stops, id) // the process that stood still is gone
	c.d.state.follow(id)  // the new one has not declared itself leader
	err := c.Cluster.Restart(id, forget)
	if rate := c.Rate(id); rate != 1 && err == nil {
		err = c.SetClock(id, 0, rate)
	}
	return err
}

// turn has the victims of a fault that slows them down stop, or go on.
func (d *Driver) turn(f *fault, now int64) error {
	f.stands = !f.stands
	lasts, err := f.Effect.(*effect.Slow).Turn(d.struckBy(f), f.victims, f.stands)
	f.turn = now + int64(lasts)
	return err
}
