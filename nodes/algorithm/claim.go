package algorithm

import (
	"cmp"
	"time"

	"turnstile/nodes"
)

// A Claim is a published figure of an algorithm, with the run that reproduces it. In this run every message
// takes one Hop; apart from messages, only holds and think times take time.
type Claim struct {
	Figure  Figure
	Source  string                     // where it was published
	Value   func(c nodes.Config) Range // what is published
	Within  Tolerance                  // how close a run must come
	Sizes   []int                      // numbers of nodes of the runs; nil: 4, 5, 9, 16 and 32
	Options map[string]string          // options of the algorithm
	Load    string                     // as in --load; empty: saturated
	Hold    time.Duration              // length of critical sections; zero: negligible
	Think   time.Duration              // think time under a closed load

	Units int    // units of the resource; zero: the usual number of the algorithm
	Take  string // units that a request takes, as in --take; empty: one

	Multicast bool

	Election *Trial // the runs, if the figure is about elections; otherwise nil
}

// A Trial describes the runs of a claim about elections. If a figure needs a leader and a run has elected
// none at its end, the run is repeated with twice the duration.
type Trial struct {
	Initiators string                          // nodes that campaign first, as in --initiators; empty: all
	Campaigns  func(c nodes.Config) []nodes.ID // replaces Initiators, if the nodes depend on the size
	Down       func(c nodes.Config) []nodes.ID // nodes that are down at the start; nil: none
	Back       time.Duration                   // when they come up again; 0: never
	Crash      [2]time.Duration                // the leader crashes at random between these times; zero: never
	Latency    string                          // latency of messages, as in --latency; empty: one Hop
	Detector   string                          // the failure detector, as in --detector; empty: no detector
	Lasts      time.Duration                   // duration of a run; 0: ten seconds
	Runs       int                             // number of runs, over which the figure is averaged; 0: one
	Vary       func(c *nodes.Config, run int)  // changes the configuration of a run; nil: only seeds differ

	// For figures that count messages:
	From  time.Duration                // if the algorithm circulates: count messages from this time on; 0: all
	Kinds []string                     // kinds of messages that count; nil: all but heartbeats
	Per   func(c nodes.Config) float64 // what the count is divided by; nil: the count is not divided

	Late time.Duration // for LateElections: the duration from which an election is late
}

// Configs returns the configurations that the claim is about.
func (c *Claim) Configs() (all []nodes.Config) {
	sizes := c.Sizes
	if sizes == nil {
		sizes = []int{4, 5, 9, 16, 32}
	}
	for _, n := range sizes {
		all = append(all, nodes.Config{N: n, Units: c.Units, Options: c.Options})
	}
	return all
}

// Means returns the claims about the mean number of messages per entry under a load, one for each published
// hold.
func (a *Algorithm) Means(load string, config nodes.Config) (means []Claim) {
	for _, c := range a.Published {
		if c.Figure != MessagesPerEntry || c.Within == Exact || c.Multicast ||
			cmp.Or(c.Load, "saturated") != load || !a.has(config, c.Options) || !c.Value(config).Exact() {
			continue
		}
		means = append(means, c)
	}
	return means
}

// has reports whether a configuration has these values of options.
func (a *Algorithm) has(c nodes.Config, options map[string]string) bool {
	for name, value := range options {
		if o := a.Option(name); o == nil || c.Value(*o) != value {
			return false
		}
	}
	return true
}

// Hop is the latency of each message in the run of a claim.
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
	MessagesPerElection      Figure = "messages per election"
	RoundsPerElection        Figure = "rounds per election"
	MessagesPerPeriod        Figure = "messages per period"
	SplitVotes               Figure = "first terms that end in a split vote, share"
	ElectionTime             Figure = "election time, ms"
	LateElections            Figure = "elections that take too long, share"
	MessagesPerMember        Figure = "messages per member and period"
	PeriodsToProbe           Figure = "periods until a crashed node is probed"
)

// Share reports whether the figure is a share of runs.
func (f Figure) Share() bool { return f == SplitVotes || f == LateElections }

// A Tolerance says how close a figure must come to the published one.
type Tolerance int

// The tolerances.
const (
	Exact  Tolerance = iota // within the range, up to rounding
	Mean                    // a mean of random draws: within four standard errors, by the means of fifty groups
	Steady                  // the steady state: within one hundredth, since the first entries differ from it
	Fitted                  // a curve fitted to simulations: within three hundredths
	Beside                  // shown without a verdict: no tolerance is known
)
