package algorithm

import (
	"math"
	"slices"
	"strconv"
	"time"

	"turnstile/nodes"
)

// A Range is what a figure may be, Min to Max, both included.
type Range struct{ Min, Max float64 }

// Exactly is the range of one value.
func Exactly(x float64) Range { return Range{x, x} }

// Between is the range from low to high.
func Between(low, high float64) Range { return Range{low, high} }

// Unbounded is the range from low upwards.
func Unbounded(low float64) Range { return Range{low, math.Inf(1)} }

// Exact reports whether only one value will do.
func (r Range) Exact() bool { return r.Min == r.Max }

// Known reports whether the range excludes some number from 0 upwards.
func (r Range) Known() bool { return r.Min > 0 || !math.IsInf(r.Max, 1) }

// Has reports whether x lies in the range, up to rounding.
func (r Range) Has(x float64) bool {
	const slack = 1e-9
	return x >= r.Min-slack && x <= r.Max+slack
}

// String prints the range as 62, 6-12 or >=3.
func (r Range) String() string {
	f := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	switch {
	case r.Exact():
		return f(math.Round(1e6*r.Min) / 1e6)
	case math.IsInf(r.Max, 1):
		return ">=" + f(r.Min)
	}
	return f(math.Round(100*r.Min)/100) + "-" + f(math.Round(100*r.Max)/100)
}

// A Cost is the published cost of an algorithm: messages per entry over a run without faults. A message is
// one delivery to a node other than its sender. docs/measures.md describes the loads.
type Cost struct {
	Formula    string // for people: "2(N-1)"
	Sequential Range  // one request at a time, each from any node
	One        Range  // one node asks again and again, from its first entry on
	Saturated  Range  // every node always requests or is inside
	Any        Range  // under any load, including the three above
	Delay      Range  // synchronization delay, in hops: from an exit to the next entry while a client waits
	// Renewal is the period at which a holder sends one more message to renew; 0: it sends no such messages. The
	// ranges above are for holds shorter than a period.
	Renewal time.Duration
}

// Renewals returns how many additional messages an entry with a long hold takes. A hold that ends exactly
// when a renewal is due may end before or after this renewal.
func (c *Cost) Renewals(hold time.Duration) Range {
	if c.Renewal <= 0 || hold < c.Renewal {
		return Range{}
	}
	return Between(float64((hold-1)/c.Renewal), float64(hold/c.Renewal))
}

// An EntryCost returns how many messages an entry takes. It is called for each entry of a run, in order.
type EntryCost func(entrant nodes.ID) int

// A Symbol is a quantity in the formulas of an algorithm, such as the size of its quorums.
type Symbol struct {
	Name  string // as in the formulas: "K"
	Says  string // the meaning, in a few words
	Value func(c nodes.Config) int
}

// A Tally has the counts of a run that has come to rest.
type Tally struct {
	Entries uint64
	Sent    map[string]uint64 // messages sent, one per receiver, by the name of the message kind
}

// An Identity is an equation or bound that the message counts of an algorithm obey under any load, once a run
// without faults has come to rest. A run that breaks it shows an error in the algorithm or in the counters.
type Identity struct {
	Says  string // "REPLY = REQUEST"
	Holds func(c nodes.Config, t Tally) bool
	Only  func(c nodes.Config) bool // reports whether the identity applies to c; nil: it always applies
}

// IdentitiesIn returns the identities that apply in a configuration.
func (x *Exclusion) IdentitiesIn(c nodes.Config) []Identity {
	return slices.DeleteFunc(slices.Clone(x.Identities), func(i Identity) bool {
		return i.Only != nil && !i.Only(c)
	})
}
