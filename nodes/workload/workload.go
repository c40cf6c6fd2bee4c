// Package workload computes when clients request their critical section and how long they stay inside, as
// pure functions of the seed, the node and the number of the request. So real and simulated runs have the
// same workload.
package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// A Load is the shape of the demand.
type Load string

// The loads.
const (
	Saturated  Load = "saturated"  // every node requests again as soon as it has left
	One        Load = "one"        // node 0 alone requests, again and again
	Sequential Load = "sequential" // one request at a time, from a random node, when no message is under way
	Closed     Load = "closed"     // every node thinks, requests, holds, releases and thinks again
	Open       Load = "open"       // requests fall due at each node at a rate, even if the node still waits
	Campaign   Load = "campaign"   // for electors: some nodes campaign when the run begins; no node requests
)

// Kind returns the kind of algorithm that runs under the load.
func (l Load) Kind() nodes.Kind {
	if l == Campaign {
		return nodes.Election
	}
	return nodes.MutualExclusion
}

// loads are the loads of mutual exclusion.
var loads = []Load{Saturated, One, Sequential, Closed, Open}

// Loads returns the loads under which clients request.
func Loads() []Load { return slices.Clone(loads) }

// ParseLoad reads the name of a load.
func ParseLoad(name string) (Load, error) {
	names := make([]string, len(loads))
	for i, l := range loads {
		if string(l) == name {
			return l, nil
		}
		names[i] = string(l)
	}
	return "", fmt.Errorf("there is no load %q: take one of %s", name, strings.Join(names, ", "))
}

// A Workload is what the clients of a run do.
type Workload struct {
	Load  Load                `json:"load" yaml:"load"`
	Hold  chance.Distribution `json:"hold" yaml:"hold"`   // time in the critical section
	Think chance.Distribution `json:"think" yaml:"think"` // closed load: from a release to the next request
	// Rate is, under an open load, the requests per second and node: at random (Poisson) or, if Evenly is set,
	// evenly spaced.
	Rate   float64 `json:"rate,omitempty" yaml:"rate,omitempty"`
	Evenly bool    `json:"evenly,omitempty" yaml:"evenly,omitempty"`
	// Work is what clients do while they are inside.
	Work Work `json:"work,omitempty" yaml:"work,omitempty"`
	// Take says how many units of a resource requests take.
	Take Take `json:"take,omitzero" yaml:"take,omitempty"`
	// CancelAfter is how long a client waits until it cancels its request; 0: it never does.
	CancelAfter time.Duration `json:"cancel_after,omitempty" yaml:"cancel_after,omitempty"`
	// Zipf is the exponent of Zipf's distribution, by which requests choose among several resources; 0: all
	// resources are equally likely.
	Zipf float64 `json:"zipf,omitempty" yaml:"zipf,omitempty"`
	// Receive says how the application of a node receives messages.
	Receive Receive `json:"receive,omitzero" yaml:"receive,omitempty"`
	// Initiators says which nodes campaign when a run under the load Campaign begins.
	Initiators Initiators `json:"initiators,omitempty" yaml:"initiators,omitempty"`
	// CampaignEvery is the period at which initiators that are up campaign again, Campaigns times in all; 0:
	// they campaign only once.
	CampaignEvery time.Duration `json:"campaign_every,omitempty" yaml:"campaign_every,omitempty"`
	Campaigns     int           `json:"campaigns,omitempty" yaml:"campaigns,omitempty"`
}

// The least and the greatest rate, in requests per second: about one in eleven days, and one per microsecond.
const (
	LeastRate = 1e-6
	MostRate  = 1e6
)

// CheckRate returns an error if the rate of an open load is out of bounds.
func (w *Workload) CheckRate() error {
	if w.Load == Open && !(w.Rate >= LeastRate && w.Rate <= MostRate) { // refuses NaN too
		return fmt.Errorf("a rate of %v requests per second and node: it must be at least %.6f, and at most %.0f",
			w.Rate, LeastRate, MostRate)
	}
	return nil
}

// Never is later than any time.
const Never = math.MaxInt64

// Next returns when the count-th request of a node (from 1) is due, in nanoseconds since the run began. The
// previous request was due at lastDue and ended at lastEnd; for the first request, both are the time when
// issuing begins. Next returns Never if the node does not request by itself. Under an open load lastEnd does
// not matter, so a slow system gets as many requests as a fast one.
func (w *Workload) Next(d chance.Dice, id nodes.ID, count uint64, lastDue, lastEnd int64) int64 {
	switch w.Load {
	case One:
		if id != 0 {
			return Never
		}
		return lastEnd
	case Saturated:
		return lastEnd
	case Closed:
		return lastEnd + int64(w.Think.Draw(d, roll(chance.ForThink, id, count)))
	case Open:
		gaps := 1.0
		switch r := roll(chance.ForArrival, id, count); {
		case !w.Evenly:
			gaps = d.Exponential(r)
		case count == 1:
			gaps = d.Unit(r) // otherwise all nodes would request at once
		}
		gap := gaps * float64(time.Second) / w.Rate
		if gap >= float64(Never-lastDue) {
			return Never
		}
		return lastDue + int64(gap)
	}
	return Never
}

// Units returns how many units of a resource the count-th request of a node wants.
func (w *Workload) Units(d chance.Dice, id nodes.ID, count uint64, capacity int) int32 {
	return int32(w.Take.draw(d, roll(chance.ForUnits, id, count), capacity))
}

// HoldFor returns how long a node stays inside in its count-th critical section.
func (w *Workload) HoldFor(d chance.Dice, id nodes.ID, count uint64) time.Duration {
	return w.Hold.Draw(d, roll(chance.ForHold, id, count))
}

func roll(p chance.Purpose, id nodes.ID, count uint64) chance.Roll {
	return chance.At(p, id, count)
}

// SteadyEntries is how often each client that requests must enter before a run is warm: the first requests,
// which are all made at once, are not a steady state.
const SteadyEntries = 2

// fewEntries is the number of entries that may pass before the end of a warm-up is noticed.
const fewEntries = 1000

// Brief reports whether a run that ends after a number of entries is too short for a warm-up. Such a run is
// measured as a whole, to its last exit.
func Brief(entries uint64, clients int) bool {
	return entries < max(fewEntries, 4*SteadyEntries*uint64(clients))
}

// MostZipf is the greatest exponent of Zipf's distribution: with it nearly all requests are for the first
// resource.
const MostZipf = 10

// CheckZipf returns an error if the Zipf exponent is out of bounds, or there is only one resource.
func (w *Workload) CheckZipf(resources int) error {
	switch {
	case !(w.Zipf >= 0 && w.Zipf <= MostZipf): // refuses NaN too
		return fmt.Errorf("zipf: %v: write an exponent from 0 (all resources alike) to %d, as in 1.1", w.Zipf,
			MostZipf)
	case w.Zipf > 0 && resources < 2:
		return fmt.Errorf("zipf: %v: there is one resource, which all requests name: have several, as in "+
			"--resources 4", w.Zipf)
	}
	return nil
}

// Names returns the number of the resource that the count-th request of a node is for.
func (w *Workload) Names(d chance.Dice, id nodes.ID, count uint64, resources int) int {
	if resources == 1 {
		return 0
	}
	r := roll(chance.ForResource, id, count)
	r.Kind = 1 // makes the roll distinct from the dice of each resource: see chance.Dice.Of
	return d.Zipf(r, resources, w.Zipf)
}

// Share returns the share of requests that are for one of several resources.
func (w *Workload) Share(resource, resources int) float64 {
	return chance.ZipfShare(resource, resources, w.Zipf)
}

// TakesTurns reports whether a client of several resources requests one at a time. Under an open load it does
// not: it requests each resource at a rate, and a wait for one delays no request for another.
func (w *Workload) TakesTurns(resources int) bool { return resources > 1 && w.Load != Open }

// Of returns the workload of one of several resources. Under an open load it has the share of the rate that
// belongs to the resource, since Poisson arrivals that are split at random are Poisson arrivals.
func (w *Workload) Of(resource, resources int) *Workload {
	if resources == 1 || w.Load != Open {
		return w
	}
	of := *w
	of.Rate *= w.Share(resource, resources)
	return &of
}
