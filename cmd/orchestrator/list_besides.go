package main

import (
	"strings"

	"turnstile/nodes"
)

// writeBesides writes what an algorithm rests on with some values of its options alone.
func writeBesides(one *spec, c nodes.Config, line func(name, text string)) {
	for _, o := range one.Options {
		var values []string
		var needs nodes.Assumption
		for _, value := range o.Values {
			with := c.With(o.Name, value)
			if more := (one.SafeIn(with) | one.LiveIn(with)) &^ (one.SafeIn(c) | one.LiveIn(c)); more != 0 {
				values, needs = append(values, value), needs|more
			}
		}
		if values != nil {
			line("with --"+o.Name, strings.Join(values, ", ")+": progress rests on "+needs.String()+" as well")
		}
	}
}
