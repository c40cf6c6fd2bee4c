package report

import (
	"cmp"
	"fmt"
	"slices"

	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/judge/check"
	"turnstile/results"
)

// A spread is what the trials of a run say of one figure.
type spread struct {
	median, least, most figure.Figure
	known, trials       int // how many trials have measured it, and how many there are
}

// A tableOf has rows of a result file.
type tableOf[R any] []R

// A table is the rows of the trials of a run.
type table = tableOf[results.Row]

// A faultTable is the rows of one fault, or of several in the same words, of all trials.
type faultTable = tableOf[results.FaultRow]

// of returns the spread of a column.
func (t tableOf[R]) of(column results.Column) spread {
	figures := make([]figure.Figure, len(t))
	for i := range t {
		figures[i] = figureIn(t[i], column)
	}
	return spreadOf(figures)
}

// known reports whether a trial has measured what a column is about.
func (t tableOf[R]) known(column results.Column) bool { return t.of(column).known > 0 }

// sum returns the sum of a column.
func (t tableOf[R]) sum(column results.Column) figure.Figure {
	if !t.known(column) {
		return figure.Figure{}
	}
	sum := 0.0
	for i := range t {
		x, _ := figureIn(t[i], column).Value()
		sum += x
	}
	return figure.Number(sum)
}

// where returns in how many trials a condition holds.
func (t tableOf[R]) where(holds func(*R) bool) (n int) {
	for i := range t {
		if holds(&t[i]) {
			n++
		}
	}
	return n
}

// figureIn returns the figure that a row has in a column.
func figureIn(row any, column results.Column) figure.Figure {
	for header, cell := range results.Cells(row) {
		if figure, ok := cell.(figure.Figure); ok && header == string(column) {
			return figure
		}
	}
	panic(fmt.Sprintf("a %T has no figure %s", row, column))
}

// spreadOf returns the spread of the figures of some trials.
func spreadOf(figures []figure.Figure) spread {
	s := spread{trials: len(figures)}
	known := slices.DeleteFunc(slices.Clone(figures), func(f figure.Figure) bool { return !f.Known() })
	if s.known = len(known); s.known == 0 {
		return s
	}
	slices.SortFunc(known, func(f, g figure.Figure) int {
		x, _ := f.Value()
		y, _ := g.Value()
		return cmp.Or(cmp.Compare(x, y), b2i(f.IsBound())-b2i(g.IsBound()))
	})
	s.least, s.median, s.most = known[0], stats.MedianOf(known), known[len(known)-1]
	return s
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// text prints the median and, if they are others, the least and the greatest, as format prints one figure.
func (s spread) text(format func(figure.Figure) string) string {
	text := format(s.median)
	if s.varies(format) {
		text += fmt.Sprintf(" (%s)", s.limits(format))
	}
	return text + s.share()
}

// share says in how many trials the figure was measured; nothing if it was in all or in none.
func (s spread) share() string {
	if s.known == 0 || s.known == s.trials {
		return ""
	}
	return fmt.Sprintf(" [in %s]", trials(s.known, s.trials))
}

// varies reports whether the least and the greatest print differently.
func (s spread) varies(format func(figure.Figure) string) bool {
	return format(s.least) != format(s.most)
}

// limits prints the least and the greatest.
func (s spread) limits(format func(figure.Figure) string) string {
	if !s.varies(format) {
		return format(s.most)
	}
	return format(s.least) + " to " + format(s.most)
}

// ofTrial returns the rows of a trial.
func ofTrial[R any](rows []R, trial int, trialOf func(*R) int) (of []R) {
	for i := range rows {
		if trialOf(&rows[i]) == trial {
			of = append(of, rows[i])
		}
	}
	return of
}

// trials says how many of all trials something is true of.
func trials(n, of int) string {
	switch {
	case n < of:
		return fmt.Sprintf("%d of %d trials", n, of)
	case n == 1:
		return "the trial"
	}
	return fmt.Sprintf("all %d trials", n)
}

// uncontended says of trials that are all valid how far that shows little, since clients did not want at once
// what they share.
func uncontended(verdicts []check.Verdict) string {
	first, such := "", 0
	for i := range verdicts {
		if says := verdicts[i].Uncontended; says != "" {
			first = cmp.Or(first, says)
			such++
		}
	}
	switch such {
	case 0:
		return ""
	case len(verdicts):
		return " (" + first + ")"
	}
	return fmt.Sprintf(" (%s in %s)", first, trials(such, len(verdicts)))
}
