package campaign

import (
	"fmt"

	"turnstile/internal/english"
	"turnstile/nodes"
)

// A Tally counts the results of one row.
type Tally struct {
	Spec    *nodes.Spec
	Plans   int
	Inside  int // of them stayed inside its model
	Entries uint64
	Elected uint64 // elections that were completed
	Caught  int    // show what is known to be wrong with it
	Of      [Classes]int
}

// Tallied counts results by their rows, which are in the order of rows.
func Tallied(rows []*nodes.Spec, results []*Result) (all []Tally) {
	for _, row := range rows {
		t := Tally{Spec: row}
		for _, r := range results {
			if r.Spec != row {
				continue
			}
			t.Plans++
			t.Of[r.Class]++
			t.Entries += r.Verdict.Entries
			t.Elected += r.Elected
			if r.Inside() {
				t.Inside++
			}
			if row.Broken != "" && r.Caught() {
				t.Caught++
			}
		}
		all = append(all, t)
	}
	return all
}

// enough is how many plans show something of a row, and how many one may take to be caught that is known to
// be broken; and rarely, if it is an elector that breaks when somebody crashes in one place of an election.
// Of the rarest, one in some 250 shows it.
const (
	enough = 20
	rarely = 3000
)

// enoughOf returns which of these it is for a row.
func enoughOf(row *nodes.Spec) int {
	if row.Leads != nil && row.BrokenBy != 0 {
		return rarely
	}
	return enough
}

// Lacks says what the results of a row do not show though they must, if anything is: that a third of its
// plans stayed inside its model, or what is known to be wrong with it.
func (t *Tally) Lacks() string {
	switch {
	case t.Plans >= enough && 3*t.Inside < t.Plans:
		return fmt.Sprintf("%s: %d of %s stayed inside its model, less than a third", t.Spec.Name, t.Inside,
			english.Count(t.Plans, "plan", "plans"))
	case t.Spec.Broken != "" && t.Plans >= enoughOf(t.Spec) && t.Caught == 0:
		return fmt.Sprintf("%s: it is known to be broken (%s), and %s did not show it", t.Spec.Name,
			t.Spec.Broken, english.Count(t.Plans, "plan", "plans"))
	}
	return ""
}
