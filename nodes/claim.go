package nodes

import "time"

// A Claim is a figure that was published of an algorithm, and the run in which it shows: every link takes one
// Hop, and nothing but holding and thinking takes time besides.
type Claim struct {
	Figure  Figure
	Source  string               // who says so
	Value   func(c Config) Range // what is published
	Within  Tolerance            // how near a run has to come
	Sizes   []int                // for how many nodes; nil: 4, 5, 9, 16 and 32
	Options map[string]string    // of the algorithm
	Load    string               // as in --load; empty: saturated
	Hold    time.Duration        // zero: next to nothing
	Think   time.Duration        // under a closed load

	Multicast bool
}

// Configs returns the clusters that the claim is about.
func (c *Claim) Configs() (all []Config) {
	sizes := c.Sizes
	if sizes == nil {
		sizes = []int{4, 5, 9, 16, 32}
	}
	for _, n := range sizes {
		all = append(all, Config{N: n, Options: c.Options})
	}
	return all
}

// Hop is what a link takes in the run of a claim.
const Hop = time.Millisecond

// A Figure is what a claim is about.
type Figure string

// The figures.
const (
	MessagesPerEntry         Figure = "messages per entry"
	PublishesPerEntry        Figure = "publishes per entry"
	SynchronizationDelayHops Figure = "synchronization delay, hops"
	ClientDelayHops          Figure = "client delay, hops"
	Utilisation              Figure = "utilisation"
	EntriesPerSecond         Figure = "entries per second"
)

// A Tolerance says how near a figure has to come to what was published.
type Tolerance int

// The tolerances.
const (
	Exact  Tolerance = iota // within the range, but for rounding
	Mean                    // a mean of draws: within four standard errors, by fifty groups
	Steady                  // in the steady state: within one hundredth, since its first entries differ
	Fitted                  // a curve that was fitted to simulations: within three hundredths
)
