package page

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/bench/option"
)

// A demand is a column that says how much clients demand, against which figures are drawn.
type demand struct {
	column string
	label  string
	x      func(e *experiment) float64
}

var demands = []demand{
	{option.RateColumn, "requests per second of all nodes", func(e *experiment) float64 {
		rate, _ := e.trials[0].Figure(option.RateColumn).Value()
		return rate * float64(e.nodes)
	}},
	{"think", "mean time from a release to the next request (ms)", func(e *experiment) float64 {
		think, _ := e.trials[0].ThinkUS.Value()
		return think / 1e3
	}},
}

// of returns what a setting has in the column.
func (d demand) of(s *setting) string { return s.all[0].trials[0].Text(d.column) }

// rest names what settings have in common that differ in the column alone; nothing: it has nothing there.
func (d demand) rest(s *setting) string {
	text := d.of(s)
	if text == "" {
		return ""
	}
	rest := slices.Clone(s.values)
	rest[slices.Index(s.asked, d.column)] = ""
	return strings.Join(rest, "\x00")
}

// inSeries reports whether another setting differs from s in a demand alone.
func (m *maker) inSeries(s *setting, d demand) bool {
	rest := d.rest(s)
	return rest != "" && slices.ContainsFunc(m.calm(entries), func(o *setting) bool {
		return o != s && d.rest(o) == rest
	})
}

// heaviest reports whether no setting differs from s in a heavier demand alone: the last that come on the x
// axis of a rate, and the first on that of a time.
func (m *maker) heaviest(s *setting) bool {
	for _, d := range demands {
		rest := d.rest(s)
		sign := 1.0
		if d.column == "think" {
			sign = -1
		}
		if rest != "" && slices.ContainsFunc(m.calm(entries), func(o *setting) bool {
			return d.rest(o) == rest && sign*d.x(o.all[0]) > sign*d.x(s.all[0])
		}) {
			return false
		}
	}
	return true
}

// againstLoad draws throughput, waits, messages and fairness of settings that differ in a demand alone.
func (m *maker) againstLoad() (blocks []block) {
	for _, d := range demands {
		groups := map[string][]sampled{}
		labels := map[string]string{}
		var order []string
		for _, s := range m.calm(entries) {
			if !m.inSeries(s, d) {
				continue
			}
			for _, e := range s.all {
				key := fmt.Sprint(e.nodes, " ", d.rest(s))
				if groups[key] == nil {
					order = append(order, key)
					own := ", " + strings.ReplaceAll(d.column, "_", " ") + " " + d.of(s)
					labels[key] = fmt.Sprintf(" (%d nodes%s)", e.nodes, strings.Replace(", "+s.label, own, "", 1))
				}
				groups[key] = append(groups[key], sampled{d.x(e), e})
			}
		}
		for _, key := range order {
			if len(places(groups[key])) < 2 {
				continue
			}
			for _, c := range []curve{throughputCurve, medianCurve, tailCurve, messageCurve, jainCurve} {
				c.files += "-load"
				blocks = append(blocks, m.draw(c, c.title+labels[key], d.label, groups[key])...)
			}
		}
	}
	return blocks
}
