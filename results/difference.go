package results

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"turnstile/internal/figure"
)

// A Difference is a place where a stored file differs from the file made from the histories.
type Difference struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`   // from 1; 0: the whole file
	Trial  int    `json:"trial,omitempty"`  // the trial of the line; 0: the line is not about one trial
	Column string `json:"column,omitempty"` // empty: the whole line
	Stored string `json:"stored"`
	Made   string `json:"history"`        // the value that the histories give
	What   string `json:"what,omitempty"` // describes the difference, if there are no two values to compare
}

// String describes the difference in one line.
func (d Difference) String() string {
	text := d.File
	if d.Line > 0 {
		text += fmt.Sprintf(", line %d", d.Line)
	}
	if d.Trial > 0 {
		text += fmt.Sprintf(", trial %d", d.Trial)
	}
	if d.What != "" {
		return text + ": " + d.What
	}
	if d.Column != "" {
		text += ", " + d.Column
	}
	return fmt.Sprintf("%s: stored %s, the history gives %s", text, shortened(d.Stored), shortened(d.Made))
}

// shortened prints the beginning of a cell or a line.
func shortened(text string) string {
	const most = 60
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "..."
	}
	return cmp.Or(text, "nothing")
}

// differing collects the differences of a file. It keeps the first mostDifferences, and counts the others.
type differing struct {
	file string
	all  []Difference
	more int
}

const mostDifferences = 10 // kept for each file

func (d *differing) add(one Difference) {
	if len(d.all) == mostDifferences {
		d.more++
		return
	}
	one.File = d.file
	d.all = append(d.all, one)
}

// list returns the differences that were kept, and one more that counts the others.
func (d *differing) list() []Difference {
	if d.more > 0 {
		says := fmt.Sprintf("and it differs in %d more places", d.more)
		d.all = append(d.all, Difference{File: d.file, What: says})
	}
	return d.all
}

// A stored is a table in a file: its cells as text, and the rows read from them.
type stored[T any] struct {
	columns []*column // in the order of headers; nil: an unknown column
	headers []string
	cells   [][]string
	lines   []int // the line numbers of the rows, from 1
	rows    []T
}

// readStored reads a stored table, except the rows of unjudged trials.
func readStored[T any](file string, text []byte, unjudged []int) (*stored[T], error) {
	rows, err := readTable[T](file, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil {
		return nil, tableError(file, err)
	}
	s := &stored[T]{headers: lines[0]}
	if s.columns, err = match(file, lines[0], columnsOf(reflect.TypeFor[T]())); err != nil {
		return nil, err
	}
	for i, row := range rows {
		if !slices.Contains(unjudged, trialOf(reflect.ValueOf(row))) {
			s.rows, s.cells, s.lines = append(s.rows, row), append(s.cells, lines[i+1]), append(s.lines, i+2)
		}
	}
	return s, nil
}

func trialOf(row reflect.Value) int { return int(row.FieldByName("Trial").Int()) }

// cell returns the text of a cell; "" if the file lacks the column.
func (s *stored[T]) cell(row int, header string) string {
	if at := slices.Index(s.headers, header); at >= 0 {
		return s.cells[row][at]
	}
	return ""
}

// compareRows compares a stored table with the rows made from the histories, cell by cell. If the file is
// unchanged since it was written, compareRows ignores columns that only one of the two tables has, since
// another commit may have written the file, and columns that do not come from histories.
func compareRows[T any](file string, text []byte, rows []T, how comparison) []Difference {
	d := &differing{file: file}
	was, err := readStored[T](file, text, how.unjudged)
	if cell := (*cellError)(nil); errors.As(err, &cell) {
		says := strings.TrimPrefix(cell.Header+": "+cell.What, ": ")
		return []Difference{{File: file, Line: cell.Line, What: says}}
	}
	if err != nil {
		return []Difference{{File: file, What: err.Error()}}
	}
	if len(was.rows) != len(rows) {
		d.add(Difference{What: fmt.Sprintf("it has %d rows, and the histories give %d", len(was.rows), len(rows))})
	}
	if how.changed {
		was.foreign(d)
		was.missing(d, columnsFor(rows))
	}
	columns := slices.DeleteFunc(slices.Clone(was.columns), func(c *column) bool {
		return c == nil || c.header == BoundsColumn || !how.changed && c.outside
	})
	for i := range min(len(was.rows), len(rows)) {
		was.compareRow(d, i, reflect.ValueOf(&rows[i]).Elem(), columns)
	}
	return d.list()
}

// missing records the columns that the table should have and the file lacks.
func (s *stored[T]) missing(d *differing, columns []column) {
	for _, c := range columns {
		if c.header != BoundsColumn && !slices.Contains(s.headers, c.header) {
			d.add(Difference{Line: 1, What: "the column " + c.header + " is missing"})
		}
	}
}

// foreign records columns with values that this Turnstile does not write. It also records lower bounds for
// columns that the file lacks.
func (s *stored[T]) foreign(d *differing) {
	for at, header := range s.headers {
		made := func(i int) bool { // whether this Turnstile would write the cell in row i
			c := s.columns[at]
			return c != nil && (!c.options || c.option(reflect.ValueOf(&s.rows[i]).Elem(), nil) != "")
		}
		for i, cells := range s.cells {
			if cells[at] != "" && !made(i) {
				d.add(Difference{Line: 1, What: "this Turnstile does not write the column " + header})
				break
			}
		}
	}
	for i := range s.cells {
		for _, name := range strings.Fields(s.cell(i, BoundsColumn)) {
			if !slices.Contains(s.headers, name) {
				d.add(Difference{Line: s.lines[i], What: BoundsColumn + " names the unknown column " + name})
			}
		}
	}
}

// compareRow compares a row in the given columns, and then its list of lower bounds.
func (s *stored[T]) compareRow(d *differing, i int, has reflect.Value, columns []*column) {
	had := reflect.ValueOf(&s.rows[i]).Elem()
	one := Difference{Line: s.lines[i], Trial: trialOf(has)}
	var was, is []string
	for _, c := range columns {
		stored, made := c.of(had), c.of(has)
		if f, isFigure := made.(figure.Figure); isFigure {
			was, is = appendBound(was, c.header, stored.(figure.Figure)), appendBound(is, c.header, f)
		}
		if one.Made = cell(made); cell(stored) != one.Made {
			one.Column, one.Stored = c.header, oneLine.Replace(s.cell(i, c.header))
			d.add(one)
		}
	}
	if !slices.Equal(was, is) {
		one.Column, one.Stored, one.Made = BoundsColumn, s.cell(i, BoundsColumn), strings.Join(is, " ")
		d.add(one)
	}
}

func appendBound(names []string, header string, f figure.Figure) []string {
	if f.IsBound() {
		return append(names, header)
	}
	return names
}

// headerOf returns the headers of a stored table.
func headerOf(stored []byte) []string {
	header, _ := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(stored, []byte("\ufeff")))).Read()
	return header
}

// A lineComparison reports whether two lines differ, and returns the difference.
type lineComparison func(stored, made string) (Difference, bool)

// compareLines compares a stored text with the text made from the histories, line by line. The function
// line decides whether two unequal lines differ in substance; nil: they always do.
func compareLines(file string, stored, made []byte, line lineComparison) []Difference {
	d := &differing{file: file}
	was, is := strings.Split(string(stored), "\n"), strings.Split(string(made), "\n")
	if len(was) != len(is) {
		d.add(Difference{What: fmt.Sprintf("it has %d lines, and the histories give %d", len(was)-1, len(is)-1)})
	}
	for i := range min(len(was), len(is)) {
		if was[i] == is[i] {
			continue
		}
		one, differs := Difference{Stored: was[i], Made: is[i]}, true
		if line != nil {
			one, differs = line(was[i], is[i])
		}
		if one.Line = i + 1; differs {
			d.add(one)
		}
	}
	return d.list()
}
