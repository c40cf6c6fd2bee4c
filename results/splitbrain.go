package results

import (
	"io"
	"os"
	"path/filepath"
)

// SplitBrainFile is the file of a comparison of schemes in a partition, in the folder of its set.
const SplitBrainFile = "split-brain.csv"

// A SplitBrainRow is what split-brain.csv says of one scheme in one partition. docs/measures.md explains each
// column.
type SplitBrainRow struct {
	Algorithm string `csv:"algorithm"`
	Kind      string `csv:"kind"` // as in runs.csv
	Nodes     int    `csv:"nodes"`
	Cut       string `csv:"cut"`
	Cuts      string `csv:"cuts"`
	Says      string `csv:"says"`
	Differs   string `csv:"differs"`

	Inconclusive string `csv:"inconclusive"`
	ShowsNothing string `csv:"shows_nothing"` // why; empty: it shows what the other columns say

	LeaderIn string `csv:"leader_in"` // where the leader was when the cut began: minority, majority or a node
	Led      string `csv:"led"`       // who led then

	CutAtS Figure `csv:"cut_at_s"`
	CutS   Figure `csv:"cut_s"`

	Lengthened bool `csv:"lengthened"`

	Leaders string `csv:"leaders"`        // when the cut was healed, side by side
	Changes Figure `csv:"leader_changes"` // how often a node came to lead while the cut lasted

	TwoLeadersS       Figure `csv:"two_leaders_s"`
	TwoLeadersInTermS Figure `csv:"two_leaders_in_term_s"`
	MinorityLedS      Figure `csv:"minority_led_s"`
	SteppedDown       bool   `csv:"stepped_down"`
	AgreedS           Figure `csv:"agreed_s"`
	Messages          Figure `csv:"messages"`

	Run     string `csv:"run"`
	Verdict string `csv:"verdict"`
	Why     string `csv:"why"`
}

// WriteSplitBrain writes the comparison into the folder of a set, and returns its path.
func WriteSplitBrain(root, set string, rows []SplitBrainRow) (path string, err error) {
	path = filepath.Join(root, set, SplitBrainFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return path, unwritable(filepath.Dir(path), err)
	}
	return path, writeFile(path, func(w io.Writer) error { return WriteTable(w, rows) })
}
