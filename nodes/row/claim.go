package row

import (
	"cmp"
	"time"

	"turnstile/nodes"
)

// A Claim is a published figure of an algorithm, with the run that reproduces it: every link takes one Hop,
// and only holds and think times take time besides.
type Claim struct {
	Figure  Figure
	Source  string                     // where it was published
	Value   func(c nodes.Config) Range // what is published
	Within  Tolerance                  // how close a run must come
	Sizes   []int                      // for how many nodes; nil: 4, 5, 9, 16 and 32
	Options map[string]string          // of the algorithm
	Load    string                     // as in --load; empty: saturated
	Hold    time.Duration              // zero: negligible
	Think   time.Duration              // under a closed load

	Units int    // of the resource; zero: as many as the row says
	Take  string // units that a request takes, as in --take; empty: one

	Multicast bool

	Election *Trial // of a figure of elections: the runs
}

// A Trial is what the runs of a claim about elections are. A run in which nobody has been elected when it
// should end is made again, and lasts twice as long, if the figure is about a leader.
type Trial struct {
	Initiators string                          // who campaigns when it begins, as in --initiators; empty: all
	Campaigns  func(c nodes.Config) []nodes.ID // or, if that depends on the size, these
	Down       func(c nodes.Config) []nodes.ID // who is down from the beginning; nil: nobody
	Back       time.Duration                   // when they come up again; 0: never
	Crash      [2]time.Duration                // the leader crashes at random between the two; zero: it does not
	Latency    string                          // of messages, as in --latency; empty: one Hop
	Detector   string                          // beside the algorithm, as in --detector; empty: none
	Lasts      time.Duration                   // 0: ten seconds
	Runs       int                             // of which the mean is taken; 0: one
	Vary       func(c *nodes.Config, run int)  // makes each of them differ; nil: by their seeds alone

	// Of figures that count messages:
	From  time.Duration                // those sent from then on, by algorithms that circulate; 0: all
	Kinds []string                     // of messages that count; nil: all but heartbeats
	Per   func(c nodes.Config) float64 // what their number is divided by; nil: nothing

	Late time.Duration // of LateElections: after how long an election is late
}

// Configs returns the clusters that the claim is about.
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

// Means returns what is published of the messages of an entry on average under a load, one claim for each
// hold that it is published for.
func (r *Row) Means(load string, config nodes.Config) (means []Claim) {
	for _, c := range r.Published {
		if c.Figure != MessagesPerEntry || c.Within == Exact || c.Multicast ||
			cmp.Or(c.Load, "saturated") != load || !r.has(config, c.Options) || !c.Value(config).Exact() {
			continue
		}
		means = append(means, c)
	}
	return means
}

// has reports whether a configuration has these values of options.
func (r *Row) has(c nodes.Config, options map[string]string) bool {
	for name, value := range options {
		if o := r.Option(name); o == nil || c.Value(*o) != value {
			return false
		}
	}
	return true
}

// Hop is the latency of a link in the run of a claim.
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
	Mean                    // a mean of draws: within four standard errors, by fifty groups
	Steady                  // in the steady state: within one hundredth, since its first entries differ
	Fitted                  // a curve that was fitted to simulations: within three hundredths
	Beside                  // it stands beside, without a verdict: nobody knows how far apart they may be
)
