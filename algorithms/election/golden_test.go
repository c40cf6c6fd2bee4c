package election

import (
	"fmt"
	"slices"
	"testing"

	"turnstile/judge/algotest"
	"turnstile/nodes/algorithm"
)

// A form is a mutant or a sound variant of an algorithm, and plays stories of that algorithm too.
type form struct {
	algorithm *algorithm.Algorithm
	algotest.Form
}

// formOf returns the form of an algorithm with a title; an empty title means the algorithm itself.
func formOf(of *algorithm.Algorithm, title string) (algotest.Form, error) {
	if title == "" {
		return algotest.Form{Algorithm: of, Sound: of.Flaw == nil}, nil
	}
	for _, f := range slices.Concat(changForms(), bullyForms()) {
		if f.algorithm == of && f.Title == title {
			return f.Form, nil
		}
	}
	return algotest.Form{}, fmt.Errorf("%s has no form %q: list it in changForms or bullyForms", of.Name, title)
}

// Each schedule in testdata, when played, tells the text below it. With -rewrite, the test writes that text.
func TestGoldensOfElections(t *testing.T) { algotest.Goldens(t, 2, Find, formOf, nil) }
