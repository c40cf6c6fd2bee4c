package chaos

import (
	"fmt"
	"slices"
	"time"

	"turnstile/chaos/effect"
	"turnstile/nodes"
)

// While a run is on, its driver takes more faults, and heals some before their time.

// ahead is how long before a rule of links begins or ends the shared state says so: all nodes see it by then.
const ahead = time.Millisecond

// Add adds a fault that ResolveMore has returned, and returns its number. It does not begin before Known says
// that all nodes know it.
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

// Announced reports whether there are faults that were added, and that are not said to be known yet.
func (d *Driver) Announced() bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool { return f.state == announced })
}

// Known says that all nodes know the faults that were added. What was to begin before begins now. The run is
// measured for so long; 0: until enough has happened.
func (d *Driver) Known(measured time.Duration) {
	now := time.Duration(d.cluster.Now() - d.measured)
	for _, f := range d.faults {
		if f.state != announced {
			continue
		}
		f.state = planned
		f.At = max(f.At, Whole(now+ahead))
		if measured > 0 { // it ends with the run, and can be repeated
			f.At = min(f.At, measured-time.Millisecond)
			f.For = min(f.For, measured-f.At)
		}
		if f.Timed() && f.OfLinks() {
			f.shared.begin(d.start(f), d.end(f, d.start(f)))
		}
	}
}

// Whole rounds a time up to milliseconds, as people write it.
func Whole(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// An Unhealable is an error of Heal that says why nothing was done.
type Unhealable struct{ why string }

func (u *Unhealable) Error() string { return u.why }

func unhealable(format string, args ...any) error { return &Unhealable{fmt.Sprintf(format, args...)} }

// Heal ends a fault before its time. One that has not begun never will. One that stays for good is undone if
// it can be: who was killed is restarted. The error is an Unhealable if nothing was done.
func (d *Driver) Heal(number int) error {
	if number < 1 || number > len(d.faults) {
		return unhealable("there is no fault %d: they count from 1 to %d", number, len(d.faults))
	}
	f := d.faults[number-1]
	if f.began == 0 {
		f.shared.disarm()
	}
	if err := d.Step(); err != nil { // what was fired until then has begun
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
	case f.state == healed && is[*effect.Promote](f.Fault):
		return unhealable("fault %d has promoted a server, once and for good: there is nothing to heal", number)
	case f.state == healed && is[effect.Carried](f.Fault) && !f.killsServers():
		return unhealable("fault %d has closed connections, once and for good: there is nothing to heal",
			number)
	case f.state == healed && !is[*effect.Kill](f.Fault) && !f.killsServers():
		return unhealable("fault %d has set a clock, once and for good: there is nothing to heal", number)
	case f.began == 0:
		f.shared.heal(now)
		f.state = healed
		return nil
	case f.OfLinks(): // Step heals it then
		f.shared.heal(now + int64(ahead))
		f.For = Whole(time.Duration(f.shared.to.Load() - f.began))
		return nil
	}
	f.shared.heal(now)
	if d.mustWait(f) { // Step heals it once it can be
		f.state, f.For = inForce, max(time.Millisecond, Whole(time.Duration(now-f.began)))
		return nil
	}
	if err := d.heal(f, now); err != nil {
		return err
	}
	f.For = max(time.Millisecond, Whole(time.Duration(f.ended-f.began)))
	return nil
}

// Faults returns the faults as they are to be repeated: when they began if they were added, and how long they
// lasted if they were healed before their time.
func (d *Driver) Faults() (all []Fault) {
	for _, f := range d.faults {
		all = append(all, *f.Fault)
	}
	return all
}

// A Progress is how far a fault has come.
type Progress struct {
	Number int    `json:"number"`
	Fault  string `json:"fault"`
	State  string `json:"state"` // one of the constants
	// Began and Ended are when it began and when it was healed, from the beginning of what is measured; nil:
	// it has not been.
	Began *time.Duration `json:"began,omitempty"`
	Ended *time.Duration `json:"ended,omitempty"`
	Nodes []nodes.ID     `json:"nodes,omitempty"` // those whom it hits, as far as is known
	Hits  uint64         `json:"hits,omitempty"`  // messages that it has hit
	// Brokers are those that it hits.
	Brokers []nodes.ID `json:"brokers,omitempty"`
	Servers []int      `json:"servers,omitempty"` // of a service, those that it has hit
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

// Progress returns how far each fault has come.
func (d *Driver) Progress() (all []Progress) {
	since := func(at int64) *time.Duration {
		if at == 0 {
			return nil
		}
		return new(time.Duration(at - d.measured))
	}
	for _, f := range d.faults {
		p := Progress{Number: f.number, Fault: f.String(), State: f.says(), Began: since(f.began),
			Ended: since(f.ended), Hits: f.shared.hits.Load(), Brokers: f.brokers(f.among),
			Servers: slices.Clone(f.servers)}
		p.Nodes = slices.Clone(f.target().Nodes)
		if victim := f.shared.victim(); f.hitsVictim() && victim >= 0 {
			p.Nodes = effect.Group{victim}
		}
		all = append(all, p)
	}
	return all
}

// says says how far a fault has come.
func (f *fault) says() string {
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

// InForce says which faults are in force.
func (d *Driver) InForce() (texts []string) {
	if d.cluster == nil {
		return nil
	}
	now := d.cluster.Now()
	for _, f := range d.faults {
		if f.carrier != nil && f.state != healed || f.OfLinks() && f.shared.inForce(now) {
			texts = append(texts, f.String())
		}
	}
	for id, by := range d.stops {
		if len(by) > 0 {
			texts = append(texts, fmt.Sprintf("node %d stands still", id))
		}
	}
	return texts
}
