package detector

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"turnstile/internal/suggest"
	"turnstile/nodes"
)

// Parse reads which detector runs beside an algorithm on n clients, with its options: heartbeat, or
// probe:period=50ms,timeout=200ms. The instance has a value for each option. An error says what is wrong and
// what would be right.
func Parse(text string, n int) (nodes.Instance, error) {
	name, options, some := strings.Cut(text, ":")
	row, err := find(name)
	if err != nil {
		return nodes.Instance{}, err
	}
	c := nodes.Config{N: n}
	for _, option := range strings.Split(options, ",") {
		if !some {
			break
		}
		key, value, given := strings.Cut(strings.TrimSpace(option), "=")
		if !given || value == "" {
			return nodes.Instance{}, fmt.Errorf("%q is no option of a detector: write a name and a value, as in %s",
				option, Text(nodes.Instance{Spec: row, Config: row.Explicit(nodes.Config{N: n})}))
		}
		if _, twice := c.Options[key]; twice {
			return nodes.Instance{}, fmt.Errorf("%s is given twice: leave out one of the two", key)
		}
		c = c.With(key, value)
	}
	c = row.Explicit(c)
	if err := row.Validate(c); err != nil {
		return nodes.Instance{}, err
	}
	return nodes.Instance{Spec: row, Config: c}, nil
}

// Text writes an instance as Parse reads it, with the options that it was given.
func Text(in nodes.Instance) string {
	var options []string
	for _, name := range slices.Sorted(maps.Keys(in.Config.Options)) {
		options = append(options, name+"="+in.Config.Options[name])
	}
	if len(options) == 0 {
		return in.Spec.Name
	}
	return in.Spec.Name + ":" + strings.Join(options, ",")
}

// Patience returns after how much silence an instance suspects a node; 0 if it does not go by silence.
func Patience(in nodes.Instance) time.Duration {
	if in.Spec.Option(timeoutOption.Name) == nil {
		return 0
	}
	return in.Config.Duration(timeoutOption)
}

// find returns the row of that name or alias.
func find(name string) (*nodes.Spec, error) {
	var names, known []string
	for _, row := range Table {
		names = append(names, row.Name)
		for _, word := range append([]string{row.Name}, row.Aliases...) {
			if strings.EqualFold(word, name) {
				return row, nil
			}
			known = append(known, word)
		}
	}
	there := strings.Join(names, ", ")
	if near := suggest.Nearest(name, known); near != "" {
		return nil, fmt.Errorf("unknown failure detector %q: did you mean %q? There are: %s", name, near, there)
	}
	return nil, fmt.Errorf("unknown failure detector %q; there are: %s", name, there)
}
