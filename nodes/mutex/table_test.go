package mutex

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"turnstile/judge/rowtest"
	"turnstile/nodes"
)

func TestTableIsFilledIn(t *testing.T) {
	rowtest.Named(t, Table)
	for _, row := range Table {
		kinds := map[string]bool{}
		for kind, codec := 0, row.Codec(); kind < codec.Kinds(); kind++ {
			if kinds[codec.Name(kind)] {
				t.Errorf("%s has two messages named %s", row.Name, codec.Name(kind))
			}
			kinds[codec.Name(kind)] = true
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"ricart-agrawala": "ricart-agrawala", "ricart": "ricart-agrawala", "RA": "ricart-agrawala",
		"ring": "token-ring", "sk": "suzuki-kasami", "suzuki": "suzuki-kasami", "Central": "central",
	} {
		row, err := Find(name)
		if err != nil || row.Name != want {
			t.Errorf("Find(%q) = %v, %v; want %s", name, row, err, want)
		}
	}
	all := fmt.Sprintf("ee list for all %d", len(Table))
	for name, want := range map[string]string{
		"ricard": `unknown algorithm "ricard": did you mean ricart-agrawala, ricart-agrawala-ft or ` +
			"ricart-agrawala-view? S" + all,
		"paxos": `unknown algorithm "paxos"; the nearest are lamport, ricart-agrawala and ricart-agrawala-ft: s` +
			all,
	} {
		if _, err := Find(name); err == nil || err.Error() != want {
			t.Errorf("Find(%q): %v\nwant %s", name, err, want)
		}
	}
}

// Options can be flags and columns, have a value if none is given, and mean one thing by one name.
func TestOptions(t *testing.T) {
	usage := map[string]string{}
	for _, spec := range Table {
		for _, o := range spec.Options {
			if !regexp.MustCompile("^[a-z]+(-[a-z]+)*$").MatchString(o.Name) {
				t.Errorf("%s: the option %q is no name in small letters and dashes", spec.Name, o.Name)
			}
			if o.Values != nil && !slices.Contains(o.Values, o.Default) {
				t.Errorf("%s: %s does not take its default, %q", spec.Name, o.Name, o.Default)
			}
			if known, ok := usage[o.Name]; ok && known != o.Usage {
				t.Errorf("%s: %s is %q, and %q of another row", spec.Name, o.Name, o.Usage, known)
			}
			usage[o.Name] = o.Usage
		}
	}
}

// Whatever stands for a quantity in the formula of a row's cost is N or a symbol of the row.
func TestSymbolsOfFormulas(t *testing.T) {
	c := nodes.Config{N: 4}
	symbols := regexp.MustCompile(`\b[0-9]*([A-Z])\b`)
	for _, row := range Table {
		known := map[string]bool{"N": true}
		for _, s := range row.Mutex.Symbols {
			known[s.Name] = true
			if s.Value(c) < 1 || s.Says == "" {
				t.Errorf("%s: %s is %d of 4 nodes, %q", row.Name, s.Name, s.Value(c), s.Says)
			}
		}
		formula := row.Mutex.Cost(c).Formula
		for _, symbol := range symbols.FindAllStringSubmatch(formula, -1) {
			if !known[symbol[1]] {
				t.Errorf("%s costs %s, and says nowhere what %s is", row.Name, formula, symbol[1])
			}
		}
	}
}

// An identity that is made from its text names kinds of messages of its row alone.
func TestIdentitiesNameKinds(t *testing.T) {
	for _, row := range Table {
		for _, c := range configs(row) {
			kinds := row.CodecIn(c).Names()
			for _, i := range row.Mutex.IdentitiesIn(c) {
				for word := range strings.FieldsSeq(i.Says) {
					known := word == "entries" || strings.ContainsAny(word, "+=<>()") || slices.Contains(kinds, word)
					if !known && !strings.Contains(i.Says, ",") {
						t.Errorf("%s, %v: %s: there are no messages %s", row.Name, c.Given(), i.Says, word)
					}
				}
			}
		}
	}
}
