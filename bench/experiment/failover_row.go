package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/results"
)

// TableRows returns failover.csv: the rows of the cases and, of others, the rows with runs that the set has
// had before.
func (m *Failover) TableRows() ([]results.FailoverRow, error) {
	set := &results.Set{Path: filepath.Join(m.Setup.Results, m.Setup.Set)}
	before, err := set.Failover()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, UnreadableError{fmt.Errorf("%w; remove the file to have it written anew", err)}
	}
	var rows []results.FailoverRow
	for _, c := range m.Cases {
		rows = append(rows, c.TableRow())
	}
	of := func(r *results.FailoverRow) string { return fmt.Sprint(r.Line, r.AskedS, r.Fault) }
	for i := range before {
		b := &before[i]
		if b.Runs > 0 && !slices.ContainsFunc(rows, func(r results.FailoverRow) bool { return of(&r) == of(b) }) {
			rows = append(rows, *b)
		}
	}
	place := map[string]int{}
	for i, l := range FailoverLines() {
		place[l.Text()] = i
	}
	slices.SortStableFunc(rows, func(a, b results.FailoverRow) int {
		return cmp.Or(cmp.Compare(place[a.Line], place[b.Line]),
			cmp.Compare(slices.Index(FailoverFaults, a.Fault), slices.Index(FailoverFaults, b.Fault)),
			compareTimes(a.AskedS, b.AskedS))
	})
	return rows, nil
}

// TableRow returns what failover.csv says of the case.
func (c *FailoverCase) TableRow() results.FailoverRow {
	out := results.FailoverRow{Service: c.Line.Service, Line: c.Line.Text(),
		Options: strings.Join(c.Line.Words(c.Asked), " "),
		AskedS:  secondsOf(c.Asked), Fault: c.Fault, Runs: len(c.Runs), LeftOut: len(c.LeftOut)}
	if s := c.Subject; s != nil {
		out.GrantedS = secondsOf(s.Granted)
		out.Server = s.Config.Options[bench.ServerVersionOption]
		out.Client = s.Config.Options[bench.ClientVersionOption]
		if c.Lacks() == "" {
			if j, err := c.Job(1); err == nil {
				out.Plan = j.Faults[0].String()
			}
		}
	}
	var times []figure.Figure
	for _, r := range c.Runs {
		if times = append(times, r.NextS); r.NextS.IsBound() {
			out.Missed++
		}
	}
	if out.Reason = c.reason(); len(times) == 0 {
		return out
	}
	out.MedianS = stats.MedianOf(times)
	out.LowS, out.HighS, out.Interval = medianInterval(times)
	longest := slices.MaxFunc(c.Runs, func(a, b *FailoverRun) int { return compareTimes(a.NextS, b.NextS) })
	out.LeastS, out.MostS, out.Run = slices.MinFunc(times, compareTimes), longest.NextS, longest.Folder
	return out
}

// reason says why the case has no run, or why some do not count: the most frequent reason first.
func (c *FailoverCase) reason() string {
	switch {
	case c.Lacks() != "":
		return c.Lacks()
	case c.Err != nil:
		return c.Err.Error()
	}
	count := map[string]int{}
	for _, r := range c.LeftOut {
		count[r.Why]++
	}
	var all []string
	for _, why := range slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	}) {
		all = append(all, fmt.Sprintf("%d: %s", count[why], why))
	}
	return strings.Join(all, "; ")
}

// compareTimes orders two times by length. Of two equal numbers, a lower bound is the longer time.
func compareTimes(a, b figure.Figure) int {
	x, _ := a.Value()
	y, _ := b.Value()
	switch {
	case x != y:
		return cmp.Compare(x, y)
	case a.IsBound() == b.IsBound():
		return 0
	case a.IsBound():
		return 1
	}
	return -1
}

// secondsOf returns a time in seconds; none if it is zero.
func secondsOf(d time.Duration) figure.Figure {
	if d == 0 {
		return figure.Figure{}
	}
	return figure.Number(d.Seconds())
}
