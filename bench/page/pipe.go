package page

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"turnstile/internal/format"
	"turnstile/results"
)

// pipes are what pipe.csv of a set says, by the names of services.
type pipes map[string]results.PipeRow

// readPipes returns the prices of the pipe that the set has measured, if any.
func (m *maker) readPipes() pipes {
	rows, err := m.set.Pipe()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Damaged = append(m.Damaged, err.Error())
	}
	all := pipes{}
	for _, r := range rows {
		all[r.Service] = r
	}
	return all
}

// concern reports whether the price of some of these is known.
func (p pipes) concern(services []string) bool {
	return slices.ContainsFunc(services, func(name string) bool { return p[name].Ratio.Known() })
}

// price prints the ratio of a service with its interval; empty: it is none, or was not measured.
func (p pipes) price(service string) string {
	r, known := p[service]
	if !known {
		return ""
	}
	text := format.Hundredths
	return fmt.Sprintf("%s (%s to %s)", text(r.Ratio), text(r.Low), text(r.High))
}
