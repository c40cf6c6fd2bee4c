package main

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"turnstile/internal/english"
	"turnstile/internal/terminal"
)

// columnGap is how many spaces stand between columns.
const columnGap = 2

// A fitted writes a table for people that is no wider than the terminal: lines of cells with tabs between,
// the first line the header. If it would be too wide, columns are left out, and then cells take several
// lines. A line without a tab stays as it is.
type fitted struct {
	w     io.Writer
	drops []string // headers of the columns that may be left out, the first one first
	text  strings.Builder
	left  []string // headers of those that were
}

// newFitted returns a table on w.
func newFitted(w io.Writer, drops ...string) *fitted { return &fitted{w: w, drops: drops} }

func (t *fitted) Write(b []byte) (int, error) { return t.text.Write(b) }

// Flush lays the table out, writes it, and begins another.
func (t *fitted) Flush() error {
	var lines [][]string
	for line := range strings.Lines(t.text.String()) {
		lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	t.text.Reset()
	width := terminal.Columns(t.w)
	widths := columnWidths(lines)
	for _, header := range t.drops {
		at := -1
		if len(lines) > 0 {
			at = slices.Index(lines[0], header)
		}
		if at < 0 || sumOf(widths) <= width {
			continue
		}
		t.left = append(t.left, header)
		for i, cells := range lines {
			if at < len(cells) {
				lines[i] = slices.Delete(cells, at, at+1)
			}
		}
		widths = slices.Delete(widths, at, at+1)
	}
	narrow(lines, widths, width)
	var b strings.Builder
	for _, cells := range lines {
		writeCells(&b, cells, widths)
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

// columnWidths returns how wide the columns are. The last cell of a line that is shorter than others is free.
func columnWidths(lines [][]string) (widths []int) {
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

// sumOf returns how wide a table is.
func sumOf(widths []int) (sum int) {
	for _, w := range widths {
		sum += w + columnGap
	}
	return max(0, sum-columnGap)
}

// narrow makes columns narrower until the table fits: first the one whose cells can be broken most. No word
// is broken.
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
		over, best := sumOf(widths)-width, 0
		for i := range widths {
			if cmp.Compare(widths[i]-words[i], widths[best]-words[best]) > 0 {
				best = i
			}
		}
		if over <= 0 || widths[best] <= words[best] {
			return
		}
		widths[best] = max(words[best], widths[best]-over)
	}
}

// writeCells writes the cells of a line, each in lines of its own if it is wider than its column.
func writeCells(b *strings.Builder, cells []string, widths []int) {
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
			line += part + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(part))+columnGap)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
