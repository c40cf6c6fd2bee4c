package results

import (
	"embed"
	"slices"
	"sync"

	"turnstile/bench/option"
	"turnstile/internal/yamlfile"
)

// A Description is what there is to know of a column.
type Description struct {
	Name  string
	Unit  string // such as us, share or name
	Is    string
	Empty string // what an empty cell says; empty: no cell is
}

// notMeasured is what an empty cell says unless its column says more.
const notMeasured = "not measured: the run ended before, or nothing of the kind happened"

//go:embed columns.yaml
var columnsFile embed.FS

// described has the descriptions of the columns of each table, by its file.
var described = sync.OnceValue(func() map[string][]Description {
	text, err := columnsFile.ReadFile("columns.yaml")
	var tables map[string][][]*string
	if err == nil {
		err = yamlfile.Decode(text, &tables)
	}
	if err != nil {
		panic(err) // it is part of the program
	}
	all := map[string][]Description{}
	for _, file := range Tables() { // runs.csv first
		for _, l := range tables[file] {
			if len(l) == 1 {
				at := slices.IndexFunc(all[RowsFile], func(d Description) bool { return d.Name == *l[0] })
				all[file] = append(all[file], all[RowsFile][at])
				continue
			}
			d := Description{Name: *l[0], Unit: *l[1], Is: *l[2]}
			if len(l) > 3 && l[3] == nil {
				d.Empty = notMeasured
			} else if len(l) > 3 {
				d.Empty = *l[3]
			}
			all[file] = append(all[file], d)
		}
		if file == RowsFile || file == RatesFile {
			all[file] = withAsked(all[file])
		}
	}
	return all
})

// withAsked returns descriptions with those of the options of runs behind that of nodes. One that is there
// already is the right one.
func withAsked(all []Description) []Description {
	at := 1 + slices.IndexFunc(all, func(d Description) bool { return d.Name == "nodes" })
	for _, c := range option.Columns() {
		d := Description{c.Name, c.Unit, c.Is, c.Empty}
		if i := slices.IndexFunc(all, func(d Description) bool { return d.Name == c.Name }); i >= 0 {
			d = all[i]
			all = slices.Delete(all, i, i+1)
		}
		all = slices.Insert(all, at, d)
		at++
	}
	return all
}

// Tables names the files that have descriptions, in the order of docs/columns.md.
func Tables() []string {
	return slices.Concat(SetTables, StudyTables)
}

// Descriptions returns what there is to know of the columns of a table, given the name of its file.
func Descriptions(file string) []Description { return slices.Clone(described()[file]) }
