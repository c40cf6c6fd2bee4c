package page

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/results"
)

// FailoverHead are the headers of the cells of FailoverCells.
var FailoverHead = []string{"Service", "TTL", "Granted", "Next after", "Interval", "Min..max", "Runs",
	"Never", "Left out"}

// FailoverCells returns the cells of a row of failover.csv. If no run of the row counts, there are only four
// cells, and the last one has the reason.
func FailoverCells(r *results.FailoverRow) []string {
	cells := []string{r.Line, format.Seconds(r.AskedS), format.Seconds(r.GrantedS)}
	if r.Runs == 0 {
		if r.LeftOut == 0 { // the reason is the same for every time to live
			cells[1], cells[2] = format.Missing, format.Missing
		}
		return append(cells, cmp.Or(r.Reason, "no run"))
	}
	between := func(low, high figure.Figure, by string) string {
		if r.Missed == r.Runs { // no run recovered: all times are only lower bounds
			return format.Missing
		}
		return format.Seconds(low) + by + format.Seconds(high)
	}
	return append(cells, format.Seconds(r.MedianS), between(r.LowS, r.HighS, " to "),
		between(r.LeastS, r.MostS, ".."), fmt.Sprint(r.Runs), fmt.Sprint(r.Missed), fmt.Sprint(r.LeftOut))
}

// A FailoverTable has the rows of one fault. Rows of a service without runs are merged if they are the same
// for every time to live.
type FailoverTable struct {
	Title string
	Rows  [][]string
}

// failoverTitles has the titles of the faults of failover.csv, in their order.
var failoverTitles = [][2]string{{"kill", "The holder or leader is killed"},
	{"pause", "The holder or leader stands still"}, {"cut", "The holder or leader is cut off, silently"},
	{"kill-server", "The server that leads is killed"},
	{"cut-server", "The server that leads is cut off from the other servers, silently"}}

// FailoverTables returns the tables of failover.csv, one for each fault that it has.
func FailoverTables(rows []results.FailoverRow) (all []FailoverTable) {
	for _, of := range failoverTitles {
		t := FailoverTable{Title: of[1]}
		said := map[string]bool{}
		for i := range rows {
			r := &rows[i]
			if r.Fault != of[0] || r.Runs == 0 && said[r.Line+r.Reason] {
				continue
			}
			said[r.Line+r.Reason] = r.Runs == 0 && r.LeftOut == 0
			t.Rows = append(t.Rows, FailoverCells(r))
		}
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// failovers shows the time to the next entry or leader after each fault, if the set has measured it.
func (m *maker) failovers() {
	rows, err := m.set.Failover()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Damaged = append(m.Damaged, err.Error())
	}
	var blocks []block
	for _, of := range FailoverTables(rows) {
		t := &table{Caption: of.Title + ": time to the next entry or leader", Words: 1, Head: FailoverHead}
		for _, cells := range of.Rows {
			t.Rows = append(t.Rows, append(cells, make([]string, len(FailoverHead)-len(cells))...))
		}
		blocks = append(blocks, block{Table: t})
	}
	m.add("Failovers", "the set has no "+results.FailoverFile, blocks)
}
