package chaos

import "turnstile/nodes"

// slowPeriod is how long a slow process takes from one stop to the next.
const slowPeriod = int64(20e6)

// stop has a node stand still because of a fault.
func (d *Driver) stop(f *fault, id nodes.ID) error {
	by := d.stops[id]
	if by == nil {
		by = map[int]bool{}
		d.stops[id] = by
	}
	if by[f.number] = true; len(by) > 1 {
		return nil
	}
	return d.cluster.Pause(id)
}

// proceed has a node go on, unless it stands still because of another fault too.
func (d *Driver) proceed(f *fault, id nodes.ID) error {
	by := d.stops[id]
	if !by[f.number] {
		return nil
	}
	if delete(by, f.number); len(by) > 0 {
		return nil
	}
	return d.cluster.Resume(id)
}

// turn has the victims of a fault that slows them down stop, or go on.
func (d *Driver) turn(f *fault, now int64) error {
	f.stands = !f.stands
	share := float64(f.Share)
	if !f.stands {
		share = 1 - share
	}
	f.turn = now + int64(share*float64(slowPeriod))
	for _, id := range f.victims {
		act := d.proceed
		if f.stands {
			act = d.stop
		}
		if !d.cluster.Up(id) {
			continue
		}
		if err := act(f, id); err != nil {
			return err
		}
	}
	return nil
}
