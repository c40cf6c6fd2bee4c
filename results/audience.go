package results

import (
	"reflect"
	"slices"
	"sync"

	"turnstile/bench/option"
	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/nodes/workload"
)

// The audience of a column is the kinds of runs that it concerns, by the tag of of its field. A table has the
// columns that concern any of its rows.
var audiences = []string{measure.OfExclusion, measure.OfLeaders}

// demands has the audience of runs by what they demand of nodes.
var demands = sync.OnceValue(func() map[string]string {
	all := map[string]string{string(workload.Campaign): measure.OfLeaders}
	for _, load := range workload.Loads() {
		all[string(load)] = measure.OfExclusion
	}
	return all
})

// A concerned row says to which audiences it belongs. Any other row belongs to those of whose columns it has
// a figure.
type concerned interface{ concerns(audience string) bool }

// concerns reports whether a row belongs to an audience: to that of its demand, and of clients that follow a
// leader to that of leaders too. A run of a demand that this version does not know belongs to all.
func (r *Row) concerns(audience string) bool {
	of, known := demands()[r.Asked.Cell(option.LoadColumn)]
	return !known || of == audience || audience == measure.OfLeaders && r.Elections.Known()
}

// concerns reports whether a row, addressable, belongs to an audience, given all columns.
func concerns(row reflect.Value, audience string, columns []column) bool {
	if r, is := row.Addr().Interface().(concerned); is {
		return r.concerns(audience)
	}
	return slices.ContainsFunc(columns, func(c column) bool {
		return c.audience == audience && c.figures && c.of(row).(figure.Figure).Known()
	})
}

// foreignTo returns the audiences to which a row does not belong.
func foreignTo(row reflect.Value, columns []column) (others []string) {
	for _, audience := range audiences {
		if !concerns(row, audience, columns) {
			others = append(others, audience)
		}
	}
	return others
}

// columnsFor returns the columns of a table of rows: those that concern any of them; all, if no row says whom
// it concerns.
func columnsFor[T any](rows []T) []column {
	all := withOptionsOf(rows)
	others := slices.Clone(audiences)
	for i := range rows {
		foreign := foreignTo(reflect.ValueOf(&rows[i]).Elem(), all)
		others = slices.DeleteFunc(others, func(a string) bool { return !slices.Contains(foreign, a) })
	}
	if len(others) < len(audiences) {
		all = slices.DeleteFunc(all, func(c column) bool { return slices.Contains(others, c.audience) })
	}
	return withBounds(all)
}
