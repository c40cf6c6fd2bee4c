// Package catalog lists the rows of all kinds of algorithms, for code that takes rows of any kind, and finds
// the elector and the detector that run beside an algorithm.
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

// A Table lists the rows that a program knows. The zero Table has the rows of this project alone. A program
// makes its table as it starts, and hands it to all code that looks rows up.
type Table struct{ own []*row.Row }

// With returns a table with the rows of this project, and then the given rows. It returns an error if a given
// row lacks a field or has the name of another row.
func With(own ...*row.Row) (Table, error) {
	t := Table{}
	for _, r := range own {
		if r == nil {
			return Table{}, errors.New("a row is nil: write &turnstile.Row{...}")
		}
		if err := r.CheckOwn(); err != nil {
			return Table{}, err
		}
		for _, name := range append([]string{r.Name}, r.Aliases...) {
			if other, err := row.Find("algorithm", t.all(), name); err == nil {
				return Table{}, fmt.Errorf("the row %s has the name %q, which the row %s has too: take another",
					r.Name, name, other.Name)
			}
		}
		t.own = append(t.own, r)
	}
	return t, nil
}

// Rows returns the rows of mutual exclusion and of election, in the order of their tables, and then the
// program's own rows.
func (t Table) Rows() []*row.Row {
	return slices.Concat(mutex.Table, election.Table, t.of(nodes.MutualExclusion), t.of(nodes.Election))
}

// Electors returns the rows of election.
func (t Table) Electors() []*row.Row { return slices.Concat(election.Table, t.of(nodes.Election)) }

// Detectors returns the rows of failure detectors.
func (t Table) Detectors() []*row.Row { return slices.Concat(detector.Table, t.of(nodes.Detection)) }

// Own reports whether a row is one of the program's own, not of this project.
func (t Table) Own(r *row.Row) bool { return slices.Contains(t.own, r) }

// Check returns an error that names the fields that a row lacks. A row of this project needs more fields than
// one of the program's own.
func (t Table) Check(r *row.Row) error {
	if t.Own(r) {
		return r.CheckOwn()
	}
	return r.Check()
}

// all returns the rows of every kind.
func (t Table) all() []*row.Row { return append(t.Rows(), t.Detectors()...) }

// of returns the program's own rows of a kind.
func (t Table) of(kind nodes.Kind) (rows []*row.Row) {
	for _, r := range t.own {
		if r.Kind == kind {
			rows = append(rows, r)
		}
	}
	return rows
}

// OptionNames lists the options of all algorithms. It leaves out options of failure detectors.
func (t Table) OptionNames() (names []string) {
	for _, o := range row.Options(t.Rows()) {
		names = append(names, o.Name)
	}
	return names
}

// Find returns the row of the algorithm that has the name, or has it as an alias.
func (t Table) Find(name string) (*row.Row, error) { return row.Find("algorithm", t.Rows(), name) }

// ParseDetector returns the failure detector that a text names, for n nodes and a run with the delays d: see
// row.ParseInstance.
func (t Table) ParseDetector(text string, n int, d nodes.Delays) (row.Instance, error) {
	in, err := row.ParseInstance("failure detector", t.Detectors(), text, n, d)
	if err != nil {
		return in, fmt.Errorf("detector: %w", err)
	}
	return in, nil
}

// FindElector returns the row of the scheme of election that has the name.
func (t Table) FindElector(name string) (*row.Row, error) {
	return row.Find("scheme", t.Electors(), name)
}

const schemeOfElection = "scheme of election"

// Story opens the file of a row's story (a schedule) by its path in a clone, if there is such a file.
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

// Of returns the row of a run: of the algorithm with the given name, or of the foreign program or the service
// that the configuration names.
func (t Table) Of(name string, c nodes.Config) (*row.Row, error) {
	if foreign.Is(c) {
		return foreign.Row(c)
	}
	return t.Find(name)
}

// Elector returns the elector that an algorithm follows in this configuration, for a run with the delays d:
// see row.ParseInstance.
func (t Table) Elector(c nodes.Config, d nodes.Delays) (row.Instance, error) {
	in, err := row.ParseInstance(schemeOfElection, t.Electors(), c.Elect, c.N, d)
	if err != nil {
		return in, fmt.Errorf("elect: %w", err)
	}
	return in, nil
}

// A Part is an instance of a stack as data, as sent to a node process.
type Part struct {
	Row    string       `json:"row"` // the name of the row
	Config nodes.Config `json:"config"`
}

// PartsOf returns the instances of a stack as data.
func PartsOf(s *row.Stack) (all []Part) {
	for _, in := range s.Instances() {
		all = append(all, Part{Row: in.Name, Config: in.Config})
	}
	return all
}

// Assemble returns the stack that consists of these instances.
func (t Table) Assemble(parts []Part) (*row.Stack, error) {
	var all []row.Instance
	for _, p := range parts {
		found, err := t.rowOf(p)
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
func (t Table) rowOf(p Part) (*row.Row, error) {
	if foreign.Is(p.Config) {
		return foreign.Row(p.Config)
	}
	return row.Find("algorithm", t.all(), p.Row)
}
