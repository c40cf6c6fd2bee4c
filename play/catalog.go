package play

import (
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"turnstile/algorithms/catalog"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A Catalog lists what the page can begin with.
type Catalog struct {
	Algorithms []Algorithm `json:"algorithms"`
	Stories    []Story     `json:"stories"`
	Challenges []Challenge `json:"challenges"`
}

// An Algorithm is an algorithm for the page.
type Algorithm struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Family  string   `json:"family"`
	Summary string   `json:"summary"`
	Source  string   `json:"source"`
	Flaw    string   `json:"flaw"` // the check that it is known to fail; empty: no flaw is known
	Options []Option `json:"options"`
	Least   int      `json:"least"` // fewest nodes that it takes
}

// An Option is an option of an algorithm.
type Option struct {
	Name    string   `json:"name"`
	Default string   `json:"default"`
	Values  []string `json:"values"` // nil: other values are accepted too
	Means   string   `json:"means"`
}

// A Story is a schedule that the program contains.
type Story struct {
	Path      string `json:"path"` // of a scene: its name
	Algorithm string `json:"algorithm"`
	Title     string `json:"title"`
	Scene     bool   `json:"scene"` // it is a scene for a lecture

	text string
}

// kinds are the names of the kinds of algorithms that the page has.
var kinds = map[nodes.Kind]string{nodes.MutualExclusion: "mutual exclusion", nodes.Election: "election"}

// table has the algorithms that the page knows.
var table catalog.Table

// readCatalog returns the catalog, which it makes once.
var readCatalog = sync.OnceValues(makeCatalog)

// makeCatalog makes the catalog.
func makeCatalog() (*Catalog, error) {
	c := &Catalog{}
	for _, a := range table.Algorithms() {
		c.Algorithms = append(c.Algorithms, described(a))
	}
	var err error
	if c.Stories, err = readStories(); err != nil {
		return nil, err
	}
	if c.Challenges, err = challengesOf(c.Stories); err != nil {
		return nil, err
	}
	scenes, err := readScenes()
	c.Stories = append(scenes, c.Stories...)
	return c, err
}

// described describes an algorithm.
func described(a *algorithm.Algorithm) Algorithm {
	d := Algorithm{Name: a.Name, Kind: kinds[a.Kind], Family: a.Family, Summary: a.Summary, Source: a.Source,
		Flaw: a.Broken().Check, Options: []Option{}, Least: 1}
	for _, o := range a.Options {
		d.Options = append(d.Options, Option{o.Name, o.Default, o.Values, o.Usage})
	}
	for d.Least < mostByHand && a.Validate(a.Explicit(nodes.Config{N: d.Least})) != nil {
		d.Least++
	}
	return d
}

// mostByHand is how many nodes the page has at most while one plays by hand.
const mostByHand = 16

// readStories reads all stories. The folder of a story has the name of its algorithm.
func readStories() (all []Story, err error) {
	for _, name := range catalog.Stories() {
		text, err := storyText(name)
		if err != nil {
			return nil, err
		}
		all = append(all, Story{Path: name, Algorithm: path.Base(path.Dir(name)), Title: titleOf(text), text: text})
	}
	return all, nil
}

// storyText returns the schedule of a story by its path, or of a scene by its name.
func storyText(path string) (string, error) {
	if text, found := Scene(path); found {
		return text, nil
	}
	file, found := catalog.Story(path)
	if !found {
		return "", fmt.Errorf("there is no story %s", path)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	return string(text), err
}

// titleOf returns the title of a story: the first sentence of the comment that it begins with.
func titleOf(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		comment, is := strings.CutPrefix(line, "#")
		if !is {
			break
		}
		for _, word := range strings.Fields(comment) {
			if words = append(words, word); strings.HasSuffix(word, ".") {
				return strings.Join(words, " ")
			}
		}
	}
	return strings.Join(words, " ")
}
