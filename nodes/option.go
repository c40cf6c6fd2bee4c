package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

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
