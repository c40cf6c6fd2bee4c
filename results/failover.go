package results

import (
	"path/filepath"

	"turnstile/internal/figure"
)

// A FailoverRow is what failover.csv says of a service with one ttl under one fault: the time from the
// beginning of the fault to the next entry or, of electors, to the next leader. docs/columns.md explains each
// column.
type FailoverRow struct {
	Service  string        `csv:"service"`
	Line     string        `csv:"line"`    // with the options that do not depend on the ttl
	Options  string        `csv:"options"` // name=value, with spaces between
	Server   string        `csv:"server_version"`
	Client   string        `csv:"client_version"`
	AskedS   figure.Figure `csv:"ttl_asked_s"`
	GrantedS figure.Figure `csv:"ttl_granted_s"`
	Fault    string        `csv:"fault"`
	Plan     string        `csv:"plan"` // the faults in words
	Runs     int           `csv:"runs"` // that count
	Missed   int           `csv:"not_recovered"`
	LeftOut  int           `csv:"left_out"`

	MedianS  figure.Figure `csv:"next_s"`
	LowS     figure.Figure `csv:"next_low_s"`
	HighS    figure.Figure `csv:"next_high_s"`
	Interval string        `csv:"interval"` // what low and high are
	LeastS   figure.Figure `csv:"next_min_s"`
	MostS    figure.Figure `csv:"next_max_s"`
	Run      string        `csv:"run"`    // the folder of the longest
	Reason   string        `csv:"reason"` // why there is no figure, or why runs do not count
}

// Failover reads failover.csv of the set. The error is fs.ErrNotExist if it has none.
func (s *Set) Failover() ([]FailoverRow, error) {
	return readRows[FailoverRow](filepath.Join(s.Path, FailoverFile))
}
