// Package section folds a history into sections: what became of each request. Measures and checks are made
// from the same sections, so that waits, overlaps and the window mean the same in figures and in verdicts.
//
// A [Fold] takes events in the order of time, and then what each node counted. It tells each [Observer] of a
// request, an entry and an end as they come, with the [Section] that they are about, and keeps of all that
// only what is open. Besides, it keeps what both sides need: the [Window] that is measured, each [Resource]
// with the overlaps of its sections, pauses, deaths of nodes, what failure detectors found, and faults.
//
// It knows neither what a figure is called nor what an algorithm promises.
package section
