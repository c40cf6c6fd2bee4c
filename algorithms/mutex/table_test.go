package mutex

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

func TestTableIsFilledIn(t *testing.T) {
	algotest.Named(t, Table)
	for _, algo := range Table {
		kinds := map[string]bool{}
		for kind, codec := 0, algo.Codec(); kind < codec.Kinds(); kind++ {
			if kinds[codec.Name(kind)] {
				t.Errorf("%s has two messages named %s", algo.Name, codec.Name(kind))
			}
			kinds[codec.Name(kind)] = true
		}
	}
}

// Option names can be flags and columns, defaults are valid values, and one name has one meaning in all
// algorithms.
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
				t.Errorf("%s: %s is %q, and %q of another algorithm", spec.Name, o.Name, o.Usage, known)
			}
			usage[o.Name] = o.Usage
		}
	}
}

// Every quantity in the formula of an algorithm's cost is N or a symbol of the algorithm.
func TestSymbolsOfFormulas(t *testing.T) {
	c := nodes.Config{N: 4}
	symbols := regexp.MustCompile(`\b[0-9]*([A-Z])\b`)
	for _, algo := range Table {
		known := map[string]bool{"N": true}
		for _, s := range algo.Mutex.Symbols {
			known[s.Name] = true
			if s.Value(c) < 1 || s.Says == "" {
				t.Errorf("%s: %s is %d of 4 nodes, %q", algo.Name, s.Name, s.Value(c), s.Says)
			}
		}
		formula := algo.Mutex.Cost(c).Formula
		for _, symbol := range symbols.FindAllStringSubmatch(formula, -1) {
			if !known[symbol[1]] {
				t.Errorf("%s costs %s, and says nowhere what %s is", algo.Name, formula, symbol[1])
			}
		}
	}
}

// An identity that is made from its text names kinds of messages of its algorithm alone.
func TestIdentitiesNameKinds(t *testing.T) {
	for _, algo := range Table {
		for _, c := range configs(algo) {
			kinds := algo.CodecIn(c).Names()
			for _, i := range algo.Mutex.IdentitiesIn(c) {
				for word := range strings.FieldsSeq(i.Says) {
					known := word == "entries" || strings.ContainsAny(word, "+=<>()") || slices.Contains(kinds, word)
					if !known && !strings.Contains(i.Says, ",") {
						t.Errorf("%s, %v: %s: there are no messages %s", algo.Name, c.Given(), i.Says, word)
					}
				}
			}
		}
	}
}

// Wrong values of options are refused, and the error names right ones. If says is empty, the value is right.
func TestOptionsAreRefused(t *testing.T) {
	for _, test := range []struct {
		algorithm     *algorithm.Algorithm
		n             int
		options, says string
	}{
		{&maekawaAlgorithm, 36, "quorums=grid", ""},
		{&maekawaAlgorithm, 32, "quorums=grid", "32 is not one: use 25 or 36, or cyclic"},
		{&maekawaAlgorithm, 43, "quorums=plane",
			"a plane of order 6 does not exist (G. Tarry, 1901; C. Lam, 1989): " +
				"use 31 or 57"},
		{&maekawaAlgorithm, 8, "quorums=plane", "8 is not K(K-1)+1: use 7 or 13, or cyclic"},
		{&maekawaAlgorithm, 183, "quorums=plane", "no plane of order 13 is known here: use 133, or cyclic"},
		{&maekawaAlgorithm, 4, "quorums=gird", "did you mean grid?"},
		{&tokenRingAlgorithm, 3, "order=0,1", "2 of 3 nodes: list each node once"},
		{&tokenRingAlgorithm, 3, "order=0,1,1", "node 1 comes twice"},
		{&tokenRingAlgorithm, 3, "order=0,1,3", `"3" is not a node`},
		{&ricartRetryingAlgorithm, 3, "give-up=0", "0 is not from 1 to 1000"},
		{&ricartRetryingAlgorithm, 3, "give-up=few", `"few" is not a number of tries, such as 5`},
		{&ricartRetryingAlgorithm, 3, "retry=0s", "0s is not from"},
		{&bakeryAlgorithm, 3, "give-up=0", "a peer has at least one try: write never"},
		{&bakeryAlgorithm, 3, "give-up=5 reads=tree", "along a tree a node answers for those below it"},
		{&bakeryAlgorithm, 3, "give-up=5 priority=id", "it needs --priority stamp"},
	} {
		c := nodes.Config{N: test.n}
		for option := range strings.FieldsSeq(test.options) {
			name, value, _ := strings.Cut(option, "=")
			c = c.With(name, value)
		}
		err := test.algorithm.Validate(c)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s of %d, %s: %v, want %q", test.algorithm.Name, test.n, test.options, err, test.says)
		}
	}
}
