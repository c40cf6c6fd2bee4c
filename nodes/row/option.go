package row

import (
	"fmt"
	"slices"
	"time"

	"turnstile/internal/suggest"
	"turnstile/nodes"
)

// Options returns the options of all rows of a table: each name once, with all values that rows accept for
// it.
func Options(table []*Row) []nodes.Option {
	var all []nodes.Option
	for _, row := range table {
		for _, o := range row.Options {
			at := slices.IndexFunc(all, func(known nodes.Option) bool { return known.Name == o.Name })
			if at < 0 {
				all = append(all, o)
				continue
			}
			for _, value := range o.Values {
				if !slices.Contains(all[at].Values, value) {
					all[at].Values = append(slices.Clip(all[at].Values), value)
				}
			}
		}
	}
	return all
}

// CheckTime says what is wrong with the value of an option that is a length of time, from least to most.
func CheckTime(value string, least, most time.Duration, example string) error {
	d, err := time.ParseDuration(value)
	switch unit := suggest.Unit(value, "ms"); {
	case err != nil && unit != nil:
		return unit
	case err != nil:
		return fmt.Errorf("%q is no length of time, such as %s", value, example)
	case d < least || d > most:
		return fmt.Errorf("%v is not from %v to %v", d, least, most)
	}
	return nil
}
