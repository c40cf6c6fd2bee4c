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

	"turnstile/internal/figure"
	"turnstile/judge/measure"
)

// A cellError says where in a table there is something that cannot be read.
type cellError struct {
	File         string
	Line, Column int    // from 1; Column counts bytes, and zero is the whole line
	Header       string // of the cell, if it is about one
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

// A column is a field of a row, or an option in the field that holds them by their names. The column of
// bounds has neither.
type column struct {
	header  string
	field   []int
	inner   []int // in that, its phase, and which figure of the phase
	figures bool  // it holds figures
	option  string
	outside bool   // no history holds it: a name, or words that another version may choose otherwise
	since   string // its figures mean what they do since there is a column of this name; empty: they always have
	where   string // in rows in which this figure, or that of since if empty, is not 0
}

// BoundsColumn ends every table that has figures: it names the columns of the row whose figure is a lower
// bound only, with spaces between. So each cell of a figure is a number, or empty.
const BoundsColumn = "at_least"

// tableColumns returns the columns of a table whose rows are of type t.
func tableColumns(t reflect.Type, options []string) []column {
	columns := columnsOf(t, options)
	if slices.ContainsFunc(columns, func(c column) bool { return c.figures }) {
		columns = append(columns, column{header: BoundsColumn})
	}
	return columns
}

// columnsOf returns the columns of rows of type t, structs whose fields have their header as a csv tag, with
// ",outside" behind it if they come from outside the histories. A field with the tag * holds options, and
// becomes a column for each of them; a measure.ByPhase becomes one for each figure of each phase. The tags
// since and where are of figures that once meant something else.
func columnsOf(t reflect.Type, options []string) []column {
	var all []column
	for _, f := range reflect.VisibleFields(t) {
		switch header, outside, _ := strings.Cut(f.Tag.Get("csv"), ","); {
		case f.Anonymous:
		case f.Type.Kind() == reflect.Array:
			all = append(all, byPhase(f)...)
		case header == "*":
			for _, o := range options {
				all = append(all, column{header: OptionColumn(o), field: f.Index, option: o})
			}
		default:
			all = append(all, column{header: header, field: f.Index, outside: outside == "outside",
				figures: f.Type == reflect.TypeFor[figure.Figure](),
				since:   f.Tag.Get("since"), where: f.Tag.Get("where")})
		}
	}
	return all
}

// byPhase returns the columns of a measure.ByPhase.
func byPhase(f reflect.StructField) (all []column) {
	for i, phase := range measure.Phases {
		if only := f.Tag.Get("phases"); only != "" && !strings.Contains(only, phase) {
			continue
		}
		c := column{header: strings.Replace(f.Tag.Get("csv"), "*", phase, 1), field: f.Index, inner: []int{i},
			figures: true, since: f.Tag.Get("since"), where: f.Tag.Get("where")}
		if f.Type.Elem() == reflect.TypeFor[figure.Figure]() {
			all = append(all, c)
			continue
		}
		for _, part := range reflect.VisibleFields(f.Type.Elem()) {
			one := c
			one.header, one.inner = c.header+part.Tag.Get("csv"), []int{i, part.Index[0]}
			all = append(all, one)
		}
	}
	return all
}

// in returns where a row has the column.
func (c *column) in(row reflect.Value) reflect.Value {
	v := row.FieldByIndex(c.field)
	if len(c.inner) > 0 {
		v = v.Index(c.inner[0])
	}
	if len(c.inner) > 1 {
		v = v.Field(c.inner[1])
	}
	return v
}

// of returns what a row has in the column.
func (c *column) of(row reflect.Value) any {
	v := c.in(row).Interface()
	if c.option != "" {
		return v.(map[string]string)[c.option]
	}
	return v
}

// Cells yields what a row has in each column, by its header. Each of the options is a column of a Row.
func Cells(row any, options ...string) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, c := range columnsOf(reflect.TypeOf(row), options) {
			if !yield(c.header, c.of(reflect.ValueOf(row))) {
				return
			}
		}
	}
}

// WriteTable writes rows below a line of headers, with a column for each of the options.
func WriteTable[T any](w io.Writer, rows []T, options ...string) error {
	out := csv.NewWriter(w)
	columns := tableColumns(reflect.TypeFor[T](), options)
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.header
	}
	out.Write(record) // out keeps the first error until Flush
	for _, row := range rows {
		var bounds []string
		for i, c := range columns {
			if c.header == BoundsColumn {
				record[i] = strings.Join(bounds, " ")
				continue
			}
			v := c.of(reflect.ValueOf(row))
			if f, is := v.(figure.Figure); is && f.IsBound() {
				bounds = append(bounds, c.header)
			}
			record[i] = cell(v)
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

// oneLine keeps a row on one line, for people and for tools that read lines.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

func cell(v any) string {
	if f, is := v.(figure.Figure); is {
		return f.Text()
	}
	return oneLine.Replace(fmt.Sprint(v))
}

// readTable reads what WriteTable wrote, now or long ago: cells are found by their header, columns that
// neither T nor the options know are ignored, and those that are missing are left empty. name is what
// errors call the file.
func readTable[T any](name string, r io.Reader, options ...string) ([]T, error) {
	in := csv.NewReader(r)
	header, err := in.Read()
	if err == io.EOF {
		return nil, &cellError{File: name, Line: 1, What: "the file is empty: it lacks even its headers"}
	}
	if err != nil {
		return nil, tableError(name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // which spreadsheets write first
	columns, err := match(name, header, tableColumns(reflect.TypeFor[T](), options))
	if err != nil {
		return nil, err
	}
	var rows []T
	for {
		record, err := in.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, tableError(name, err)
		}
		var row T
		if i, err := readRow(reflect.ValueOf(&row).Elem(), columns, record); err != nil {
			line, column := in.FieldPos(i)
			return nil, &cellError{name, line, column, header[i], err.Error()}
		}
		rows = append(rows, row)
	}
}

// readRow gives a row its cells. The columns are those of the record; nil: it is unknown. An error is that of
// cell i.
func readRow(row reflect.Value, columns []*column, record []string) (i int, err error) {
	bounds := -1
	for i, c := range columns {
		switch {
		case c == nil:
		case c.header == BoundsColumn:
			bounds = i
		default:
			if err := c.set(row, record[i]); err != nil {
				return i, err
			}
		}
	}
	if bounds < 0 { // an older version wrote it
		return 0, nil
	}
	for _, name := range strings.Fields(record[bounds]) {
		i := slices.IndexFunc(columns, func(c *column) bool { return c != nil && c.header == name })
		if i < 0 {
			continue // as of any column that is unknown
		}
		f, is := columns[i].of(row).(figure.Figure)
		x, known := f.Value()
		if !is || !known {
			return bounds, fmt.Errorf("%s has no number", name)
		}
		columns[i].in(row).Set(reflect.ValueOf(figure.AtLeast(x)))
	}
	return 0, nil
}

// AsStored returns rows as they are read back when they have been written, figures rounded as in cells.
func AsStored[T any](rows []T, options ...string) []T {
	var b bytes.Buffer
	if err := WriteTable(&b, rows, options...); err != nil {
		panic(err) // memory takes all
	}
	stored, err := readTable[T]("", &b, options...)
	if err != nil {
		panic(err) // what was written can be read: a test holds every column to it
	}
	return stored
}

// match returns, for each header, the column that it names, or nil.
func match(name string, header []string, columns []column) ([]*column, error) {
	matched := make([]*column, len(header))
	known := false
	for i, h := range header {
		at := slices.IndexFunc(columns, func(c column) bool { return c.header == h })
		if at < 0 {
			continue
		}
		if slices.Contains(header[:i], h) {
			return nil, &cellError{name, 1, 0, h, "two columns have this header"}
		}
		matched[i], known = &columns[at], true
	}
	if !known {
		return nil, &cellError{File: name, Line: 1, What: "none of the headers is known"}
	}
	return matched, nil
}

// set gives a row its cell in the column.
func (c *column) set(row reflect.Value, text string) error {
	v := c.in(row)
	if c.option != "" {
		if text == "" {
			return nil
		}
		if v.IsNil() {
			v.Set(reflect.ValueOf(map[string]string{}))
		}
		v.SetMapIndex(reflect.ValueOf(c.option), reflect.ValueOf(oneLine.Replace(text)))
		return nil
	}
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
