package nodes

import (
	"fmt"
	"slices"
	"time"
)

// Delays are the longest delays of a run without faults. Timeouts have to cover them.
type Delays struct {
	Message time.Duration // the longest time that a message takes
	Waits   time.Duration // the part of Message that a message waits for the application of its receiver
	Hold    time.Duration // the longest time that a client is inside
	Alone   bool          // requests are made one at a time
}

// Round returns the longest time that a privilege takes to visit n nodes: a message to each node, and the
// hold of each client, or only one hold if requests are made one at a time.
func (d Delays) Round(n int) time.Duration {
	if d.Alone {
		return time.Duration(n)*d.Message + d.Hold
	}
	return time.Duration(n) * (d.Message + d.Hold)
}

// seenBy returns the delays that matter to the machines of an algorithm. Messages of a failure detector do
// not wait for an application.
func (d Delays) seenBy(s *Spec) Delays {
	if s.Kind == Detection {
		d.Message, d.Waits = d.Message-d.Waits, 0
	}
	return d
}

// A TimeoutBound is the bound of an option that is a timeout, that is, a time of silence after which a node
// acts. It says which delays the timeout has to cover.
type TimeoutBound struct {
	Formula string // formula of Covers; T is the longest message delay, and hold the longest hold
	// Covers returns the time that the timeout must exceed. With a shorter timeout a node considers a slow
	// message lost, or considers a peer dead that is up. Nil: a short timeout does no harm.
	Covers func(c Config, d Delays) time.Duration
	// Suits returns the shortest suitable timeout; nil: 5/4 of the longer of Covers and Answers.
	Suits func(c Config, d Delays) time.Duration
	// Of converts a value of the option to the time that the value covers, and For does the reverse; nil: the
	// value is that time.
	Of  func(value string) time.Duration
	For func(covers time.Duration) string
	// Answers returns how long an answer may take without faults; Answer is its formula. A node with a shorter
	// timeout asks again in vain, which costs messages but breaks nothing. Nil: the node does not ask again.
	Answers func(c Config, d Delays) time.Duration
	Answer  string
}

// A ShortTimeout is a timeout that does not cover the delays of a run.
type ShortTimeout struct {
	Instance
	Option *Option
	Covers string // the time that the timeout must exceed, in words
	Enough string // a value that suffices; empty: the other options allow no such value
}

// covers returns the time that a timeout must exceed; 0: any timeout will do.
func (b *TimeoutBound) covers(c Config, d Delays) time.Duration {
	if b == nil || b.Covers == nil {
		return 0
	}
	return b.Covers(c, d)
}

// answers returns how long an answer may take; 0: the node does not ask again.
func (b *TimeoutBound) answers(c Config, d Delays) time.Duration {
	if b == nil || b.Answers == nil {
		return 0
	}
	return b.Answers(c, d)
}

// suits returns a value of the option that suits the delays of a run, and the time that this value covers.
func (b *TimeoutBound) suits(c Config, d Delays) (value string, covers time.Duration) {
	covers = max(b.covers(c, d), b.answers(c, d)) / 4 * 5
	if b.Suits != nil {
		covers = b.Suits(c, d)
	}
	covers = twoDigits(covers)
	if b.For != nil {
		return b.For(covers), covers
	}
	return covers.String(), covers
}

// coveredBy returns the time that a value of the option covers.
func (b *TimeoutBound) coveredBy(value string) time.Duration {
	if b.Of != nil {
		return b.Of(value)
	}
	d, _ := time.ParseDuration(value) // validated options have no errors
	return d
}

// twoDigits rounds a duration up to two significant digits.
func twoDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return (d + unit - 1) / unit * unit
}

// Fitted fills in defaults. If the default of a timeout is too short for the delays of a run, it fills in a
// longer one that suits the delays, unless the algorithm refuses it together with the given values.
func (s *Spec) Fitted(c Config, d Delays) Config {
	var own []string
	for i := range s.Options {
		if _, given := c.Options[s.Options[i].Name]; !given {
			own = append(own, s.Options[i].Name)
		}
	}
	return s.lengthened(s.Explicit(c), d, own)
}

// Lengthened returns the instance with longer timeouts where they are too short for the delays of a run, even
// if their values were given.
func (in Instance) Lengthened(d Delays) Instance {
	var all []string
	for i := range in.Spec.Options {
		all = append(all, in.Spec.Options[i].Name)
	}
	return Instance{in.Spec, in.Spec.lengthened(in.Config, d, all)}
}

// lengthened lengthens the timeouts in the list some, if they are too short for the delays of a run.
func (s *Spec) lengthened(c Config, d Delays, some []string) Config {
	if !s.takes(c) {
		return c
	}
	longer, d := c, d.seenBy(s)
	for i := range s.Options {
		o := &s.Options[i]
		if o.Bound == nil || !slices.Contains(some, o.Name) {
			continue
		}
		if value, covers := o.Bound.suits(longer, d); covers > o.Bound.coveredBy(longer.Value(*o)) {
			longer = longer.With(o.Name, value)
		}
	}
	if !s.takes(longer) {
		return c
	}
	return longer
}

// takes reports whether the algorithm accepts the values of all options.
func (s *Spec) takes(c Config) bool {
	return !slices.ContainsFunc(s.Options, func(o Option) bool { return o.validate(c) != nil })
}

// Short returns the timeouts of an instance that do not cover the delays of a run.
func (in Instance) Short(d Delays) (all []ShortTimeout) {
	d = d.seenBy(in.Spec)
	for i := range in.Spec.Options {
		o := &in.Spec.Options[i]
		if covers := o.Bound.covers(in.Config, d); covers > 0 && o.Bound.coveredBy(in.Config.Value(*o)) <= covers {
			says := o.Bound.Formula
			if o.Bound.Of == nil {
				says += fmt.Sprintf(", here %v", covers)
			}
			all = append(all, in.short(o, says, d))
		}
	}
	return all
}

// AsksAgain returns the timeouts of an instance after which a node asks again while its answer may still be
// on its way, which costs messages. It leaves out timeouts that Short returns.
func (in Instance) AsksAgain(d Delays) (all []ShortTimeout) {
	d = d.seenBy(in.Spec)
	for i := range in.Spec.Options {
		o := &in.Spec.Options[i]
		answers, is := o.Bound.answers(in.Config, d), time.Duration(0)
		if answers > 0 {
			is = o.Bound.coveredBy(in.Config.Value(*o))
		}
		if is < answers && is > o.Bound.covers(in.Config, d) {
			all = append(all, in.short(o, fmt.Sprintf("%s, here %v", o.Bound.Answer, answers), d))
		}
	}
	return all
}

// short returns a ShortTimeout with a value that suits the delays of a run.
func (in Instance) short(o *Option, covers string, d Delays) ShortTimeout {
	enough, _ := o.Bound.suits(in.Config, d)
	if !in.Spec.takes(in.Config.With(o.Name, enough)) {
		enough = ""
	}
	return ShortTimeout{in, o, covers, enough}
}
