package results

import "turnstile/internal/figure"

// MatrixFile is the file of a fault matrix, in the folder of its set.
const MatrixFile = "matrix.csv"

// A MatrixRow is what matrix.csv says of one algorithm under one fault. docs/measures.md explains each
// column.
type MatrixRow struct {
	Algorithm    string `csv:"algorithm"`
	Fault        string `csv:"fault"` // name of the plan
	Kind         string `csv:"kind"`  // as in runs.csv
	May          string `csv:"may"`   // outcomes, by their letters
	Shown        string `csv:"shown"`
	Differs      bool   `csv:"differs"`
	Runs         int    `csv:"runs"`
	Recovered    int    `csv:"recovered"` // runs
	Starved      int    `csv:"starved"`
	Blocked      int    `csv:"blocked"`
	Broke        int    `csv:"broke"`
	Unhit        int    `csv:"unhit"`
	Inconclusive int    `csv:"inconclusive"`

	NextEntryS     figure.Figure `csv:"next_entry_s"` // medians of the runs that recovered
	OldRateS       figure.Figure `csv:"old_rate_s"`
	WaitMaxS       figure.Figure `csv:"wait_max_s"` // the longest of all runs that recovered
	MessagesBefore figure.Figure `csv:"messages_per_entry_before"`
	MessagesDuring figure.Figure `csv:"messages_per_entry_during"`
	MessagesAfter  figure.Figure `csv:"messages_per_entry_after"`
	AcceptedDuring figure.Figure `csv:"accepted_during"` // entries during the first fault
	RefusedDuring  figure.Figure `csv:"refused_during"`
	OverlapUS      figure.Figure `csv:"overlap_us"` // the longest of all runs

	AgreedS      figure.Figure `csv:"agreed_s"`       // of electors: the median of the runs that recovered
	LeaderlessUS figure.Figure `csv:"leaderless_us"`  // the same
	TwoLeadersUS figure.Figure `csv:"two_leaders_us"` // the longest of all runs

	Seed    uint64 `csv:"seed"`    // of the first run that differs or, if none does, of the first
	Run     string `csv:"run"`     // its folder, if it was stored
	Waiting string `csv:"waiting"` // at its end: clients, or nodes without a leader, with spaces between
	Reason  string `csv:"reason"`  // what its verdict says
	Why     string `csv:"why"`     // the row says that it may
}
