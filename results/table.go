package results

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/option"
)

// A cellError is an error at a place in a table.
type cellError struct {
	File         string
	Line, Column int    // counted from 1; Column counts bytes, and is 0 if the error is about the whole line
	Header       string // the header of the cell; empty: the error is not about one cell
	What         string
}

func (e *cellError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:", e.File, e.Line)
	if e.Column > 0 {
		fmt.Fprintf(&b, "%d:", e.Column)
	}
	if e.Header != "" {
		fmt.Fprintf(&b, " %s:", e.Header)
	}
	return b.String() + " " + e.What
}

// A column is a field of a row, or one option in the field that holds the options. The column of bounds has
// no field.
type column struct {
	header   string
	field    []int
	inner    []int  // index in a ByPhase field: the phase, and the figure in the phase
	figures  bool   // the column holds figures
	options  bool   // the field is the map of all options
	key      string // the key in the map of cells of option.Table; empty: the field is not this map
	zero     any    // the zero value of a cell of key
	owner    []int  // for options: the field with the name of the algorithm that has them
	audience string
	outside  bool // not made from histories: a name, or words that another commit may choose differently
}

// BoundsColumn is the last column of every table with figures. Its cell names the columns whose figure in the
// row is only a lower bound, with spaces between. So each cell of a figure is a number, or empty.
const BoundsColumn = "at_least"

// withBounds appends the BoundsColumn, if any column has figures.
func withBounds(columns []column) []column {
	if slices.ContainsFunc(columns, func(c column) bool { return c.figures }) {
		return append(columns, column{header: BoundsColumn})
	}
	return columns
}

// tables has the columns of each type of row, once they were asked for.
var tables sync.Map // of []column, by reflect.Type

// columnsOf returns the columns of rows of type t, a struct. All callers share them, so nobody changes them.
func columnsOf(t reflect.Type) []column {
	all, known := tables.Load(t)
	if !known {
		all, _ = tables.LoadOrStore(t, slices.Clip(readColumns(t)))
	}
	return all.([]column)
}

// readColumns returns the columns of rows of type t, a struct. A field with a csv tag is a column with that
// header; ",outside" after the header means that the column does not come from histories, and the tag "of"
// names its audience. The header * marks the map of options: its column has no header yet. The header **
// marks the cells of option.Table. A measure.ByPhase becomes a column for each figure of each phase.
func readColumns(t reflect.Type) []column {
	var all []column
	for _, f := range reflect.VisibleFields(t) {
		header, outside, _ := strings.Cut(f.Tag.Get("csv"), ",")
		c := column{header: header, field: f.Index, audience: f.Tag.Get("of"), outside: outside == "outside",
			figures: f.Type == reflect.TypeFor[figure.Figure]()}
		switch {
		case f.Anonymous || header == "":
		case f.Type.Kind() == reflect.Array:
			all = append(all, byPhase(f, c)...)
		case header == "**":
			for o, of := range option.Columns() {
				zero := of.Zero()
				_, figures := zero.(figure.Figure)
				all = append(all, column{header: of.Name, field: f.Index, key: of.Name, zero: zero, figures: figures})
				if !of.All {
					all[len(all)-1].audience = o.For
				}
			}
		case header == "*":
			owner, _ := t.FieldByName("Algorithm")
			all = append(all, column{field: f.Index, options: true, owner: owner.Index})
		default:
			all = append(all, c)
		}
	}
	return all
}

// byPhase returns the columns of a measure.ByPhase. They are copies of c with other headers.
func byPhase(f reflect.StructField, c column) (all []column) {
	c.figures = true
	for i, phase := range measure.Phases {
		if only := f.Tag.Get("phases"); only != "" && !strings.Contains(only, phase) {
			continue
		}
		one := c
		one.header, one.inner = strings.Replace(c.header, "*", phase, 1), []int{i}
		if f.Type.Elem() == reflect.TypeFor[figure.Figure]() {
			all = append(all, one)
			continue
		}
		for _, part := range reflect.VisibleFields(f.Type.Elem()) {
			of := one
			of.header, of.inner = one.header+part.Tag.Get("csv"), []int{i, part.Index[0]}
			all = append(all, of)
		}
	}
	return all
}

// in returns the value of a row in the column, to be read or set. After setting it, call put.
func (c *column) in(row reflect.Value) reflect.Value {
	v := row.FieldByIndex(c.field)
	if c.key != "" {
		at := reflect.New(reflect.TypeOf(c.zero)).Elem()
		if cell := v.MapIndex(reflect.ValueOf(c.key)); cell.IsValid() {
			at.Set(cell.Elem())
		}
		return at
	}
	if len(c.inner) > 0 {
		v = v.Index(c.inner[0])
	}
	if len(c.inner) > 1 {
		v = v.Field(c.inner[1])
	}
	return v
}

// put stores a value that in returned, if the value belongs into a map.
func (c *column) put(row, v reflect.Value) {
	if c.key == "" || v.IsZero() {
		return
	}
	cells := row.FieldByIndex(c.field)
	if cells.IsNil() {
		cells.Set(reflect.ValueOf(map[string]any{}))
	}
	cells.SetMapIndex(reflect.ValueOf(c.key), v)
}

// of returns the value of a row in the column.
func (c *column) of(row reflect.Value) any {
	v := c.in(row).Interface()
	if c.options {
		return v.(map[string]string)[c.option(row, nil)]
	}
	return v
}

// Cells iterates over the columns of a row by header, including its options. A cell that does not concern the
// row is the zero value.
func Cells(row any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		at := reflect.New(reflect.TypeOf(row)).Elem()
		at.Set(reflect.ValueOf(row))
		columns := withOptions(columnsOf(at.Type()), at)
		others := foreignTo(at, columns)
		for _, c := range columns {
			v := c.of(at)
			if slices.Contains(others, c.audience) {
				v = reflect.Zero(reflect.TypeOf(v)).Interface()
			}
			if !yield(c.header, v) {
				return
			}
		}
	}
}

// WriteTable writes rows below a line of headers: the columns that concern any row. A cell that does not
// concern its row is empty.
func WriteTable[T any](w io.Writer, rows []T) error {
	columns := columnsFor(rows)
	return writeRows(w, rows, columns, func(row reflect.Value) []string { return foreignTo(row, columns) })
}

// writeRows writes the cells of rows. foreign returns the audiences to which a row does not belong; its cells
// in their columns are empty.
func writeRows[T any](w io.Writer, rows []T, columns []column,
	foreign func(row reflect.Value) []string) error {
	out := csv.NewWriter(w)
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.header
	}
	out.Write(record) // out keeps the first error until Flush
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		others := foreign(row)
		var bounds []string
		for j := range columns {
			c := &columns[j]
			record[j] = ""
			switch {
			case c.header == BoundsColumn:
				record[j] = strings.Join(bounds, " ")
				continue
			case slices.Contains(others, c.audience):
				continue
			}
			v := c.of(row)
			if f, is := v.(figure.Figure); is && f.IsBound() {
				bounds = append(bounds, c.header)
			}
			record[j] = cell(v)
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

// oneLine replaces line ends by spaces, so that a row stays on one line, for people and for tools that read
// lines.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

func cell(v any) string {
	if f, is := v.(figure.Figure); is {
		return f.Text()
	}
	return oneLine.Replace(fmt.Sprint(v))
}

// readTable reads the output of WriteTable. It finds cells by their header, ignores columns that neither T
// nor the options know, and leaves cells of missing columns empty. The options are as in Folder.Rows. Errors
// contain name as the name of the file.
func readTable[T any](name string, r io.Reader, options ...string) ([]T, error) {
	in := csv.NewReader(r)
	header, err := in.Read()
	if err == io.EOF {
		return nil, &cellError{File: name, Line: 1, What: "the file is empty: it lacks even its headers"}
	}
	if err != nil {
		return nil, tableError(name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // some spreadsheets begin files with a byte order mark
	columns, err := match(name, header, columnsOf(reflect.TypeFor[T]()))
	if err != nil {
		return nil, err
	}
	var rows []T
	older := !slices.Contains(header, string(AllMessagesPerEntry))
	for {
		record, err := in.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, tableError(name, err)
		}
		var row T
		if i, err := readRow(reflect.ValueOf(&row).Elem(), columns, record, options); err != nil {
			line, column := in.FieldPos(i)
			return nil, &cellError{name, line, column, header[i], err.Error()}
		}
		if figures, are := any(&row).(interface{ Complete() }); are && older {
			figures.Complete()
		}
		rows = append(rows, row)
	}
}

// readRow sets the cells of a row from a record. columns[i] is the column of cell i; nil: an unknown column.
// An error is about cell i, the returned index.
func readRow(row reflect.Value, columns []*column, record, options []string) (i int, err error) {
	bounds := -1
	for i, c := range columns {
		switch {
		case c == nil || c.options:
		case c.header == BoundsColumn:
			bounds = i
		default:
			if err := c.set(row, record[i]); err != nil {
				return i, err
			}
		}
	}
	for i, c := range columns { // options come last, since they depend on the algorithm
		if c != nil && c.options {
			c.setOption(row, record[i], options)
		}
	}
	if bounds < 0 {
		return 0, nil
	}
	for _, name := range strings.Fields(record[bounds]) {
		i := slices.IndexFunc(columns, func(c *column) bool { return c != nil && !c.options && c.header == name })
		if i < 0 {
			continue // an unknown column is ignored
		}
		f, is := columns[i].of(row).(figure.Figure)
		x, known := f.Value()
		if !is || !known {
			return bounds, fmt.Errorf("%s has no number", name)
		}
		v := columns[i].in(row)
		v.Set(reflect.ValueOf(figure.AtLeast(x)))
		columns[i].put(row, v)
	}
	return 0, nil
}

// AsStored returns rows as they would be read back after all their columns are written, with figures rounded
// as in cells.
func AsStored[T any](rows []T) []T {
	if len(rows) == 0 {
		return nil
	}
	var b bytes.Buffer
	err := writeRows(&b, rows, withBounds(withOptionsOf(rows)), func(reflect.Value) []string { return nil })
	if err != nil {
		panic(err) // writing to memory does not fail
	}
	stored, err := readTable[T]("", &b)
	if err != nil {
		panic(err) // a test makes sure that every column can be read back
	}
	return stored
}

// match returns the column of each header; nil: an unknown column. If rows have options, any other header may
// be an option.
func match(name string, header []string, columns []column) ([]*column, error) {
	options := slices.IndexFunc(columns, func(c column) bool { return c.options })
	columns = withBounds(columns)
	byHeader := map[string]*column{}
	for i := range columns {
		if c := &columns[i]; !c.options {
			byHeader[c.header] = c
		}
	}
	matched := make([]*column, len(header))
	known := false
	for i, h := range header {
		c := byHeader[h]
		switch {
		case c == nil && options < 0:
			continue
		case c == nil:
			if !slices.ContainsFunc(columns, func(c column) bool { return c.header == OptionColumn(h) }) {
				matched[i] = columns[options].named(h)
			}
			continue
		case slices.Contains(header[:i], h):
			return nil, &cellError{name, 1, 0, h, "two columns have this header"}
		}
		matched[i], known = c, true
	}
	if !known {
		return nil, &cellError{File: name, Line: 1, What: "none of the headers is known"}
	}
	return matched, nil
}

// set sets the cell of a row in the column from its text.
func (c *column) set(row reflect.Value, text string) error {
	v := c.in(row)
	defer c.put(row, v)
	if to, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return to.UnmarshalText([]byte(text))
	}
	if v.Kind() == reflect.String {
		v.SetString(oneLine.Replace(text))
		return nil
	}
	if text == "" {
		return nil
	}
	var err error
	switch v.Kind() {
	case reflect.Int:
		var n int
		n, err = strconv.Atoi(text)
		v.SetInt(int64(n))
	case reflect.Uint64:
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
	case reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(text)
		v.SetBool(b)
	}
	if err != nil {
		return fmt.Errorf("%q is %s", text, insteadOf[v.Kind()])
	}
	return nil
}

var insteadOf = map[reflect.Kind]string{
	reflect.Int:    "no whole number",
	reflect.Uint64: "no whole number from 0",
	reflect.Bool:   "neither true nor false",
}

func tableError(name string, err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if errors.Is(err, csv.ErrFieldCount) {
		return &cellError{File: name, Line: parse.Line, What: "this line has more or fewer cells than the headers"}
	}
	return &cellError{File: name, Line: parse.Line, Column: parse.Column, What: parse.Err.Error()}
}
