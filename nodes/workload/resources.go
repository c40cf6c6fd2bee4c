package workload

import (
	"fmt"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// MostZipf is the greatest exponent of Zipf's distribution: then nearly all requests name the first resource.
const MostZipf = 10

// CheckZipf says what is wrong with the exponent by which requests name resources, if anything is.
func (w *Workload) CheckZipf(resources int) error {
	switch {
	case !(w.Zipf >= 0 && w.Zipf <= MostZipf): // nor is it a NaN
		return fmt.Errorf("zipf: %v: write an exponent from 0 (all resources alike) to %d, as in 1.1", w.Zipf,
			MostZipf)
	case w.Zipf > 0 && resources < 2:
		return fmt.Errorf("zipf: %v: there is one resource, which all requests name: have several, as in "+
			"--resources 4", w.Zipf)
	}
	return nil
}

// Names returns which of several resources the count-th request of a node is for, by its number.
func (w *Workload) Names(d chance.Dice, id nodes.ID, count uint64, resources int) int {
	if resources == 1 {
		return 0
	}
	r := roll(chance.ForResource, id, count)
	r.Kind = 1 // the dice of resources are other decisions: see chance.Dice.Of
	return d.Zipf(r, resources, w.Zipf)
}

// Share returns the share of the requests that name a resource, of several.
func (w *Workload) Share(resource, resources int) float64 {
	return chance.ZipfShare(resource, resources, w.Zipf)
}

// TakesTurns reports whether a client of several resources asks for one at a time. Under an open load it asks
// for each at a rate, whatever becomes of the others: so who waits for one resource delays no request for
// another.
func (w *Workload) TakesTurns(resources int) bool { return resources > 1 && w.Load != Open }

// Of returns what the clients of a resource do, of several. Under an open load they have its share of the
// rate: Poisson arrivals that are divided at random are Poisson arrivals.
func (w *Workload) Of(resource, resources int) *Workload {
	if resources == 1 || w.Load != Open {
		return w
	}
	of := *w
	of.Rate *= w.Share(resource, resources)
	return &of
}
