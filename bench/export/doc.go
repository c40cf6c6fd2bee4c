// Package export writes what happened in a run for other programs: entries as CSV, one row each; steps of
// nodes with vector clocks, as ShiViz reads them; and what took time, as events of Chrome's trace format,
// which Perfetto opens.
package export
