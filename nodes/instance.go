package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ParseInstance reads which row of a table runs beside an algorithm on n clients, with its options: its
// name, or a name and options, as in probe:period=50ms,timeout=200ms. what says what the rows are, for
// errors, which say what is wrong and what would be right. The instance has a value for each option: timeouts
// for which none is given suit the delays of the run.
func ParseInstance(what string, table []*Spec, text string, n int, d Delays) (Instance, error) {
	name, options, some := strings.Cut(text, ":")
	row, err := Find(what, table, name)
	if err != nil {
		return Instance{}, err
	}
	c := Config{N: n}
	for _, option := range strings.Split(options, ",") {
		if !some {
			break
		}
		key, value, given := strings.Cut(strings.TrimSpace(option), "=")
		if !given || value == "" {
			return Instance{}, fmt.Errorf("%q is no option of a %s: write a name and a value, as in %s", option, what,
				Instance{Spec: row, Config: row.Explicit(Config{N: n})})
		}
		if _, twice := c.Options[key]; twice {
			return Instance{}, fmt.Errorf("%s is given twice: leave out one of the two", key)
		}
		c = c.With(key, value)
	}
	c = row.Fitted(c, d)
	if err := row.Validate(c); err != nil {
		return Instance{}, err
	}
	return Instance{Spec: row, Config: c}, nil
}

// String writes an instance as ParseInstance reads it, with the options that it was given.
func (in Instance) String() string {
	var options []string
	for _, name := range slices.Sorted(maps.Keys(in.Config.Options)) {
		options = append(options, name+"="+in.Config.Options[name])
	}
	if len(options) == 0 {
		return in.Spec.Name
	}
	return in.Spec.Name + ":" + strings.Join(options, ",")
}
