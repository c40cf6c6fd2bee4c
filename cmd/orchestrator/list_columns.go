package main

import (
	"errors"
	"fmt"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/nodes/catalog"
	"turnstile/results"
)

// A columnEntry is what list --columns says of one column.
type columnEntry struct {
	File  string `json:"file"`
	Name  string `json:"column"`
	Unit  string `json:"unit"`
	Is    string `json:"is"`
	Empty string `json:"empty"` // what an empty cell says; empty: no cell is
}

// columnEntries returns the columns of all tables, or those of a name, which may be that of a table.
func columnEntries(name string) (all []columnEntry, err error) {
	var known []string
	for _, file := range results.Tables() {
		known = append(known, file)
		for _, d := range results.Descriptions(file) {
			if known = append(known, d.Name); name == "" || name == d.Name || name == file {
				all = append(all, columnEntry{file, d.Name, d.Unit, d.Is, d.Empty})
			}
		}
	}
	for _, row := range catalog.All() {
		for _, o := range row.Options {
			column := results.OptionColumnOf(row.Name, o.Name)
			if known = append(known, column); name == column {
				all = append(all, columnEntry{results.RowsFile, column, "as in the flag",
					fmt.Sprintf("option --%s of %s: %s", o.Name, row.Name, o.Usage), "a run of another algorithm"})
			}
		}
	}
	if len(all) == 0 {
		hint := suggest.List{Names: known, By: "list --columns"}.Hint(name)
		return nil, fmt.Errorf("--columns: there is no table or column %q%s", name, hint)
	}
	return all, nil
}

// listColumns prints what the columns of result files are.
func (a *app) listColumns(names []string, asJSON, markdown bool) error {
	if markdown {
		return errors.New("--columns and --markdown ask for different outputs: leave out one of the two; " +
			"docs/columns.md has the columns as tables")
	}
	all, err := columnEntries(strings.Join(names, ""))
	switch {
	case err != nil:
		return err
	case asJSON:
		return terminal.PrintJSON(a.stdout, all)
	}
	var t terminal.Table
	file := ""
	for _, c := range all {
		if c.File != file {
			file = c.File
			t.Add(file)
		}
		says := strings.ReplaceAll(c.Is, "`", "")
		if c.Empty != "" {
			says += "; empty: " + c.Empty
		}
		t.Add("  "+c.Name, c.Unit, says)
	}
	return t.Print(a.stdout)
}
