package results

import "turnstile/judge/measure"

// A FaultRow is what faults.csv says of one fault in one trial: what happened before it began, while it
// lasted and after it was healed. docs/measures.md explains each column.
type FaultRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfFault
}

// An IntervalRow is what timeline.csv says of one of the equal intervals of a trial with faults.
type IntervalRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfInterval
}
