package nodes

import (
	"fmt"
	"slices"
	"time"
)

// Delays are what takes time in a run though nothing goes wrong. Timeouts have to cover them.
type Delays struct {
	Message time.Duration // the longest that a message takes
	Waits   time.Duration // how much of that it may wait for the application of its node
	Hold    time.Duration // the longest that a client is inside
	Alone   bool          // requests are made one at a time
}

// Round returns how long a privilege takes at most to come round n nodes: a message to each, and as many
// clients inside as may ask in that time.
func (d Delays) Round(n int) time.Duration {
	if d.Alone {
		return time.Duration(n)*d.Message + d.Hold
	}
	return time.Duration(n) * (d.Message + d.Hold)
}

// of returns the delays that a row sees: what failure detectors send waits for no application.
func (d Delays) of(s *Spec) Delays {
	if s.Kind == Detection {
		d.Message, d.Waits = d.Message-d.Waits, 0
	}
	return d
}

// A TimeoutBound says which delays a timeout has to cover, which is an option: a time after which a node acts
// on silence.
type TimeoutBound struct {
	Formula string // of Covers; T is what a message takes at most, and hold what a client does
	// Covers is what it has to be longer than. With a shorter one, what is slow is taken for lost, or who is up
	// for dead. Nil: nothing fails if it is shorter.
	Covers func(c Config, d Delays) time.Duration
	// Suits is how long it is at least where no value is given; nil: 5/4 of what it covers.
	Suits func(c Config, d Delays) time.Duration
	// Of is how much a value covers, and For the value that covers so much, if that is not its length.
	Of  func(value string) time.Duration
	For func(covers time.Duration) string
	// Answers is how long what a node waits for may take though nothing goes wrong, which Answer says. With a
	// shorter time it asks again for nothing, which costs messages and breaks nothing. Nil: it does not ask.
	Answers func(c Config, d Delays) time.Duration
	Answer  string
}

// A ShortTimeout is a timeout that does not cover the delays of a run.
type ShortTimeout struct {
	Instance
	Option *Option
	Covers string // what it has to be longer than, in words
	Enough string // a value that covers that; empty: none that goes with the other options does
}

// covers returns what a timeout has to be longer than; 0: nothing.
func (b *TimeoutBound) covers(c Config, d Delays) time.Duration {
	if b == nil || b.Covers == nil {
		return 0
	}
	return b.Covers(c, d)
}

// answers returns after how long a node that waits may be answered; 0: it does not ask again.
func (b *TimeoutBound) answers(c Config, d Delays) time.Duration {
	if b == nil || b.Answers == nil {
		return 0
	}
	return b.Answers(c, d)
}

// suits returns a value that suits the delays of a run, and how much it covers.
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

// of returns how much a value covers.
func (b *TimeoutBound) of(value string) time.Duration {
	if b.Of != nil {
		return b.Of(value)
	}
	d, _ := time.ParseDuration(value) // the options are valid
	return d
}

// twoDigits rounds a duration up to two digits.
func twoDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return (d + unit - 1) / unit * unit
}

// Fitted returns the configuration with a value given for each option that has a default: of a timeout that
// none was given for, one that suits the delays of a run if the default is too short, and if the algorithm
// takes that beside the values that were given.
func (s *Spec) Fitted(c Config, d Delays) Config {
	var own []string
	for i := range s.Options {
		if _, given := c.Options[s.Options[i].Name]; !given {
			own = append(own, s.Options[i].Name)
		}
	}
	return s.lengthened(s.Explicit(c), d, own)
}

// Lengthened returns the instance with all timeouts made longer that do not suit the delays of a run, those
// that were given too.
func (in Instance) Lengthened(d Delays) Instance {
	var all []string
	for i := range in.Spec.Options {
		all = append(all, in.Spec.Options[i].Name)
	}
	return Instance{in.Spec, in.Spec.lengthened(in.Config, d, all)}
}

// lengthened makes those of some timeouts longer that do not suit the delays of a run.
func (s *Spec) lengthened(c Config, d Delays, some []string) Config {
	if !s.takes(c) {
		return c
	}
	longer, d := c, d.of(s)
	for i := range s.Options {
		o := &s.Options[i]
		if o.Bound == nil || !slices.Contains(some, o.Name) {
			continue
		}
		if value, covers := o.Bound.suits(longer, d); covers > o.Bound.of(longer.Value(*o)) {
			longer = longer.With(o.Name, value)
		}
	}
	if !s.takes(longer) {
		return c
	}
	return longer
}

// takes reports whether all options have values that the algorithm takes.
func (s *Spec) takes(c Config) bool {
	return !slices.ContainsFunc(s.Options, func(o Option) bool { return o.validate(c) != nil })
}

// Short returns the timeouts of an instance that do not cover the delays of a run.
func (in Instance) Short(d Delays) (all []ShortTimeout) {
	d = d.of(in.Spec)
	for i := range in.Spec.Options {
		o := &in.Spec.Options[i]
		if covers := o.Bound.covers(in.Config, d); covers > 0 && o.Bound.of(in.Config.Value(*o)) <= covers {
			says := o.Bound.Formula
			if o.Bound.Of == nil {
				says += fmt.Sprintf(", here %v", covers)
			}
			all = append(all, in.short(o, says, d))
		}
	}
	return all
}

// AsksAgain returns the timeouts of an instance after which a node asks again though its answer may be on its
// way: that costs messages. Those that are Short are left out.
func (in Instance) AsksAgain(d Delays) (all []ShortTimeout) {
	d = d.of(in.Spec)
	for i := range in.Spec.Options {
		o := &in.Spec.Options[i]
		answers, is := o.Bound.answers(in.Config, d), time.Duration(0)
		if answers > 0 {
			is = o.Bound.of(in.Config.Value(*o))
		}
		if is < answers && is > o.Bound.covers(in.Config, d) {
			all = append(all, in.short(o, fmt.Sprintf("%s, here %v", o.Bound.Answer, answers), d))
		}
	}
	return all
}

// short returns a timeout with a value that suits the delays of a run.
func (in Instance) short(o *Option, covers string, d Delays) ShortTimeout {
	enough, _ := o.Bound.suits(in.Config, d)
	if !in.Spec.takes(in.Config.With(o.Name, enough)) {
		enough = ""
	}
	return ShortTimeout{in, o, covers, enough}
}
