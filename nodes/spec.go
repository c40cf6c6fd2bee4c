package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/suggest"
)

// Info is what every row of a table says for people, whether it is an algorithm or an external lock service.
type Info struct {
	Name    string   // as in --algo
	Aliases []string // other names for it
	Family  string   // centralized, token, permission or quorum
	Source  string   // the paper
	Summary string   // in one sentence, how it works
}

// A Spec is one row of a table of algorithms. Look-up, the list of algorithms, the README's table
// and the tests of conformance all read it.
type Spec struct {
	Info

	New       func(c Config) Machine
	Servers   func(c Config) int            // how many nodes have no client; nil: none
	NewServer func(c Config, id ID) Machine // the machine of the server id, n and up
	// Coordinator returns the node that all others ask; nil: there is none.
	Coordinator func(c Config) ID
	// Ports makes the network anonymous: nodes send by ports, hear from ports, and have no Self.
	Ports      func(c Config, id ID) []ID           // where those of node id lead; nil: nodes know IDs
	Messages   []Kind                               // every message that its machines send or save
	Timers     []TimerName                          // every kind of timer that its machines set
	Options    []Option                             // its settings beside the number of nodes
	Safe       Assumption                           // what its safety rests on
	Live       Assumption                           // what its progress rests on, beside Safe
	Cost       func(c Config) Cost                  // as published
	Exact      func(c Config, alone bool) EntryCost // alone: one request at a time; nil: unknown
	Symbols    []Symbol                             // of its cost, beside N
	Bypass     func(c Config) int                   // entries of others once a request is known; nil: any
	Fair       Assumption                           // what Bypass rests on, beside Safe and Live
	Grace      func(c Config) time.Duration         // see GraceOf; nil: 0
	Identities []Identity                           // of its message counts, after a run without faults
	Published  []Claim                              // figures for validate to reproduce, beyond Cost
	Faults     []FaultCell                          // what becomes of it in the fault matrix
	Circulates bool                                 // sends even if nobody requests (a circulating token)
	// Fenced says that it grants by GrantFenced, so that a resource that demands numbers (Config.Fenced) can
	// refuse what is written under a lower one than the highest that has entered.
	Fenced bool
	// Minority is what it promises of clients that reach no majority; nil: nothing.
	Minority *Minority
	// Follows says that it may have an elector beside it (Config.Elect), whose leader it follows.
	Follows bool
	// Epochs are what its fence numbers begin with, if it goes on under a higher one when what lets in was lost.
	Epochs Epochs
	// Silence is when a textbook takes what lets in for lost.
	Silence Silence
	// Effective is what its safety rests on, instead of Safe, where the resource demands numbers: it promises
	// that nothing stale is accepted then, rather than that no two are inside.
	Effective Assumption
	// Detects names the failure detector that runs beside it unless another is named, as detector.Parse reads
	// it; empty: it listens to none.
	Detects string
	// Detector says that it is a failure detector: what it sends and its timers are no progress of any
	// algorithm. It runs on servers too, by New.
	Detector bool
	// Told is of a detector that finds out nothing itself: how long after a crash, and after a restart, the
	// simulator tells it. Nil: it finds out by messages.
	Told func(c Config) time.Duration
	// Leads is what an elector promises of its leaders; nil in the row of an algorithm of mutual exclusion.
	Leads    *Leadership
	Broken   string // if it is known to be broken: the check that it fails
	BrokenAt Config // where an exploration shows it
	// BrokenBy is what has to be broken for it to show: the exploration allows one fault that breaks it. 0: it
	// shows without faults.
	BrokenBy Assumption
	// BrokenTimes is how many such faults it takes; 0: one.
	BrokenTimes int
}

// Epochs tell of a fence number in which epoch it was handed out. The zero value says that there are none.
type Epochs struct {
	One string // what there is one of in each: token, view
	Of  func(c Config, fence uint64) uint64
}

// A Minority is what is promised of a client that reaches no majority of the clients, itself included,
// neither way: it enters no more, from some time after on. It rests on nothing but time, and on Effective.
type Minority struct {
	// Within is how long that takes once its failure detector suspects the others.
	Within func(c Config) time.Duration
	// Keeps says that it may enter all the same in an epoch that had begun before, as with a token that was
	// there: none begins in a minority.
	Keeps bool
}

// A Silence is after what time without entries a textbook takes what lets in for lost. The zero value says
// that none does.
type Silence struct {
	Formula string // T is what a message takes at most
	Of      func(c Config, latency, hold time.Duration) time.Duration
}

// A Kind is one kind of message.
type Kind struct {
	Zero      Message // a zero value of its type
	Token     bool    // carries the privilege itself
	Permit    bool    // permits its receiver to enter, alone or together with others of its kind
	Heartbeat bool    // only says that its sender is up
	Broadcast bool    // goes to all peers at once
	Net       uint8   // the network that carries it: 0, or a second one
}

// Assumption is a set of assumptions about the system.
type Assumption uint16

// The assumptions that an algorithm may rest on.
const (
	NoLoss           Assumption = 1 << iota // no message is lost
	NoDuplication                           // no message arrives twice
	FIFO                                    // messages of one link arrive in the order they were sent
	NoCrash                                 // no node crashes
	NoAmnesia                               // a node that comes up again remembers what it saved
	NoPause                                 // no node pauses for long
	PerfectDetector                         // only crashed nodes are suspected
	EventualDetector                        // from some time on, only crashed nodes are suspected
	Timing                                  // messages and handlers take bounded time
	Majority                                // more than half of the clients are up
	ServersUp                               // all nodes without a client are up
)

// Transient are the assumptions that hold again some time after what broke them is over. All others are
// broken for good: no algorithm gets back a message that was lost, or forgets one that came twice or too
// early, unless it does not rest on that. A crash is one of these though the node comes up again: what was
// sent to it meanwhile is lost, and so is a token that it held. A row that recovers from that does not rest
// on NoCrash.
const Transient = NoPause | PerfectDetector | EventualDetector | Timing | Majority | ServersUp

var assumptionNames = [...]string{"no loss", "no duplication", "FIFO links", "no crash", "no amnesia",
	"no pause", "a perfect detector", "an eventual detector", "bounded delays", "a majority that is up",
	"servers that are up"}

// String lists the assumptions in words.
func (n Assumption) String() string {
	var names []string
	for i, name := range assumptionNames {
		if n&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

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
		return f(r.Min)
	case math.IsInf(r.Max, 1):
		return ">=" + f(r.Min)
	}
	return f(math.Round(100*r.Min)/100) + "-" + f(math.Round(100*r.Max)/100)
}

// A Cost is what an algorithm was published to cost: messages per entry over a run without faults,
// a message being one delivery to a node other than its sender. The loads are those of
// docs/measures.md.
type Cost struct {
	Formula    string // for people: "2(N-1)"
	Sequential Range  // one request at a time, each from any node
	One        Range  // one node asks again and again, from its first entry on
	Saturated  Range  // every node always wants in
	Any        Range  // under any load, these included
	Delay      Range  // synchronization delay, in hops: exit to the next enter while someone waits
}

// An EntryCost is called for each entry of a run, in their order, with who enters. It tells how many messages
// the entry takes.
type EntryCost func(entrant ID) int

// A Symbol is a quantity in the formulas of an algorithm, such as the size of its quorums.
type Symbol struct {
	Name  string // as in the formulas: "K"
	Says  string // in a few words
	Value func(c Config) int
}

// A Tally is what was counted over a run that has come to rest.
type Tally struct {
	Entries uint64
	Sent    map[string]uint64 // deliveries asked for, by the name of the message kind
}

// An Identity is an equation or bound that the message counts of an algorithm obey, whatever the
// load, once a run without faults has come to rest. A run that breaks it shows an error in the
// algorithm or in the counters.
type Identity struct {
	Says  string // "REPLY = REQUEST"
	Holds func(c Config, t Tally) bool
}

// Validate returns an error that says what of a configuration the algorithm refuses, and what would be right.
func (s *Spec) Validate(c Config) error {
	switch {
	case c.N < 1:
		return fmt.Errorf("%d nodes: it takes at least one", c.N)
	case c.Units < 0:
		return fmt.Errorf("%d units: the resource has at least one", c.Units)
	case c.Fenced && !s.Fenced:
		return fmt.Errorf("fenced: %s hands out no fence numbers, so the resource could refuse nothing: leave it "+
			"out, or take an algorithm that does (see list)", s.Name)
	}
	if c.Elect != "" && !s.Follows {
		return fmt.Errorf("elect: %s follows no leader: leave it out, or take an algorithm that does (see list)",
			s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		if s.Option(name) == nil {
			return s.unknownOption(name)
		}
	}
	for i := range s.Options {
		if err := s.Options[i].validate(c); err != nil {
			return err
		}
	}
	return s.lacking(s.needs())
}

// Broadcasts reports whether the algorithm sends any messages to all peers at once.
func (s *Spec) Broadcasts() bool {
	return slices.ContainsFunc(s.Messages, func(k Kind) bool { return k.Broadcast })
}

// Explicit returns the configuration with a value given for each option of the algorithm that has a default.
func (s *Spec) Explicit(c Config) Config {
	for _, o := range s.Options {
		c = c.With(o.Name, c.Value(o))
	}
	return c
}

// Option returns the option of that name, or nil.
func (s *Spec) Option(name string) *Option {
	at := slices.IndexFunc(s.Options, func(o Option) bool { return o.Name == name })
	if at < 0 {
		return nil
	}
	return &s.Options[at]
}

// unknownOption says that there is no option of that name, and which there are.
func (s *Spec) unknownOption(name string) error {
	var names, forms []string
	for _, o := range s.Options {
		names, forms = append(names, o.Name), append(forms, o.form())
	}
	has := cmp.Or(strings.Join(forms, ", "), "none")
	if near := suggest.Nearest(name, names); near != "" {
		return fmt.Errorf("%s has no option %s: did you mean %s? It has %s", s.Name, name, near, has)
	}
	return fmt.Errorf("%s has no option %s: it has %s", s.Name, name, has)
}

// ServerCount returns how many nodes without a client the algorithm needs.
func (s *Spec) ServerCount(c Config) int {
	if s.Servers == nil {
		return 0
	}
	return s.Servers(c)
}

// SafeIn returns what safety rests on in a configuration.
func (s *Spec) SafeIn(c Config) Assumption {
	if c.Fenced {
		return s.Effective
	}
	return s.Safe
}

// GraceOf returns within what time the algorithm recovers, a formula of its timeouts: once pauses, delays and
// wrong suspicions are over, every client that waits and stays up enters within it. Until then they excuse a
// failure, and no longer.
func (s *Spec) GraceOf(c Config) time.Duration {
	if s.Grace == nil {
		return 0
	}
	return s.Grace(c)
}

// CostOf returns what the algorithm was published to cost: any, if nothing is.
func (s *Spec) CostOf(c Config) Cost {
	if s.Cost != nil {
		return s.Cost(c)
	}
	any := Unbounded(0)
	return Cost{Sequential: any, One: any, Saturated: any, Any: any, Delay: any}
}

// Codec returns the codec of the algorithm's messages.
func (s *Spec) Codec() *Codec { return NewCodec(s.Messages) }

// Machine returns the machine of node id: a client's or, from c.N upwards, a server's.
func (s *Spec) Machine(c Config, id ID) Machine {
	if int(id) < c.N {
		return s.New(c)
	}
	return s.NewServer(c, id)
}
