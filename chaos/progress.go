package chaos

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

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
			p.Nodes = nodes.Group{victim}
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
