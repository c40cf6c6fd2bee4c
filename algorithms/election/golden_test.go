package election

import (
	"fmt"
	"slices"
	"testing"

	"turnstile/judge/rowtest"
	"turnstile/nodes/row"
)

// A form is a mutant or a sound variant of a row, and plays stories of that row too.
type form struct {
	row *row.Row
	rowtest.Form
}

// formOf returns the form of a row that goes by a title; the empty one is the row's.
func formOf(of *row.Row, title string) (rowtest.Form, error) {
	if title == "" {
		return rowtest.Form{Row: of, Sound: of.Flaw == nil}, nil
	}
	for _, f := range slices.Concat(changForms(), bullyForms()) {
		if f.row == of && f.Title == title {
			return f.Form, nil
		}
	}
	return rowtest.Form{}, fmt.Errorf("%s has no form %q: list it in changForms or bullyForms", of.Name, title)
}

// Each schedule in testdata, when played, tells the text below it. With -rewrite, the test writes that text.
func TestGoldensOfElections(t *testing.T) { rowtest.Goldens(t, 2, Find, formOf, nil) }
