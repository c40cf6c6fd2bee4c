// Package catalog joins the tables of all kinds of algorithms to one [Table]. A program may add algorithms.
// It finds the algorithm of a run, and the elector and the detector beside it.
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
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
)

// A Table lists the algorithms that a program knows. The zero Table has the algorithms of this project alone.
// A program makes its table as it starts, and hands it to all code that looks algorithms up.
type Table struct{ own []*algorithm.Algorithm }

// With returns a table with the algorithms of this project, and then the program's own. It returns an error
// if one of these lacks a field or has the name of another.
func With(own ...*algorithm.Algorithm) (Table, error) {
	t := Table{}
	for _, algo := range own {
		if algo == nil {
			return Table{}, errors.New("an algorithm is nil: write &turnstile.Algorithm{...}")
		}
		if err := algo.CheckOwn(); err != nil {
			return Table{}, err
		}
		for _, name := range append([]string{algo.Name}, algo.Aliases...) {
			if other, err := algorithm.Find("algorithm", t.all(), name); err == nil {
				return Table{}, fmt.Errorf("the algorithm %s has the name %q, which %s has too: take another",
					algo.Name, name, other.Name)
			}
		}
		t.own = append(t.own, algo)
	}
	return t, nil
}

// Algorithms returns the algorithms of mutual exclusion and of election, in the order of their tables, and
// then the program's own algorithms.
func (t Table) Algorithms() []*algorithm.Algorithm {
	return slices.Concat(mutex.Table, election.Table, t.of(nodes.MutualExclusion), t.of(nodes.Election))
}

// Electors returns the schemes of election.
func (t Table) Electors() []*algorithm.Algorithm {
	return slices.Concat(election.Table, t.of(nodes.Election))
}

// Detectors returns the failure detectors.
func (t Table) Detectors() []*algorithm.Algorithm {
	return slices.Concat(detector.Table, t.of(nodes.Detection))
}

// Own reports whether an algorithm is one of the program's own, not of this project.
func (t Table) Own(algo *algorithm.Algorithm) bool { return slices.Contains(t.own, algo) }

// Check returns an error that names the fields that an algorithm lacks. An algorithm of this project needs
// more fields than one of the program's own.
func (t Table) Check(algo *algorithm.Algorithm) error {
	if t.Own(algo) {
		return algo.CheckOwn()
	}
	return algo.Check()
}

// all returns the algorithms of every kind.
func (t Table) all() []*algorithm.Algorithm { return append(t.Algorithms(), t.Detectors()...) }

// of returns the program's own algorithms of a kind.
func (t Table) of(kind nodes.Kind) (algos []*algorithm.Algorithm) {
	for _, algo := range t.own {
		if algo.Kind == kind {
			algos = append(algos, algo)
		}
	}
	return algos
}

// OptionNames lists the options of all algorithms. It leaves out options of failure detectors.
func (t Table) OptionNames() (names []string) {
	for _, o := range algorithm.Options(t.Algorithms()) {
		names = append(names, o.Name)
	}
	return names
}

// Find returns the algorithm that has the name, or has it as an alias.
func (t Table) Find(name string) (*algorithm.Algorithm, error) {
	return algorithm.Find("algorithm", t.Algorithms(), name)
}

// ParseDetector returns the failure detector that a text names, for n nodes and a run with the delays d: see
// algorithm.ParseInstance.
func (t Table) ParseDetector(text string, n int, d nodes.Delays) (algorithm.Instance, error) {
	in, err := algorithm.ParseInstance("failure detector", t.Detectors(), text, n, d)
	if err != nil {
		return in, fmt.Errorf("detector: %w", err)
	}
	return in, nil
}

// FindElector returns the scheme of election that has the name, or has it as an alias.
func (t Table) FindElector(name string) (*algorithm.Algorithm, error) {
	return algorithm.Find("scheme", t.Electors(), name)
}

const schemeOfElection = "scheme of election"

// stories returns the files of stories, by folder.
func stories() map[string]embed.FS {
	return map[string]embed.FS{"algorithms/mutex": mutex.Stories, "algorithms/election": election.Stories}
}

// Stories lists the paths of all stories, in alphabetical order: see Story.
func Stories() (paths []string) {
	for folder, files := range stories() {
		// An embedded folder can be read.
		_ = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				paths = append(paths, folder+"/"+path)
			}
			return err
		})
	}
	slices.Sort(paths)
	return paths
}

// Story opens the file of an algorithm's story (a schedule) by its path in a clone, if there is such a file.
func Story(path string) (story fs.File, found bool) {
	for folder, files := range stories() {
		name, in := strings.CutPrefix(path, folder+"/")
		if story, err := files.Open(name); in && err == nil {
			return story, true
		}
	}
	return nil, false
}

// Of returns the algorithm of a run: the one with the given name, or that of the foreign program or the
// service which the configuration names.
func (t Table) Of(name string, c nodes.Config) (*algorithm.Algorithm, error) {
	if foreign.Is(c) {
		return foreign.Algorithm(c)
	}
	return t.Find(name)
}

// Elector returns the elector that an algorithm follows in this configuration, for a run with the delays d:
// see algorithm.ParseInstance.
func (t Table) Elector(c nodes.Config, d nodes.Delays) (algorithm.Instance, error) {
	in, err := algorithm.ParseInstance(schemeOfElection, t.Electors(), c.Elect, c.N, d)
	if err != nil {
		return in, fmt.Errorf("elect: %w", err)
	}
	return in, nil
}

// A Part is an instance of a stack as data, as sent to a node process.
type Part struct {
	Algorithm string       `json:"algorithm"` // its name
	Config    nodes.Config `json:"config"`
}

// PartsOf returns the instances of a stack as data.
func PartsOf(s *algorithm.Stack) (all []Part) {
	for _, in := range s.Instances() {
		all = append(all, Part{Algorithm: in.Name, Config: in.Config})
	}
	return all
}

// Assemble returns the stack that consists of these instances.
func (t Table) Assemble(parts []Part) (*algorithm.Stack, error) {
	var all []algorithm.Instance
	for _, p := range parts {
		found, err := t.algorithmOf(p)
		if err != nil {
			return nil, err
		}
		all = append(all, algorithm.Instance{Algorithm: found, Config: p.Config})
	}
	if len(all) == 0 {
		return nil, errors.New("a node without machines: it needs at least one")
	}
	return algorithm.Assemble(all[0], all[1:]...)
}

// algorithmOf returns the algorithm of an instance.
func (t Table) algorithmOf(p Part) (*algorithm.Algorithm, error) {
	if foreign.Is(p.Config) {
		return foreign.Algorithm(p.Config)
	}
	return algorithm.Find("algorithm", t.all(), p.Algorithm)
}
