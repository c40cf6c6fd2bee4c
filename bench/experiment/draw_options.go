package experiment

import (
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/nodes"
	"turnstile/nodes/detector"
	"turnstile/nodes/row"
)

// vary gives a case of a campaign a value of each enumerated option of its row and, in a simulation, one of
// the failure detectors if the row listens to one. The cases of a row have all of them in turn. A row that is
// known to be broken keeps what shows that.
func vary(o *bench.Options, spec *row.Row, turn int, real bool) {
	if spec.Flaw != nil {
		return
	}
	next := func(values []string) string {
		value := values[turn%len(values)]
		turn /= len(values)
		return value
	}
	for i := range spec.Options {
		if option := &spec.Options[i]; len(option.Values) > 0 {
			o.Config = fitting(spec, o.Config, option.Name, next(option.Values))
		}
	}
	if spec.Detects == "" || real {
		return
	}
	o.Detector = next(detectors())
	in, err := detector.Parse(o.Detector, o.Config.N, nodes.Delays{})
	if err == nil { // faults last for longer than it takes to tell a crash, and are over before the end
		o.Duration = max(o.Duration, 2*detector.Within(in).Round(time.Millisecond))
	}
}

// fitting returns a configuration with a value for an option. If the value needs another number of nodes or
// an elector, the configuration has these. A value that contradicts other options is left out.
func fitting(spec *row.Row, c nodes.Config, name, value string) nodes.Config {
	elects := []string{c.Elect}
	if spec.Follows {
		elects = append(elects, "bully")
	}
	for _, elect := range elects {
		for by := range mostNodes {
			for _, n := range []int{c.N + by, c.N - by} {
				one := c.With(name, value)
				one.N, one.Elect = n, elect
				if n >= fewestNodes && n <= mostNodes && spec.Validate(one) == nil {
					return one
				}
			}
		}
	}
	return c
}

// detectors returns all failure detectors, with each value of each of their enumerated options.
func detectors() (all []string) {
	for _, d := range detector.Table {
		all = append(all, d.Name)
		for i := range d.Options {
			o := &d.Options[i]
			for _, value := range slices.DeleteFunc(slices.Clone(o.Values),
				func(value string) bool { return value == o.Default }) {
				all = append(all, d.Name+":"+o.Name+"="+value)
			}
		}
	}
	return all
}
