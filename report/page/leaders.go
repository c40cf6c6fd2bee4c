package page

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"turnstile/draw"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/results"
)

// elections draws and lists the elections of runs about leaders.
func (m *maker) elections() {
	var blocks []block
	for _, s := range m.calm(elections) {
		blocks = append(blocks, m.againstNodes(s, electCurve)...)
		blocks = append(blocks, m.againstNodes(s, electionMessagesCurve)...)
	}
	t := &table{Caption: "Medians of valid trials", Words: 2, Head: []string{"Scheme", "Faults", "Nodes",
		"Trials", "Elections", "Time to elect p50", "Messages/election", "Heartbeats",
		"No leader", "Two leaders"}}
	for _, e := range m.all {
		if e.setting.columns != elections || e.Valid == 0 {
			continue
		}
		median := func(metric results.Column) figure.Figure { f, _, _, _ := e.Median(metric); return f }
		t.Rows = append(t.Rows, []string{e.series, cmp.Or(e.setting.faults(), "none"),
			fmt.Sprint(e.nodes), fmt.Sprint(e.Valid), format.Whole(median(results.Elections)),
			format.Micros(median(results.ElectUSP50)), format.Hundredths(median(results.MessagesPerElection)),
			format.Whole(median(results.Heartbeats)),
			format.Micros(median(results.LeaderlessUS)), format.Micros(median(results.TwoLeadersUS))})
	}
	if len(t.Rows) > 0 {
		blocks = append(blocks, block{Table: t})
	}
	m.add("Elections", "no valid run about leaders", blocks)
}

// ledgers draws which node led over time.
func (m *maker) ledgers() {
	some, more := m.pictured(func(e *experiment) bool { return e.setting.columns == elections })
	var blocks []block
	for _, e := range some {
		beliefs, err := e.folder.Beliefs()
		faults, _, faultsErr := e.folder.Faults()
		if err := errors.Join(err, faultsErr); err != nil {
			m.Damaged = append(m.Damaged, e.folder.Name()+": "+err.Error())
			continue
		}
		ledger := results.LedgerOf(beliefs, faults, e.trial)
		if len(ledger.Lanes) == 0 {
			continue
		}
		picture := draw.Ledger(e.folder.Name(), []*results.Ledger{ledger})
		its := ofTrial(beliefs, e.trial, func(b *results.BeliefRow) int { return b.Trial })
		blocks = append(blocks, pictureBlock(m, "ledger", e.caption, picture, its))
	}
	m.add("Who led", "no run about leaders", append(blocks, more...))
}

// matrix shows the fault matrix, if the set has one.
func (m *maker) matrix() {
	rows, err := m.set.Matrix()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Damaged = append(m.Damaged, err.Error())
	}
	var blocks []block
	for _, columns := range []string{entries, elections} {
		its := slices.DeleteFunc(slices.Clone(rows), func(r results.MatrixRow) bool {
			return r.Line != "" || columnsOf(m.known, r.Algorithm) != columns
		})
		if len(its) > 0 {
			caption := map[string]string{entries: "Mutual exclusion", elections: "Elections"}[columns] +
				" under each fault"
			blocks = append(blocks, pictureBlock(m, "matrix", caption, heatOf(caption, columns, its), its))
		}
	}
	lines := slices.DeleteFunc(slices.Clone(rows), func(r results.MatrixRow) bool { return r.Line == "" })
	if len(lines) > 0 {
		const caption = "Known failures of services: all entries, and the entries that a resource with fence " +
			"numbers accepts"
		blocks = append(blocks, pictureBlock(m, "services", caption, heatOfLines(caption, lines), lines))
	}
	m.add("The fault matrix", "the set has no "+results.MatrixFile, blocks)
}

// outcomes explains the letters of outcomes, for clients that enter and for leaders, and says how bad each
// outcome is.
var outcomes = []struct {
	letter          string
	bad             int
	entries, leader string
}{
	{"L", 1, "exclusion holds, and all clients that are up enter", "all agree on a leader"},
	{"P", 2, "some wait for ever", "some never agree"},
	{"B", 3, "all wait for ever", "nobody leads"},
	{"X", 4, "two were inside together", "two lead"},
	{"-", 0, "the fault hits nothing", "the fault hits nothing"},
	{"?", 0, "inconclusive", "inconclusive"},
}

// heatOf draws a fault matrix with a line for each fault.
func heatOf(caption, columns string, rows []results.MatrixRow) *draw.Picture {
	h := &draw.Heat{Title: caption}
	for _, r := range rows {
		if !slices.Contains(h.Columns, r.Algorithm) {
			h.Columns = append(h.Columns, r.Algorithm)
		}
		if !slices.Contains(h.Rows, r.Fault) {
			h.Rows = append(h.Rows, r.Fault)
		}
	}
	for range h.Rows {
		h.Cells = append(h.Cells, make([]draw.Cell, len(h.Columns)))
	}
	for _, r := range rows {
		c := cellOf(r.Shown)
		if r.Differs {
			c.Text += "!"
		}
		h.Cells[slices.Index(h.Rows, r.Fault)][slices.Index(h.Columns, r.Algorithm)] = c
	}
	h.Legend = legendOf(columns, "differs from what is expected of the algorithm")
	return h.Draw()
}

// heatOfLines draws the known failures of services, one in each line, with the outcomes of all entries and
// the outcomes at a resource with fence numbers.
func heatOfLines(caption string, rows []results.MatrixRow) *draw.Picture {
	h := &draw.Heat{Title: caption, Columns: []string{"strict", "fenced"}}
	for _, r := range rows {
		name := fmt.Sprintf("%s %s: %s", r.Line, r.Algorithm, r.Fault)
		if runes := []rune(name); len(runes) > longestLine {
			name = string(runes[:longestLine-1]) + "…"
		}
		if r.Differs {
			name += " !"
		}
		h.Rows = append(h.Rows, name)
		fenced := cellOf(r.Fenced)
		if r.Fenced == "-" {
			fenced = draw.Cell{Text: "no fences"}
		}
		h.Cells = append(h.Cells, []draw.Cell{cellOf(r.Shown), fenced})
	}
	h.Legend = legendOf(entries, "differs from the expectation")
	return h.Draw()
}

// longestLine is how many characters of the text about a known failure a picture shows. The data of the
// picture have the whole text.
const longestLine = 60

// cellOf returns the cell that shows some outcomes.
func cellOf(shown string) draw.Cell {
	c := draw.Cell{Text: shown}
	for _, o := range outcomes {
		if strings.Contains(shown, o.letter) {
			c.Bad = max(c.Bad, o.bad)
		}
	}
	return c
}

// legendOf returns a legend of the letters, and of the exclamation mark.
func legendOf(columns, differs string) (all []draw.Cell) {
	for _, o := range outcomes {
		says := o.entries
		if columns == elections {
			says = o.leader
		}
		all = append(all, draw.Cell{Text: o.letter, Bad: o.bad, Says: says})
	}
	return append(all, draw.Cell{Text: "!", Says: differs})
}
