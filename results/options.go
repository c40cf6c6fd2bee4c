package results

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// OptionColumn names an option in conditions and groups, where trials of several algorithms may have it.
// Older files have columns of these names.
func OptionColumn(option string) string { return strings.ReplaceAll(option, "-", "_") }

// OptionColumnOf names the column that an option of an algorithm has in files.
func OptionColumnOf(algorithm, option string) string { return OptionColumn(algorithm + "_" + option) }

// optionIn returns which option of an algorithm a column has: the column of files or, if plain names it, that
// of the option alone. Nothing: none.
func optionIn(header, algorithm string, plain []string) string {
	if name, is := strings.CutPrefix(header, OptionColumn(algorithm)+"_"); is && name != "" && algorithm != "" {
		return oneLine.Replace(strings.ReplaceAll(name, "_", "-"))
	}
	at := slices.IndexFunc(plain, func(o string) bool { return OptionColumn(o) == header })
	if at < 0 {
		return ""
	}
	return plain[at]
}

// named returns a column of options with a header.
func (c column) named(header string) *column {
	c.header = header
	return &c
}

// option returns which option of a row the column has; nothing: none. plain are those that the column may
// name without their algorithm.
func (c *column) option(row reflect.Value, plain []string) string {
	return optionIn(c.header, row.FieldByIndex(c.owner).String(), plain)
}

// setOption gives a row its cell, if the column has an option of its algorithm.
func (c *column) setOption(row reflect.Value, text string, plain []string) {
	name := c.option(row, plain)
	if text == "" || name == "" {
		return
	}
	v := c.in(row)
	if v.IsNil() {
		v.Set(reflect.ValueOf(map[string]string{}))
	}
	v.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(oneLine.Replace(text)))
}

// withOptions puts the columns of the options that some rows have in the place of the column of options.
func withOptions(columns []column, rows ...reflect.Value) []column {
	at := slices.IndexFunc(columns, func(c column) bool { return c.options })
	if at < 0 {
		return columns
	}
	headers := map[string]bool{}
	var all []column
	for _, row := range rows {
		algorithm := row.FieldByIndex(columns[at].owner).String()
		for option := range columns[at].in(row).Interface().(map[string]string) {
			if h := OptionColumnOf(algorithm, option); !headers[h] {
				headers[h] = true
				all = append(all, *columns[at].named(h))
			}
		}
	}
	slices.SortFunc(all, func(a, b column) int { return cmp.Compare(a.header, b.header) })
	return slices.Replace(columns, at, at+1, all...)
}

// withOptionsOf returns the columns of rows, with those of the options that they have.
func withOptionsOf[T any](rows []T) []column {
	values := make([]reflect.Value, len(rows))
	for i := range rows {
		values[i] = reflect.ValueOf(&rows[i]).Elem()
	}
	return withOptions(columnsOf(reflect.TypeFor[T]()), values...)
}
