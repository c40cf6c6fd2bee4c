package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Spec makes the machines of an algorithm. It holds all that the core, hosts, codec and faults need to know
// about the algorithm; algorithm.Algorithm adds what is published of it.
type Spec struct {
	Name      string // as in --algo
	Kind      Kind
	New       func(c Config) Machine
	Servers   func(c Config) int            // how many nodes have no client; nil: none
	NewServer func(c Config, id ID) Machine // makes the machine of server id, from n upwards
	// Coordinator returns the node that all other nodes ask; nil: the algorithm has no coordinator.
	Coordinator func(c Config) ID
	// Ports makes the network anonymous: machines send to ports, receive from ports, and do not know their own
	// ID. It returns the node at each port of node id; nil: machines know IDs.
	Ports func(c Config, id ID) []ID
	// Edges returns the nodes that client id sends to, servers included, as long as it takes nobody for dead and
	// nothing for lost; answers come back along the same edges. Nil: a client may send to every other. Pictures
	// are drawn along edges; nothing else depends on them.
	Edges    func(c Config, id ID) []ID
	Messages []MessageKind // every message that its machines send or save
	Timers   []TimerName   // every kind of timer that its machines set
	Options  []Option      // its settings, apart from the number of nodes
	Safe     Assumption    // needed for safety
	// Besides returns the further assumptions that safety and progress need with the options of a configuration;
	// nil: no further ones.
	Besides func(c Config) (safe, live Assumption)
	// Effective replaces Safe where the resource demands fence numbers. Under these assumptions the algorithm
	// promises that the resource accepts no stale write, rather than that no two clients are inside.
	Effective  Assumption
	Live       Assumption                   // needed for progress, in addition to Safe
	Grace      func(c Config) time.Duration // see GraceOf; nil: 0
	Circulates bool                         // it sends messages even if nobody requests (a circulating token)
	// Fenced says that the algorithm grants by GrantFenced. A resource that demands fence numbers
	// (Config.Fenced) can then refuse a write under a lower number than the highest that has entered.
	Fenced bool
	// Informs says that its machines report what clients learn about the lock: Env.TellLost, Env.Revoke and
	// Env.Refuse. Without it, what clients learn is unknown.
	Informs bool
	// Cancels says that its machines are Cancellers: a client may give up while it waits.
	Cancels bool
	// Leaves says that its machines are Leavers: a node may stop in order.
	Leaves bool
	// Units says how many units of the resource the algorithm serves, and how many of them one request may take.
	Units Units
	// Follows says that the algorithm may follow the leader of an elector that runs beside it (Config.Elect).
	Follows bool
	// Detects names the failure detector that runs beside the algorithm by default, as detector.Parse reads it;
	// empty: the algorithm listens to no detector.
	Detects string
	// Told is for a detector that sends no messages: it returns how long after a crash or a restart the
	// simulator tells the detector. Nil: the detector finds out by messages.
	Told func(c Config) time.Duration
}

// A Kind is the problem that the machines of a Spec solve.
type Kind uint8

// The kinds.
const (
	MutualExclusion Kind = iota // the machines are Mutexes
	Election                    // the machines are Electors
	// Detection: the machines suspect peers. Their messages and timers do not count as progress. Servers
	// run such machines too, made by New rather than NewServer.
	Detection
)

// OfKind returns the entry of a table for a kind or, if there is no such entry, the entry for mutual
// exclusion. So a new kind needs entries only where it differs.
func OfKind[T any](table map[Kind]T, kind Kind) T {
	if of, has := table[kind]; has {
		return of
	}
	return table[MutualExclusion]
}

// A MessageKind is one kind of message.
type MessageKind struct {
	Name      string  // empty: derived from its type, see KindName
	Zero      Message // a zero value of its type
	Token     bool    // carries the privilege (the right to enter) itself
	Permit    bool    // permits its receiver to enter, alone or together with others of its kind
	Heartbeat bool    // only says that its sender is up
	Broadcast bool    // goes to all peers at once
	Net       uint8   // the network that carries it: 0 or, for the second network, 1

	// Only reports whether a configuration sends the kind; nil: all configurations do. In other configurations
	// the kind has no number, and is missing from tables of kinds.
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
	ServersUp                               // all servers of the algorithm, or of a service, are up
	ServerMajority                          // more than half of the servers of a service are up and connected
)

// Transient are the assumptions that hold again some time after the fault is over. All other assumptions stay
// broken for good: an algorithm that needs them cannot get back a lost message, or undo one that came twice
// or too early. NoCrash stays broken even if the node restarts: messages sent to the node meanwhile are lost,
// and so is a token that it held. An algorithm that recovers from such losses does not list NoCrash.
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

// brokenWords has, for each assumption in the order of assumptionNames: what is assumed, what happened when
// it was broken and, for assumptions about messages, what may have happened.
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

// Broken describes that a run broke these assumptions, as the reason of a verdict: "the algorithm assumes
// that no message is lost, and one was". If known is not set, since perhaps no message was hit, the text ends
// in "and one may have been". Broken panics if n is empty.
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

// MostNodes is the maximum number of nodes of a run.
const MostNodes = 1 << 20

// Validate returns an error if the algorithm refuses a configuration. The error says why, and what would be
// right.
func (s *Spec) Validate(c Config) error {
	switch {
	case c.N < 1:
		return fmt.Errorf("%d nodes: it takes at least one", c.N)
	case c.N > MostNodes:
		return fmt.Errorf("%d nodes: a run takes at most %d", c.N, MostNodes)
	case s.checkUnits(c) != nil:
		return s.checkUnits(c)
	case c.Fenced && !s.Fenced:
		return &FenceError{Algorithm: s.Name}
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

// unknownOption is the error for an option that the algorithm does not have.
func (s *Spec) unknownOption(name string) error {
	e := &OptionError{Word: name, of: s}
	for _, o := range s.Options {
		e.Known = append(e.Known, o.Name)
	}
	return e
}

// Lacks returns an error that names the missing fields of an algorithm: fields without which it cannot make
// machines, and other fields that the caller found missing.
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
	return fmt.Errorf("the algorithm %q lacks %s: docs/extending.md says what belongs there", s.Name,
		strings.Join(fields, ", "))
}

// Broadcasts reports whether a configuration has messages that go to all peers at once.
func (s *Spec) Broadcasts(c Config) bool {
	return slices.ContainsFunc(s.messages(c), func(k MessageKind) bool { return k.Broadcast })
}

// Explicit fills in defaults: the default value of each option that has one, and the usual number of units.
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

// SafeIn returns the assumptions that safety needs in a configuration.
func (s *Spec) SafeIn(c Config) Assumption {
	safe, _ := s.besides(c)
	if c.Fenced {
		return s.Effective | safe
	}
	return s.Safe | safe
}

// LiveIn returns the assumptions that progress needs in a configuration, in addition to SafeIn.
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

// GraceOf returns how long the algorithm takes to recover, as a formula of its timeouts: within this time
// after pauses, delays and wrong suspicions are over, every client that waits and stays up enters. If the
// algorithm breaks a promise before this time has passed, that is outside its model.
func (s *Spec) GraceOf(c Config) time.Duration {
	if s.Grace == nil {
		return 0
	}
	return s.Grace(c)
}

// messages returns the message kinds of a configuration.
func (s *Spec) messages(c Config) []MessageKind {
	return slices.DeleteFunc(slices.Clone(s.Messages), func(k MessageKind) bool {
		return k.Only != nil && !k.Only(c)
	})
}

// Codec returns the codec of the messages of a configuration without options.
func (s *Spec) Codec() *Codec { return s.CodecIn(Config{}) }

// CodecIn returns the codec of the messages of a configuration.
func (s *Spec) CodecIn(c Config) *Codec { return NewCodec(s.messages(c)) }

// Machine returns the machine of node id: the machine of a client or, from c.N upwards, of a server.
func (s *Spec) Machine(c Config, id ID) Machine {
	if int(id) < c.N {
		return s.New(c)
	}
	return s.NewServer(c, id)
}

// A Config has the settings of the machines of an algorithm. It is the same at every node. A machine copies
// the values that it needs.
type Config struct {
	N     int `json:"n" yaml:"n"`                             // number of clients
	Units int `json:"units,omitempty" yaml:"units,omitempty"` // number of units of the resource; 0: one
	// Fenced says that the resource demands fence numbers: see Spec.Fenced.
	Fenced bool `json:"fenced,omitempty" yaml:"fenced,omitempty"`
	// Elect names the elector whose leader the algorithm follows, as ParseInstance reads it; empty: the
	// algorithm follows no leader.
	Elect   string            `json:"elect,omitempty" yaml:"elect,omitempty"`
	Options map[string]string `json:"options,omitempty" yaml:"options,omitempty"` // the given values, by option

	// Regions and Hosts have the region and the host of each node, servers included, as numbers from 0; nil: all
	// nodes are in one region, or on one host. A machine that keeps such a slice keeps a copy of it.
	Regions []int `json:"regions,omitempty" yaml:"-"`
	Hosts   []int `json:"hosts,omitempty" yaml:"-"`
}

// Others returns all clients but one.
func (c Config) Others(id ID) (others []ID) {
	for other := range ID(c.N) {
		if other != id {
			others = append(others, other)
		}
	}
	return others
}

// Region returns the region of a node; 0 if all nodes are in one.
func (c Config) Region(id ID) int { return at(c.Regions, id) }

// Host returns the host of a node; 0 if all nodes are on one.
func (c Config) Host(id ID) int { return at(c.Hosts, id) }

// at returns the region or host of a node; 0 if places is nil.
func at(places []int, id ID) int {
	if id < 0 || int(id) >= len(places) {
		return 0
	}
	return places[id]
}

// Capacity returns how many units the resource has.
func (c Config) Capacity() int { return max(1, c.Units) }

// Value returns the value of an option, given or by default.
func (c Config) Value(o Option) string { return cmp.Or(c.Options[o.Name], o.Default) }

// Duration returns the value of an option as a length of time; 0 if it does not parse.
func (c Config) Duration(o Option) time.Duration {
	d, _ := time.ParseDuration(c.Value(o)) // validated options have no errors
	return d
}

// With returns a copy of the configuration with a value for an option; an empty value removes the option.
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

// Given lists the given options, each as "name value".
func (c Config) Given() []string {
	var all []string
	for name, value := range c.Options {
		all = append(all, name+" "+value)
	}
	slices.Sort(all)
	return all
}

// An Option is a setting of an algorithm, such as the shape of its tree. The flags and their completion,
// lists, headers and the columns of results are all made from the options of the algorithms.
type Option struct {
	Name    string        // name of the flag, in lower case, with dashes between words
	Usage   string        // what it sets, in a few words
	Values  []string      // the accepted values; nil: any value that Check accepts
	Default string        // empty: no default
	Bound   *TimeoutBound // for a timeout; nil: the option is no timeout, or any length will do

	// Check returns what is wrong with a value, apart from Values; nil: any value will do.
	Check func(c Config, value string) error

	Shows []Shown // what tells each of Values apart, or for other options two values
}

// String describes the option for people.
func (o *Option) String() string {
	text := o.Usage
	if o.Values != nil {
		text += ": " + strings.Join(o.Values, ", ")
	}
	switch {
	case o.Default != "" && o.Bound != nil && o.Bound.Formula != "":
		text += fmt.Sprintf(" (default %s; it should be longer than %s; T is the longest delay of a message)",
			o.Default, o.Bound.Formula)
	case o.Default != "":
		text += fmt.Sprintf(" (default %s)", o.Default)
	}
	return text
}

// Form returns the name of the option and the values that it accepts.
func (o *Option) Form() string {
	if o.Values == nil {
		return o.Name
	}
	return fmt.Sprintf("%s (%s)", o.Name, strings.Join(o.Values, ", "))
}

// validate returns what is wrong with the value of the option in c, and what would be right.
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

// An OptionError says that a word is not an option of an algorithm, or not a value of an option.
type OptionError struct {
	Word  string
	Known []string // the words that would be accepted
	Near  string   // the known word most like Word; empty: not looked up, or no known word is like it

	of     *Spec  // the algorithm that lacks the option; nil: the error is about a value
	option string // the option whose value is wrong
}

func (e *OptionError) Error() string {
	if e.of == nil {
		text := fmt.Sprintf("%s: %q is not one of %s", e.option, e.Word, strings.Join(e.Known, ", "))
		if e.Near != "" {
			text += fmt.Sprintf(": did you mean %s?", e.Near)
		}
		return text
	}
	var forms []string
	for _, o := range e.of.Options {
		forms = append(forms, o.Form())
	}
	has := cmp.Or(strings.Join(forms, ", "), "none")
	if e.Near != "" {
		return fmt.Sprintf("%s has no option %s: did you mean %s? It has %s", e.of.Name, e.Word, e.Near, has)
	}
	return fmt.Sprintf("%s has no option %s: it has %s", e.of.Name, e.Word, has)
}

// A TimerName is the name of a kind of timer, in schedules and for people.
type TimerName struct {
	Kind    TimerKind
	Name    string // one word, such as retry
	PerPeer bool   // there is one such timer for each peer
	Server  bool   // for servers only; other names are for clients, and for servers without a name of their own
}

// TimerName returns the name of a kind of timer of the machine of node id; nil if this kind has no name.
func (s *Spec) TimerName(c Config, id ID, kind TimerKind) (name *TimerName) {
	for i := range s.Timers {
		t := &s.Timers[i]
		if t.Kind == kind && (!t.Server || int(id) >= c.N) && (name == nil || t.Server) {
			name = t
		}
	}
	return name
}

// SayTimer names the timer t of the machine of node id: "retry", or "silence for 2" if the timer is kept per
// peer. A timer without a name is described by the numbers of its kind and its peer.
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
