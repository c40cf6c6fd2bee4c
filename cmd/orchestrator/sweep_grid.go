package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"turnstile/internal/input"
	"turnstile/internal/suggest"
	"turnstile/internal/yamlfile"
)

// A grid lists configurations: every combination of the values of its flags, without those that are excluded.
type grid struct {
	parts   []part
	exclude []map[string]string // each leaves out the configurations that have all of its values
}

// A part is a grid's flags with their values.
type part struct {
	name  string // empty: the file has no parts
	lists map[string][]string
}

// readGrid reads the file of a sweep. known are the flags that may be lists; own takes those of the sweep.
func readGrid(path string, known []string, own func(string, *yaml.Node) (bool, error)) (*grid, error) {
	b, err := input.Read(path)
	if err != nil {
		return nil, err
	}
	path = input.Name(path)
	var file map[string]yaml.Node
	if err := yaml.Unmarshal(b, &file); err != nil {
		return nil, configError(path, cmp.Or(yamlfile.TabError(b), err))
	}
	g := &grid{}
	all := part{lists: map[string][]string{}}
	for _, key := range slices.Sorted(maps.Keys(file)) {
		node := file[key]
		switch key {
		case "parts":
			err = g.readParts(&node, known)
		case "exclude":
			err = g.readExclude(&node, known)
		default:
			var taken bool
			if taken, err = own(key, &node); !taken && err == nil {
				err = all.add(key, &node, known)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if g.parts == nil {
		g.parts = []part{{}}
	}
	for i, p := range g.parts {
		lists := maps.Clone(all.lists)
		maps.Copy(lists, p.lists)
		g.parts[i].lists = lists
	}
	return g, nil
}

// add adds the values of a flag.
func (p *part) add(flag string, values *yaml.Node, known []string) error {
	if flag == "n" {
		flag = "nodes"
	}
	if !slices.Contains(known, flag) {
		return fmt.Errorf("line %d: there is no setting %s of runs%s", values.Line, flag,
			suggest.Hint(flag, known))
	}
	switch {
	case isValue(values):
		p.lists[flag] = []string{values.Value}
	case isList(values) && len(values.Content) > 0:
		p.lists[flag] = nil
		for _, item := range values.Content {
			p.lists[flag] = append(p.lists[flag], item.Value)
		}
	default:
		return fmt.Errorf("line %d: %s takes a value or a list of values, in quotes if need be", values.Line, flag)
	}
	return nil
}

// readParts reads the parts by their names, each a grid of its own that takes what it lacks from the whole.
func (g *grid) readParts(node *yaml.Node, known []string) error {
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		return fmt.Errorf("line %d: parts takes names, each with settings below it", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		p := part{name: node.Content[i].Value, lists: map[string][]string{}}
		if slices.ContainsFunc(g.parts, func(other part) bool { return other.name == p.name }) {
			return fmt.Errorf("line %d: there are two parts %s", node.Content[i].Line, p.name)
		}
		below := node.Content[i+1]
		if below.Kind != yaml.MappingNode {
			return fmt.Errorf("line %d: the part %s takes settings, as in nodes: [4, 8]", below.Line, p.name)
		}
		for k := 0; k+1 < len(below.Content); k += 2 {
			if err := p.add(below.Content[k].Value, below.Content[k+1], known); err != nil {
				return err
			}
		}
		g.parts = append(g.parts, p)
	}
	return nil
}

// readExclude reads what is left out.
func (g *grid) readExclude(node *yaml.Node, known []string) error {
	if node.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: exclude takes a list, as in - {algo: lamport, nodes: 64}", node.Line)
	}
	for _, item := range node.Content {
		if item.Kind != yaml.MappingNode || len(item.Content) == 0 {
			return fmt.Errorf("line %d: an element of exclude has settings, as in {algo: lamport, nodes: 64}",
				item.Line)
		}
		p := part{lists: map[string][]string{}}
		for k := 0; k+1 < len(item.Content); k += 2 {
			if err := p.add(item.Content[k].Value, item.Content[k+1], known); err != nil {
				return err
			}
		}
		g.exclude = append(g.exclude, product(p.lists)...)
	}
	return nil
}

// override has flags of the command line count instead of the same ones of the file.
func (g *grid) override(lists map[string][]string) {
	for i := range g.parts {
		maps.Copy(g.parts[i].lists, lists)
	}
}

// count returns how many configurations the grid has at most.
func (g *grid) count() float64 {
	sum := 0.0
	for _, p := range g.parts {
		cells := 1.0
		for _, values := range p.lists {
			cells *= float64(len(values))
		}
		sum += cells
	}
	return sum
}

// cells returns the configurations, each once.
func (g *grid) cells() (all []map[string]string, err error) {
	used := make([]bool, len(g.exclude))
	seen := map[string]bool{}
	for _, p := range g.parts {
		for _, cell := range product(p.lists) {
			out := false
			for i, x := range g.exclude {
				if has(cell, x) {
					out, used[i] = true, true
				}
			}
			if text := flagText(cell); !out && !seen[text] {
				seen[text] = true
				all = append(all, cell)
			}
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("exclude: no configuration has %s", flagText(g.exclude[i]))
	}
	if len(all) == 0 {
		return nil, errors.New("no configuration is left: exclude leaves out all")
	}
	return all, nil
}

// has reports whether a configuration has all values of another.
func has(cell, of map[string]string) bool {
	for flag, value := range of {
		if cell[flag] != value {
			return false
		}
	}
	return true
}

// product returns every combination of the values of flags.
func product(lists map[string][]string) []map[string]string {
	all := []map[string]string{{}}
	for _, flag := range slices.Sorted(maps.Keys(lists)) {
		var longer []map[string]string
		for _, cell := range all {
			for _, value := range lists[flag] {
				more := maps.Clone(cell)
				more[flag] = value
				longer = append(longer, more)
			}
		}
		all = longer
	}
	return all
}

// flagText writes a configuration as flags.
func flagText(cell map[string]string) string {
	var words []string
	for _, flag := range slices.Sorted(maps.Keys(cell)) {
		words = append(words, "--"+flag+" "+cell[flag])
	}
	return strings.Join(words, " ")
}
