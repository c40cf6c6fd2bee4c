package experiment

import (
	"testing"

	"turnstile/judge/check"
	"turnstile/nodes/catalog"
	"turnstile/nodes/replay"
)

// Each row that is known to be broken names a check, and runs of the row make that check.
func TestBrokenRowsFailChecksThatExist(t *testing.T) {
	for _, row := range catalog.All() {
		if row.Flaw != nil && !check.ProblemOf(row).Has(row.Broken().Check) {
			t.Errorf("%s is known to fail %s, which no check is called", row.Name, row.Broken().Check)
		}
	}
}

// The explorer and the checks of a run use the same names.
func TestTheExplorerNamesWhatChecksName(t *testing.T) {
	for of, names := range map[*check.Problem][]string{
		check.Exclusion: {replay.CheckExclusion, replay.CheckFairness, replay.CheckMinority},
		check.Election:  {replay.CheckLeaders, replay.CheckTerms, replay.CheckAgreement},
	} {
		for _, name := range names {
			if !of.Has(name) {
				t.Errorf("no check of %s is called %s", of.Many, name)
			}
		}
	}
}
