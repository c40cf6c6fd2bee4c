package service

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/suggest"
	"turnstile/nodes/foreign/program"
)

// A Service is a service that grants locks or elects leaders.
type Service struct {
	Name    string
	Summary string // one sentence: the recipe and the client library
	Promise string // quoted from the documentation of the service
	Link    string // source of Promise
	Options []Option
	Servers *Servers // nil: there are no servers, only nodes
	// Declare returns what clients of the service promise, as in the message declare of docs/foreign.md.
	Declare func(Values) Declaration
	// Open opens the client of one node of a lock service.
	Open Opener[program.Lock]
	// Obeys reports whether a client of Open leaves as soon as it is told that its lock is lost; nil: always.
	Obeys func(Values) bool
	// Client is the foreign program of one node. It returns when the input ends. nil: it serves what Open opens.
	Client func(v Values, d Declaration, in io.Reader, out io.Writer) error
	// Delete deletes the keys of a client's lock, and Expire ends the client's session, as an operator does by
	// hand. They return false if the client has none now. nil: the service has no such keys or sessions.
	Delete, Expire Taker
	// Queues says that a client that waits has a key too, which Delete deletes.
	Queues bool
	// Library names the client library with its version, as in "go-redis v9.23.0".
	Library func(Values) string
	// Needs returns an error if clients need something that is missing, and says what to install; nil: they need
	// nothing.
	Needs func(Values) error
	// Granted returns the time, as granted by servers, after which the lock of a silent holder is free, or a
	// leader can be replaced. It may be longer than the options ask for. If Granted is nil or returns 0, no such
	// time is granted.
	Granted func(Values) time.Duration
	// Holds returns for how long a client may stay inside at most, by the documentation; nil or 0: for any time.
	Holds func(Values) time.Duration
	// Check returns an error if options contradict each other; nil: they never do.
	Check func(Values) error
	// Settings are settings of clients that differ from the documented defaults.
	Settings []Setting
}

// Module returns a module of this program with its version, as in "example.org/client v1.2.3", or only its
// path if the version is unknown.
func Module(path string) string {
	if info, _ := debug.ReadBuildInfo(); info != nil {
		for _, d := range info.Deps {
			if d.Path == path {
				return path + " " + d.Version
			}
		}
	}
	return path
}

// A Setting is a setting of servers or clients that differs from its documented default.
type Setting struct {
	Name    string // name and value of the setting
	Default string // documented default; empty: the documentation has no default
	Why     string
}

// Strangers is why servers demand a secret.
const Strangers = "all users of the machine reach the servers of a run"

// SettingLines describes the non-default settings of servers and clients.
func (s *Service) SettingLines() (lines []string) {
	add := func(whose string, settings []Setting) {
		for _, x := range settings {
			instead := ", which the documentation leaves open"
			if x.Default != "" {
				instead = ", by default " + x.Default
			}
			lines = append(lines, fmt.Sprintf("%s: %s%s: %s", whose, x.Name, instead, x.Why))
		}
	}
	if s.Servers != nil {
		add("server", s.Servers.Settings)
	}
	add("client", s.Settings)
	return lines
}

// An Opener opens the client of one node.
type Opener[L program.Lock] func(context.Context, program.Init, Values) (L, error)

// Opens converts an Opener of some type of lock to an Opener of [program.Lock].
func Opens[L program.Lock](open Opener[L]) Opener[program.Lock] {
	return func(ctx context.Context, s program.Init, v Values) (program.Lock, error) {
		return open(ctx, s, v)
	}
}

// A Taker takes away what a client has at servers.
type Taker func(ctx context.Context, all []*Member, from Client) (had bool, err error)

// A Client is a client of servers, as they know it.
type Client struct {
	Name   string `json:"name"`   // of its node, such as n2
	Prefix string `json:"prefix"` // what all names that it uses begin with
	Inside bool   `json:"inside"` // whether it is known to be inside
}

// client is the foreign program of one node.
func (s *Service) client(v Values, in io.Reader, out io.Writer) error {
	if s.Client != nil {
		return s.Client(v, s.declare(v), in, out)
	}
	obeys := s.Obeys == nil || s.Obeys(v)
	return program.ServeLock(in, out, s.declare(v), obeys,
		func(ctx context.Context, set program.Init) (program.Lock, error) { return s.Open(ctx, set, v) })
}

// declare returns what clients promise. A client of Open leaves in order by Release and Close.
func (s *Service) declare(v Values) Declaration {
	d := s.Declare(v)
	d.Leaves = d.Leaves || s.Open != nil
	return d
}

// A Declaration is what clients promise, with the keys of the message declare in docs/foreign.md.
type Declaration struct {
	Safe      []string        `json:"safe"` // assumptions of their safety
	Live      []string        `json:"live"`
	Fenced    bool            `json:"fenced,omitempty"`
	Cancels   bool            `json:"cancels,omitempty"`
	Leaves    bool            `json:"leaves,omitempty"`
	Elects    bool            `json:"elects,omitempty"`
	Terms     bool            `json:"terms,omitempty"`
	GraceMS   float64         `json:"grace_ms,omitempty"`
	OverlapMS float64         `json:"overlap_ms,omitempty"`
	Kinds     map[string]Kind `json:"kinds,omitempty"`
}

// A Kind says what messages of one kind between nodes carry.
type Kind struct {
	Token     bool `json:"token,omitempty"`
	Permit    bool `json:"permit,omitempty"`
	Heartbeat bool `json:"heartbeat,omitempty"`
}

// An Option is an option of a service, for its clients or its servers.
type Option struct {
	Name    string
	Default string
	Usage   string
	Values  []string // allowed values; nil: see Check
	Drawn   []string // values that a hunt draws from; nil: Values, and without these the hunt keeps the default
	// Check returns an error for a wrong value; nil: any value is right.
	Check func(value string) error
	// Common reports whether the option also makes sense beside clients of the user's own: it is for servers, or
	// it is the time to live. All other options are for the service's own client.
	Common bool
}

// Members is the name of the option for the number of servers.
const Members = "members"

// Values are the options of a service, with defaults for those not given.
type Values map[string]string

// Parse parses words such as ttl=2s. Each option may be given once.
func (s *Service) Parse(words []string) (Values, error) {
	v, given := Values{}, map[string]bool{}
	var names []string
	for _, o := range s.options() {
		v[o.Name] = o.Default
		names = append(names, o.Name)
	}
	for _, word := range words {
		name, value, is := strings.Cut(word, "=")
		switch {
		case !slices.Contains(names, name) && name == FailedName && s.Delete != nil && s.Expire == nil:
			return nil, fmt.Errorf("%s has no option %q, since its clients have no session that could end: what a "+
				"failed call leaves behind stays for its time to live, as with %[2]s=kept elsewhere", s.Name, name)
		case !slices.Contains(names, name):
			return nil, fmt.Errorf("%s has no option %q: %s", s.Name, name, instead(name, names))
		case !is:
			return nil, fmt.Errorf("option %s of %s: write a value, as in %s=%s", name, s.Name, name, v[name])
		case given[name]:
			return nil, fmt.Errorf("option %s of %s is given twice: leave out one of the two", name, s.Name)
		}
		v[name], given[name] = value, true
	}
	for _, o := range s.options() {
		if err := o.check(v[o.Name]); err != nil {
			return nil, fmt.Errorf("option %s of %s: %w", o.Name, s.Name, err)
		}
	}
	if s.Check != nil {
		if err := s.Check(v); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return v, nil
}

// instead suggests another name for a wrong one.
func instead(name string, names []string) string {
	if near := suggest.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	if len(names) == 0 {
		return "it has none"
	}
	return "there are " + strings.Join(names, ", ")
}

// An Entry is a service as list NAME --json prints it.
type Entry struct {
	Name    string   `json:"name"`
	Summary string   `json:"summary"`
	Promise string   `json:"promise"` // quotation of what the documentation promises
	Source  string   `json:"source"`
	Options []string `json:"options"` // name, default and purpose of each option for --with
	// Common names the options that there are also beside clients of the user's own, which --client names.
	// Empty: the service has no servers, and so no other clients.
	Common []string `json:"common"`
	// Settings are the settings of servers and clients that differ from their documented defaults, and why.
	Settings []string `json:"settings"`
	Draws    []Draw   `json:"draws"` // values that a hunt draws
}

// A Draw is an option with the values that a hunt draws from.
type Draw struct {
	Name    string   `json:"name"`
	Default string   `json:"default"`
	Values  []string `json:"values"`
	Fixed   bool     `json:"fixed"`  // the option takes no other values
	Common  bool     `json:"common"` // see Option.Common
}

// draws returns the values that a hunt draws.
func (s *Service) draws() []Draw {
	all := []Draw{}
	for _, o := range s.options() {
		values := o.Values
		if o.Drawn != nil {
			values = o.Drawn
		}
		if values != nil {
			all = append(all, Draw{o.Name, o.Default, values, o.Values != nil, o.Common})
		}
	}
	return all
}

// Entry returns the entry of a service.
func (s *Service) Entry() *Entry {
	return &Entry{s.Name, s.Summary, s.Promise, s.Link, append([]string{}, s.Usage()...),
		append([]string{}, s.common()...), append([]string{}, s.SettingLines()...), s.draws()}
}

// Usage describes each option with its default, as in "ttl=2s: of the bucket" or "members=1|3 (default 1):
// how many servers".
func (s *Service) Usage() (lines []string) {
	for _, o := range s.options() {
		switch values := strings.Join(o.Values, "|"); {
		case o.Values == nil:
			lines = append(lines, fmt.Sprintf("%s=%s: %s", o.Name, o.Default, o.Usage))
		case slices.Equal(o.Values, onOff):
			lines = append(lines, fmt.Sprintf("%s=%s (default %s): on: %s", o.Name, values, o.Default, o.Usage))
		default:
			lines = append(lines, fmt.Sprintf("%s=%s (default %s): %s", o.Name, values, o.Default, o.Usage))
		}
	}
	return lines
}

// options returns all options, options of the servers first.
func (s *Service) options() []Option {
	if s.Servers == nil || s.Servers.Members == nil {
		return s.Options
	}
	var counts []string
	for _, n := range s.Servers.Members {
		counts = append(counts, strconv.Itoa(n))
	}
	members := Option{Name: Members, Default: counts[0], Usage: "how many servers", Values: counts, Common: true}
	return slices.Concat([]Option{members}, s.Options)
}

// common returns the names of the options that there are also beside clients of the user's own.
func (s *Service) common() (names []string) {
	if s.Servers == nil {
		return nil
	}
	for _, o := range s.options() {
		if o.Common {
			names = append(names, o.Name)
		}
	}
	return names
}

// checkCommon returns an error if clients of the user's own cannot use the servers of the service, or if
// words have options that are for the service's own client.
func (s *Service) checkCommon(words []string) error {
	names := s.common()
	if s.Servers == nil {
		return fmt.Errorf("%s has no servers that a client of your own could use: bench --foreign runs a program "+
			"without them", s.Name)
	}
	for _, word := range words {
		if name, _, _ := strings.Cut(word, "="); !slices.Contains(names, name) {
			return fmt.Errorf("option %s is for the own client of %s, and --client takes its place: there remain %s; "+
				"give CMD its options as arguments", name, s.Name, strings.Join(names, ", "))
		}
	}
	return nil
}

func (o *Option) check(value string) error {
	if o.Values != nil && !slices.Contains(o.Values, value) {
		return fmt.Errorf("%q is not one of its values, which are %s", value, strings.Join(o.Values, ", "))
	}
	if o.Check != nil {
		return o.Check(value)
	}
	return nil
}

// Words returns the values in the syntax of Parse, sorted.
func (v Values) Words() (all []string) {
	for name, value := range v {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}

// Int returns the value of a numeric option.
func (v Values) Int(name string) int {
	n, err := strconv.Atoi(v[name])
	if err != nil {
		panic(fmt.Sprintf("option %s is %q", name, v[name]))
	}
	return n
}

// Duration returns the value of an option that is a duration.
func (v Values) Duration(name string) time.Duration {
	d, err := time.ParseDuration(v[name])
	if err != nil {
		panic(fmt.Sprintf("option %s is %q", name, v[name]))
	}
	return d
}

// On reports whether the option is on.
func (v Values) On(name string) bool { return v[name] == "on" }

var onOff = []string{"on", "off"}

// ObeyOption is the name of the switch of services whose clients may ignore that their lock is lost.
const ObeyOption = "obey"

// Switch returns an option with the values on and off.
func Switch(name, fallback, usage string) Option {
	return Option{Name: name, Default: fallback, Usage: usage, Values: onOff}
}

// InCommon returns the option as one that there is also beside clients of the user's own.
func (o Option) InCommon() Option {
	o.Common = true
	return o
}

// FailedName is the name of the option of [Failed].
const FailedName = "failed"

// Failed returns an option with the values ends and kept: if a call of the library fails, the client ends its
// session, or keeps it. The usage says what each value does.
func Failed(usage string) Option {
	return Option{Name: FailedName, Default: "ends", Usage: usage, Values: []string{"ends", "kept"}}
}

// Keeps reports whether the session goes on after a call that failed, by the option of [Failed].
func (v Values) Keeps() bool { return v[FailedName] == "kept" }

// Length returns a check that a duration is between least and most.
func Length(least, most time.Duration) func(string) error {
	return func(value string) error {
		switch d, err := time.ParseDuration(value); {
		case err != nil:
			return fmt.Errorf("%q is not a duration: write one, as in 2s", value)
		case d < least || d > most:
			return fmt.Errorf("%v is not between %v and %v", d, least, most)
		}
		return nil
	}
}

// WholeSeconds checks that a duration is a whole number of seconds, from one second to an hour.
func WholeSeconds(value string) error {
	if err := Length(time.Second, time.Hour)(value); err != nil {
		return err
	}
	if d, _ := time.ParseDuration(value); d%time.Second != 0 {
		return fmt.Errorf("%v is not a whole number of seconds, which the service needs: write %v or %v", d,
			d.Truncate(time.Second), d.Truncate(time.Second)+time.Second)
	}
	return nil
}

// Count returns a check that a number is between least and most.
func Count(least, most int) func(string) error {
	return func(value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < least || n > most {
			return fmt.Errorf("%q is not a number from %d to %d", value, least, most)
		}
		return nil
	}
}
