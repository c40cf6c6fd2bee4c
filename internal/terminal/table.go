package terminal

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"turnstile/internal/english"
)

// Gap is how many spaces stand between the columns of a table.
const Gap = 2

// A Table is printed for people no wider than the terminal, or else 100 columns. If it would be wider, it
// leaves out columns, and then breaks cells into lines. Columns of numbers are aligned on the right.
type Table struct {
	Head  []string   // names of the columns; nil: the table has no head
	Drops []string   // names of columns that may be left out, in this order
	Rows  [][]string // lines of cells; a line with one cell is never broken
	Left  []string   // names of columns that Print has left out
}

// Add adds a line of cells, formatted by fmt.Sprint.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	t.Rows = append(t.Rows, row)
}

// CSV writes the table for programs.
func (t *Table) CSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(append([][]string{t.Head}, t.Rows...))
}

// Print lays the table out, and writes it.
func (t *Table) Print(w io.Writer) error {
	lines := make([][]string, 0, len(t.Rows)+1)
	if len(t.Head) > 0 {
		lines = append(lines, slices.Clone(t.Head))
	}
	for _, row := range t.Rows {
		lines = append(lines, slices.Clone(row))
	}
	width, widths := Columns(w), widthsOf(lines)
	for _, name := range t.Drops {
		at := slices.Index(t.Head, name)
		for _, left := range t.Left {
			if was := slices.Index(t.Head, left); was >= 0 && was < at {
				at--
			}
		}
		if at < 0 || sum(widths) <= width {
			continue
		}
		t.Left = append(t.Left, name)
		for i, cells := range lines {
			if at < len(cells) {
				lines[i] = slices.Delete(cells, at, at+1)
			}
		}
		widths = slices.Delete(widths, at, at+1)
	}
	narrow(lines, widths, width)
	right := numbers(lines, len(widths), min(1, len(t.Head)))
	var b strings.Builder
	for _, cells := range lines {
		writeCells(&b, cells, widths, right)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// widthsOf returns the widths of the columns. The last cell of a line with fewer cells does not count.
func widthsOf(lines [][]string) (widths []int) {
	most := 0
	for _, cells := range lines {
		most = max(most, len(cells))
	}
	widths = make([]int, most)
	for _, cells := range lines {
		for i, cell := range cells {
			if i < len(cells)-1 || len(cells) == most && most > 1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	return widths
}

// sum returns the width of a table.
func sum(widths []int) (sum int) {
	for _, w := range widths {
		sum += w + Gap
	}
	return max(0, sum-Gap)
}

// narrow makes columns narrower until the table fits: first the one that can shrink most. It breaks no word.
func narrow(lines [][]string, widths []int, width int) {
	words := make([]int, len(widths))
	for _, cells := range lines {
		for i, cell := range cells {
			for word := range strings.SplitSeq(cell, " ") {
				words[i] = max(words[i], utf8.RuneCountInString(word))
			}
		}
	}
	for {
		over, best := sum(widths)-width, 0
		for i := range widths {
			if widths[i]-words[i] > widths[best]-words[best] {
				best = i
			}
		}
		if over <= 0 || widths[best] <= words[best] {
			return
		}
		widths[best] = max(words[best], widths[best]-over)
	}
}

// numbers reports for each column whether all its cells below the head are numbers, with or without a unit.
func numbers(lines [][]string, columns, head int) []bool {
	right := make([]bool, columns)
	for i := range right {
		some, all := false, true
		for _, cells := range lines[head:] {
			if len(cells) < 2 || i >= len(cells) || cells[i] == "" || cells[i] == "-" {
				continue
			}
			some = true
			number, unit, _ := strings.Cut(strings.ReplaceAll(cells[i], ",", ""), " ")
			_, err := strconv.ParseFloat(strings.TrimRight(strings.TrimLeft(number, "±<>"), "%"), 64)
			all = all && err == nil && !strings.Contains(unit, " ")
		}
		right[i] = some && all
	}
	return right
}

// writeCells writes the cells of a line. A cell that is wider than its column takes several lines.
func writeCells(b *strings.Builder, cells []string, widths []int, right []bool) {
	if len(cells) == 1 {
		b.WriteString(cells[0] + "\n")
		return
	}
	broken, lines := make([][]string, len(cells)), 1
	for i, cell := range cells {
		if broken[i] = []string{cell}; i < len(cells)-1 || len(cells) == len(widths) {
			broken[i] = english.Wrap(cell, widths[i])
		}
		lines = max(lines, len(broken[i]))
	}
	for n := range lines {
		line := ""
		for i, parts := range broken {
			part := ""
			if n < len(parts) {
				part = parts[n]
			}
			space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(part)))
			if right[i] {
				part, space = space+part, ""
			}
			line += part + space + strings.Repeat(" ", Gap)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
