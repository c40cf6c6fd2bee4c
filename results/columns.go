package results

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
)

// rowColumns has the columns of a Row by their headers, options left aside.
var rowColumns = sync.OnceValue(func() map[string]*column {
	byHeader := map[string]*column{}
	for _, c := range columnsOf(reflect.TypeFor[Row]()) {
		if !c.options {
			byHeader[c.header] = &c
		}
	}
	return byHeader
})

// AskedColumns names the columns of runs.csv that say what a run was asked to be, some options among them.
func AskedColumns(options ...string) []string { return headersOf(reflect.TypeFor[Asked](), options) }

// FigureColumns names the columns of runs.csv that say what a trial has measured.
func FigureColumns() []string { return headersOf(reflect.TypeFor[measure.Figures](), nil) }

// IsColumn reports whether runs.csv has a column of that name, options left aside.
func IsColumn(name string) bool { return rowColumns()[name] != nil }

func headersOf(t reflect.Type, options []string) (headers []string) {
	for _, c := range columnsOf(t) {
		if !c.options {
			headers = append(headers, c.header)
			continue
		}
		for _, o := range options {
			headers = append(headers, OptionColumn(o))
		}
	}
	return headers
}

// Text returns the cell of a column, as runs.csv has it; nothing if there is no such column, or it does not
// concern the row. The column of an option is named with its algorithm or without.
func (r *Row) Text(column string) string {
	c := rowColumns()[column]
	switch {
	case c == nil:
		if text, has := r.Options[optionIn(column, r.Algorithm, nil)]; has {
			return text
		}
		return r.Options[strings.ReplaceAll(column, "_", "-")]
	case c.audience != "" && !r.concerns(c.audience):
		return ""
	}
	return cell(c.of(reflect.ValueOf(r).Elem()))
}

// Figure returns the figure of a column; none if it has no figures, or does not concern the row.
func (r *Row) Figure(column string) figure.Figure {
	c := rowColumns()[column]
	if c == nil || !c.figures || c.audience != "" && !r.concerns(c.audience) {
		return figure.Figure{}
	}
	return c.of(reflect.ValueOf(r).Elem()).(figure.Figure)
}

// TimeUnit returns the unit of the times that a column of runs.csv has; 0: it has none.
func TimeUnit(column string) time.Duration { return timesOf()[column] }

// timesOf has the units of the columns of runs.csv that have times.
var timesOf = sync.OnceValue(func() map[string]time.Duration {
	units := map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second}
	of := map[string]time.Duration{}
	for _, d := range described()[RowsFile] {
		of[d.Name] = units[d.Unit]
	}
	return of
})

// CPUBoundAbove is the share of the CPU time that a run could use above which it is bound by that: its times
// rank what algorithms cost the processors.
const CPUBoundAbove = 0.9

// CPUBound reports whether the trial was bound by the CPU time that it could use.
func (r *Row) CPUBound() bool {
	busy, _ := r.CPUBusy.Value()
	return busy > CPUBoundAbove
}

// OthersAbove is the share of the machine that other processes may take before a trial counts as disturbed.
const OthersAbove = 0.05

// Disturbed reports whether others took more of the machine than that while the trial went on.
func (r *Row) Disturbed() bool {
	others, _ := r.OthersCPU.Value()
	return others > OthersAbove
}
