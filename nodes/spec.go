package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Spec is what machines are made from: all that the core, hosts, codec and faults need to know of an
// algorithm. What is published of it is in its row (package row).
type Spec struct {
	Name      string // as in --algo
	Kind      Kind
	New       func(c Config) Machine
	Servers   func(c Config) int            // how many nodes have no client; nil: none
	NewServer func(c Config, id ID) Machine // the machine of the server id, n and up
	// Coordinator returns the node that all others ask; nil: there is none.
	Coordinator func(c Config) ID
	// Ports makes the network anonymous: nodes send by ports, hear from ports, and have no Self.
	Ports    func(c Config, id ID) []ID // where those of node id lead; nil: nodes know IDs
	Messages []MessageKind              // every message that its machines send or save
	Timers   []TimerName                // every kind of timer that its machines set
	Options  []Option                   // its settings beside the number of nodes
	Safe     Assumption                 // what its safety rests on
	// Besides is what safety, and what progress, rests on beside Safe and Live in a configuration, since its
	// options say so; nil: nothing.
	Besides func(c Config) (safe, live Assumption)
	// Effective is what its safety rests on, instead of Safe, where the resource demands fence numbers: it
	// promises that nothing stale is accepted then, rather than that no two are inside.
	Effective  Assumption
	Live       Assumption                   // what its progress rests on, beside Safe
	Grace      func(c Config) time.Duration // see GraceOf; nil: 0
	Circulates bool                         // sends even if nobody requests (a circulating token)
	// Fenced says that it grants by GrantFenced, so that a resource that demands numbers (Config.Fenced) can
	// refuse what is written under a lower one than the highest that has entered.
	Fenced bool
	// Informs says that its machines say what clients hear of the lock: Env.TellLost, Env.Revoke and Env.Refuse.
	// Otherwise nothing is known of that.
	Informs bool
	// Units says how many units of the resource it serves, and how many of them one request may take.
	Units Units
	// Follows says that it may have an elector beside it (Config.Elect), whose leader it follows.
	Follows bool
	// Detects names the failure detector that runs beside it unless another is named, as detector.Parse reads
	// it; empty: it listens to none.
	Detects string
	// Told is of a detector that finds out nothing itself: how long after a crash, and after a restart, the
	// simulator tells it. Nil: it finds out by messages.
	Told func(c Config) time.Duration
}

// A Kind is what the machines of a Spec do.
type Kind uint8

// The kinds.
const (
	MutualExclusion Kind = iota // they are Mutexes
	Election                    // they are Electors
	// Detection: they suspect peers. What they send and their timers are no progress of any algorithm, and they
	// run on servers too, by New.
	Detection
)

// OfKind returns what a table has for a kind. For a kind that is not in it, that is what it has for mutual
// exclusion: so a new kind needs entries only where it differs.
func OfKind[T any](table map[Kind]T, kind Kind) T {
	if of, has := table[kind]; has {
		return of
	}
	return table[MutualExclusion]
}

// A MessageKind is one kind of message.
type MessageKind struct {
	Name      string  // empty: after its type, see KindName
	Zero      Message // a zero value of its type
	Token     bool    // carries the privilege itself
	Permit    bool    // permits its receiver to enter, alone or together with others of its kind
	Heartbeat bool    // only says that its sender is up
	Broadcast bool    // goes to all peers at once
	Net       uint8   // the network that carries it: 0, or a second one

	// Only reports whether it is sent in a configuration; nil: in all. In others it has no number, and is in
	// no table of kinds.
	Only func(Config) bool
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
	ServersUp                               // all nodes without a client are up, and all servers of a service
	ServerMajority                          // more than half of the servers of a service are up and joined
)

// Transient are the assumptions that hold again some time after what broke them is over. All others are
// broken for good: no algorithm gets back a message that was lost, or forgets one that came twice or too
// early, unless it does not rest on that. A crash is one of these though the node comes up again: what was
// sent to it meanwhile is lost, and so is a token that it held. A row that recovers from that does not rest
// on NoCrash.
const Transient = NoPause | PerfectDetector | EventualDetector | Timing | Majority | ServersUp |
	ServerMajority

var assumptionNames = [...]string{"no loss", "no duplication", "FIFO links", "no crash", "no amnesia",
	"no pause", "a perfect detector", "an eventual detector", "bounded delays", "a majority that is up",
	"servers that are up", "a majority of servers that are up and reach each other"}

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

// brokenWords say of each assumption, in the order of assumptionNames, what an algorithm assumes that rests on
// it, what happened where it was broken, and, of messages, what may have happened.
var brokenWords = [...]struct{ assumed, happened, may string }{
	{"no message is lost", "one was", "one may have been"},
	{"no message arrives twice", "one did", "one may have"},
	{"messages of a link arrive in order", "some did not", "some may not have"},
	{assumed: "no node crashes", happened: "one did"},
	{assumed: "a node that restarts remembers what it saved", happened: "one did not"},
	{assumed: "no node pauses for long", happened: "one did"},
	{assumed: "only crashed nodes are suspected", happened: "another was"},
	{assumed: "in the end only crashed nodes are suspected", happened: "another was"},
	{assumed: "messages and handlers take bounded time", happened: "some took longer"},
	{assumed: "more than half of the nodes are up", happened: "they were not"},
	{assumed: "all servers are up", happened: "one was not"},
	{assumed: "more than half of the servers are up and joined", happened: "they were not"},
}

// Broken says that a run broke these assumptions of an algorithm, as the reason of a verdict does: "the
// algorithm assumes that no message is lost, and one was". If it is not known that a fault hit a message, the
// end is "and one may have been". It panics if there are no assumptions.
func (n Assumption) Broken(known bool) string {
	var assumed []string
	happened := "that did not hold"
	for i, words := range brokenWords {
		if n&(1<<i) == 0 {
			continue
		}
		assumed = append(assumed, "that "+words.assumed)
		if n == 1<<i {
			happened = words.happened
			if !known && words.may != "" {
				happened = words.may
			}
		}
	}
	if last := len(assumed) - 1; last > 0 {
		assumed = []string{strings.Join(assumed[:last], ", ") + " and " + assumed[last]}
	}
	return "the algorithm assumes " + assumed[0] + ", and " + happened
}

// Validate returns an error that says what of a configuration the algorithm refuses, and what would be right.
func (s *Spec) Validate(c Config) error {
	switch {
	case c.N < 1:
		return fmt.Errorf("%d nodes: it takes at least one", c.N)
	case s.checkUnits(c) != nil:
		return s.checkUnits(c)
	case c.Fenced && !s.Fenced:
		return &FenceError{Row: s.Name}
	case c.Elect != "" && !s.Follows:
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
	return s.Lacks()
}

// unknownOption is the error for an option that the row does not have.
func (s *Spec) unknownOption(name string) error {
	e := &OptionError{Word: name, row: s}
	for _, o := range s.Options {
		e.Known = append(e.Known, o.Name)
	}
	return e
}

// Lacks returns an error that names the fields that a row lacks: those without which it makes no machines,
// and others that its caller has found.
func (s *Spec) Lacks(others ...string) error {
	var fields []string
	if s.New == nil {
		fields = append(fields, "New")
	}
	if s.Servers != nil && s.NewServer == nil {
		fields = append(fields, "NewServer")
	}
	for i, kind := range s.Messages {
		if kind.Zero == nil {
			fields = append(fields, fmt.Sprintf("Messages[%d].Zero", i))
		}
	}
	if fields = append(fields, others...); len(fields) == 0 {
		return nil
	}
	return fmt.Errorf("the row %q lacks %s: docs/extending.md says what belongs there", s.Name,
		strings.Join(fields, ", "))
}

// Broadcasts reports whether the algorithm sends any messages to all peers at once, in a configuration.
func (s *Spec) Broadcasts(c Config) bool {
	return slices.ContainsFunc(s.messages(c), func(k MessageKind) bool { return k.Broadcast })
}

// Explicit returns the configuration with a value given for each option of the algorithm that has a default,
// and with the usual number of units of an algorithm that serves several.
func (s *Spec) Explicit(c Config) Config {
	c.Units = s.Units.explicit(c)
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

// ServerCount returns how many nodes without a client the algorithm needs.
func (s *Spec) ServerCount(c Config) int {
	if s.Servers == nil {
		return 0
	}
	return s.Servers(c)
}

// SafeIn returns what safety rests on in a configuration.
func (s *Spec) SafeIn(c Config) Assumption {
	safe, _ := s.besides(c)
	if c.Fenced {
		return s.Effective | safe
	}
	return s.Safe | safe
}

// LiveIn returns what progress rests on in a configuration, beside SafeIn.
func (s *Spec) LiveIn(c Config) Assumption {
	_, live := s.besides(c)
	return s.Live | live
}

func (s *Spec) besides(c Config) (safe, live Assumption) {
	if s.Besides == nil {
		return 0, 0
	}
	return s.Besides(c)
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

// messages returns the kinds that are sent in a configuration.
func (s *Spec) messages(c Config) []MessageKind {
	return slices.DeleteFunc(slices.Clone(s.Messages), func(k MessageKind) bool {
		return k.Only != nil && !k.Only(c)
	})
}

// Codec returns the codec of the algorithm's messages, as it is without options.
func (s *Spec) Codec() *Codec { return s.CodecIn(Config{}) }

// CodecIn returns the codec of the messages of a configuration.
func (s *Spec) CodecIn(c Config) *Codec { return NewCodec(s.messages(c)) }

// Machine returns the machine of node id: a client's or, from c.N upwards, a server's.
func (s *Spec) Machine(c Config, id ID) Machine {
	if int(id) < c.N {
		return s.New(c)
	}
	return s.NewServer(c, id)
}

// A Config is what the machines of an algorithm are made from. It is the same at every node. A machine copies
// what it needs from it.
type Config struct {
	N     int `json:"n" yaml:"n"`                             // clients
	Units int `json:"units,omitempty" yaml:"units,omitempty"` // of the resource; 0: one
	// Fenced says that the resource demands fence numbers: see Spec.Fenced.
	Fenced bool `json:"fenced,omitempty" yaml:"fenced,omitempty"`
	// Elect names the elector beside it, whose leader it follows, as ParseInstance reads it; empty: none.
	Elect   string            `json:"elect,omitempty" yaml:"elect,omitempty"`
	Options map[string]string `json:"options,omitempty" yaml:"options,omitempty"` // those given, by name
}

// Capacity returns how many units the resource has.
func (c Config) Capacity() int { return max(1, c.Units) }

// Value returns the value of an option, given or by default.
func (c Config) Value(o Option) string { return cmp.Or(c.Options[o.Name], o.Default) }

// Duration returns the value of an option that is a length of time; 0 if it is none.
func (c Config) Duration(o Option) time.Duration {
	d, _ := time.ParseDuration(c.Value(o)) // the options are valid
	return d
}

// With returns the configuration with a value given for the option of that name; empty: with none given.
func (c Config) With(name, value string) Config {
	c.Options = maps.Clone(c.Options)
	switch {
	case value == "":
		delete(c.Options, name)
	case c.Options == nil:
		c.Options = map[string]string{name: value}
	default:
		c.Options[name] = value
	}
	return c
}

// Given lists the options that were given, as a name and a value each.
func (c Config) Given() []string {
	var all []string
	for name, value := range c.Options {
		all = append(all, name+" "+value)
	}
	slices.Sort(all)
	return all
}

// An Option is a setting of an algorithm, such as the shape of its tree. Flags and their completion, lists,
// headers and the columns of results follow from the options of the rows.
type Option struct {
	Name    string        // of the flag, in lower case, with dashes between words
	Usage   string        // what it sets, in a few words
	Values  []string      // that it accepts; nil: any that Check accepts
	Default string        // its value if none is given; empty: it has none
	Bound   *TimeoutBound // as a timeout; nil: it is none, or may be of any length

	// Check says what else is wrong with a value; nil: nothing is.
	Check func(c Config, value string) error
}

// String describes the option for people.
func (o *Option) String() string {
	text := o.Usage
	if o.Values != nil {
		text += ": " + strings.Join(o.Values, ", ")
	}
	switch {
	case o.Default != "" && o.Bound != nil && o.Bound.Formula != "":
		text += fmt.Sprintf(" (default %s, and longer than %s)", o.Default, o.Bound.Formula)
	case o.Default != "":
		text += fmt.Sprintf(" (default %s)", o.Default)
	}
	return text
}

// Form returns the option with the values that it accepts.
func (o *Option) Form() string {
	if o.Values == nil {
		return o.Name
	}
	return fmt.Sprintf("%s (%s)", o.Name, strings.Join(o.Values, ", "))
}

// validate says what is wrong with the value that c has for the option, and what would be right.
func (o *Option) validate(c Config) error {
	value := c.Value(*o)
	if o.Values != nil && !slices.Contains(o.Values, value) {
		return &OptionError{Word: value, Known: o.Values, option: o.Name}
	}
	if o.Check == nil {
		return nil
	}
	if err := o.Check(c, value); err != nil {
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	return nil
}

// An OptionError says that a word is no option of a row, or no value of an option.
type OptionError struct {
	Word  string
	Known []string // what it could be
	Near  string   // which of these may have been meant, if somebody found out

	row    *Spec  // the word is no option of this one
	option string // the word is no value of this one
}

func (e *OptionError) Error() string {
	if e.row == nil {
		text := fmt.Sprintf("%s: %q is none of %s", e.option, e.Word, strings.Join(e.Known, ", "))
		if e.Near != "" {
			text += fmt.Sprintf(": did you mean %s?", e.Near)
		}
		return text
	}
	var forms []string
	for _, o := range e.row.Options {
		forms = append(forms, o.Form())
	}
	has := cmp.Or(strings.Join(forms, ", "), "none")
	if e.Near != "" {
		return fmt.Sprintf("%s has no option %s: did you mean %s? It has %s", e.row.Name, e.Word, e.Near, has)
	}
	return fmt.Sprintf("%s has no option %s: it has %s", e.row.Name, e.Word, has)
}

// A TimerName is what a kind of timer is called, in schedules and for people.
type TimerName struct {
	Kind    TimerKind
	Name    string // in a word, such as retry
	PerPeer bool   // it is kept per peer
	Server  bool   // it is one of the machines of servers; otherwise of all that have no other of its kind
}

// TimerName returns what a kind of timer of the machine of node id is called; nil if the row does not say.
func (s *Spec) TimerName(c Config, id ID, kind TimerKind) (name *TimerName) {
	for i := range s.Timers {
		t := &s.Timers[i]
		if t.Kind == kind && (!t.Server || int(id) >= c.N) && (name == nil || t.Server) {
			name = t
		}
	}
	return name
}

// SayTimer returns in words which timer of the machine of node id t is: retry, or silence for 2 if it is kept
// per peer; its numbers if the row gives it no name.
func (s *Spec) SayTimer(c Config, id ID, t Timer) string {
	name := s.TimerName(c, id, t.Kind)
	switch {
	case name == nil:
		return fmt.Sprintf("%d for %d", t.Kind, t.Peer)
	case name.PerPeer:
		return fmt.Sprintf("%s for %d", name.Name, t.Peer)
	}
	return name.Name
}
