// Package catalog lists the rows of all kinds of algorithms, for code that takes any, and finds what runs
// beside them.
package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"turnstile/algorithms/detector"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/row"
)

// All returns the rows of mutual exclusion and of election, in the order of their tables.
func All() []*row.Row { return slices.Concat(mutex.Table, election.Table) }

// OptionNames lists the options of all rows.
func OptionNames() (names []string) {
	for _, o := range row.Options(All()) {
		names = append(names, o.Name)
	}
	return names
}

// Find returns the row with this name or alias.
func Find(name string) (*row.Row, error) { return row.Find("algorithm", All(), name) }

// Story returns the story of a row by its path from the root of a clone, if it exists.
func Story(path string) (story fs.File, found bool) {
	for folder, files := range map[string]embed.FS{"algorithms/mutex": mutex.Stories,
		"algorithms/election": election.Stories} {
		name, in := strings.CutPrefix(path, folder+"/")
		if story, err := files.Open(name); in && err == nil {
			return story, true
		}
	}
	return nil, false
}

// Of returns the row of a run: of the algorithm with this name, or of the foreign program or service that
// its configuration names.
func Of(name string, c nodes.Config) (*row.Row, error) {
	if foreign.Is(c) {
		return foreign.Row(c)
	}
	return Find(name)
}

// Elector returns the elector that an algorithm follows in this configuration, for a run with such delays:
// see row.ParseInstance.
func Elector(c nodes.Config, d nodes.Delays) (row.Instance, error) {
	in, err := row.ParseInstance("scheme of election", election.Table, c.Elect, c.N, d)
	if err != nil {
		return in, fmt.Errorf("elect: %w", err)
	}
	return in, nil
}

// A Part is an instance of a stack as data, as sent to a node process.
type Part struct {
	Row    string       `json:"row"` // its name
	Config nodes.Config `json:"config"`
}

// PartsOf returns the instances of a stack as data.
func PartsOf(s *row.Stack) (all []Part) {
	for _, in := range s.Instances() {
		all = append(all, Part{Row: in.Name, Config: in.Config})
	}
	return all
}

// Assemble returns the stack with these instances.
func Assemble(parts []Part) (*row.Stack, error) {
	var all []row.Instance
	for _, p := range parts {
		found, err := rowOf(p)
		if err != nil {
			return nil, err
		}
		all = append(all, row.Instance{Row: found, Config: p.Config})
	}
	if len(all) == 0 {
		return nil, errors.New("a node without machines: it needs at least one")
	}
	return row.Assemble(all[0], all[1:]...)
}

// rowOf returns the row of an instance.
func rowOf(p Part) (*row.Row, error) {
	if foreign.Is(p.Config) {
		return foreign.Row(p.Config)
	}
	return row.Find("algorithm", append(All(), detector.Table...), p.Row)
}
