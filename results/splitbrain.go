package results

import "turnstile/internal/figure"

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

	CutAtS figure.Figure `csv:"cut_at_s"`
	CutS   figure.Figure `csv:"cut_s"`

	Lengthened bool `csv:"lengthened"`

	Leaders string        `csv:"leaders"`        // when the cut was healed, side by side
	Changes figure.Figure `csv:"leader_changes"` // how often a node came to lead while the cut lasted

	TwoLeadersS       figure.Figure `csv:"two_leaders_s"`
	TwoLeadersInTermS figure.Figure `csv:"two_leaders_in_term_s"`
	MinorityLedS      figure.Figure `csv:"minority_led_s"`
	SteppedDown       bool          `csv:"stepped_down"`
	AgreedS           figure.Figure `csv:"agreed_s"`
	Messages          figure.Figure `csv:"messages"`

	Run     string `csv:"run"`
	Verdict string `csv:"verdict"`
	Why     string `csv:"why"`
}
