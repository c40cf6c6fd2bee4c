package results

import (
	"path/filepath"

	"turnstile/internal/figure"
)

// A PipeRow is what pipe.csv says of a lock service: what its node, the lines between the two and the records
// cost one client, against the same client called directly. docs/columns.md explains each column.
type PipeRow struct {
	Service  string        `csv:"service"`
	Pairs    int           `csv:"pairs"` // of measurements, one of each kind
	Testbed  figure.Figure `csv:"testbed_entries_per_s"`
	Direct   figure.Figure `csv:"direct_entries_per_s"`
	Ratio    figure.Figure `csv:"ratio"` // the median of the ratios of all pairs
	Low      figure.Figure `csv:"ratio_low"`
	High     figure.Figure `csv:"ratio_high"`
	Coverage figure.Figure `csv:"interval_coverage"` // the probability that low and high hold the median
	Others   figure.Figure `csv:"others_cpu"`
}

// Pipe reads pipe.csv of the set. The error is fs.ErrNotExist if it has none.
func (s *Set) Pipe() ([]PipeRow, error) { return readRows[PipeRow](filepath.Join(s.Path, PipeFile)) }
