package results

import (
	"encoding"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// A CellError says where in a table something stands that cannot be read.
type CellError struct {
	File         string
	Line, Column int    // from 1; Column counts bytes, and zero is the whole line
	Header       string // of the cell, if it is about one
	What         string
}

func (e *CellError) Error() string {
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

// WriteTable writes rows, structs whose fields have csv tags, below a line of headers.
func WriteTable[T any](w io.Writer, rows []T) error {
	out := csv.NewWriter(w)
	headers := headersOf(reflect.TypeFor[T]())
	out.Write(headers) // out keeps the first error until Flush
	record := make([]string, len(headers))
	for _, row := range rows {
		v := reflect.ValueOf(row)
		for i := range record {
			record[i] = cell(v.Field(i))
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

func headersOf(t reflect.Type) []string {
	headers := make([]string, t.NumField())
	for i := range headers {
		headers[i] = t.Field(i).Tag.Get("csv")
	}
	return headers
}

// oneLine keeps a row on one line, for people and for line-wise tools.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

func cell(v reflect.Value) string {
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	if v.Kind() == reflect.String {
		return oneLine.Replace(v.String())
	}
	return fmt.Sprint(v.Interface())
}

// ReadTable reads what WriteTable wrote, now or long ago: cells are found by their header, columns
// that T does not know are passed over, and those that are missing are left empty. name is what
// errors call the file.
func ReadTable[T any](name string, r io.Reader) ([]T, error) {
	in := csv.NewReader(r)
	header, err := in.Read()
	if err == io.EOF {
		return nil, &CellError{File: name, Line: 1, What: "the file is empty: it lacks even its headers"}
	}
	if err != nil {
		return nil, tableError(name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // which spreadsheets put in front
	fields, err := fieldsOf(name, reflect.TypeFor[T](), header)
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
		v := reflect.ValueOf(&row).Elem()
		for i, field := range fields {
			if field < 0 {
				continue
			}
			if err := setCell(v.Field(field), record[i]); err != nil {
				line, column := in.FieldPos(i)
				return nil, &CellError{name, line, column, header[i], err.Error()}
			}
		}
		rows = append(rows, row)
	}
}

// fieldsOf returns, for each header, the field of t that its column fills, or -1.
func fieldsOf(name string, t reflect.Type, header []string) ([]int, error) {
	byName := map[string]int{}
	for i, h := range headersOf(t) {
		byName[h] = i
	}
	fields := make([]int, len(header))
	seen := map[string]bool{}
	for i, h := range header {
		field, known := byName[h]
		if !known {
			fields[i] = -1
			continue
		}
		if seen[h] {
			return nil, &CellError{name, 1, 0, h, "two columns have this header"}
		}
		seen[h], fields[i] = true, field
	}
	if len(seen) == 0 {
		return nil, &CellError{File: name, Line: 1, What: "none of the headers is known"}
	}
	return fields, nil
}

func setCell(v reflect.Value, text string) error {
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
		return &CellError{File: name, Line: parse.Line, What: "this line has more or fewer cells than the headers"}
	}
	return &CellError{File: name, Line: parse.Line, Column: parse.Column, What: parse.Err.Error()}
}
