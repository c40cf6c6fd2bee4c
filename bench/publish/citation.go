package publish

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// License is what a published set is under, as SPDX names it.
const License = "Apache-2.0"

// A citation is CITATION.cff, of the Citation File Format 1.2.0.
type citation struct {
	Format     string   `yaml:"cff-version"`
	Message    string   `yaml:"message"`
	Type       string   `yaml:"type"`
	Title      string   `yaml:"title"`
	Authors    []author `yaml:"authors"`
	Version    string   `yaml:"version,omitempty"`
	Released   string   `yaml:"date-released"`
	License    string   `yaml:"license"`
	References []work   `yaml:"references"`
}

type author struct {
	Name string `yaml:"name"`
}

type work struct {
	Type    string   `yaml:"type"`
	Title   string   `yaml:"title"`
	Authors []author `yaml:"authors"`
	Version string   `yaml:"version,omitempty"`
	Commit  string   `yaml:"commit,omitempty"`
}

// citation returns how the set is cited: as a data set, which refers to each version of Turnstile that
// made runs.
func (m *maker) citation() string {
	authors := []author{{"The Turnstile authors"}}
	c := citation{Format: "1.2.0",
		Message: "If you use this data set, please cite it and the software that made it.",
		Type:    "dataset", Title: "Runs of Turnstile: " + m.Name, Authors: authors,
		Version: m.last.Format("2006.01.02"), Released: m.last.Format("2006-01-02"),
		License: License}
	software := map[string]work{}
	for _, s := range m.runs {
		v := s.record.Versions
		commit, _, _ := strings.Cut(v["revision"], ",")
		software[v["turnstile"]+" "+v["revision"]] = work{Type: "software", Title: "Turnstile", Authors: authors,
			Version: v["turnstile"], Commit: commit}
	}
	for _, name := range slices.Sorted(maps.Keys(software)) {
		c.References = append(c.References, software[name])
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		panic(err) // it has texts alone
	}
	return string(text)
}
