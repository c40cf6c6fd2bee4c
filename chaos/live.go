package chaos

import (
	"fmt"
	"slices"
	"time"
)

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
	f := newFault(&one, number, d.state)
	f.state = announced
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
