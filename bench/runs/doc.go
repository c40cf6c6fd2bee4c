// Package runs makes runs, stores them, and reads them back.
//
// [Make] makes the run of a job: it starts processes, or simulates, trial by trial; it stores each history,
// and has it measured and judged. [Try] makes one trial, and stores nothing of a simulated one.
//
// A [Run] is what came of it in memory, a [Record] its run.yaml. [Reopen] makes a run again from its record
// and its histories: so verify judges it, and Run.Audit compares its tables with the stored ones. A
// [Summary] is all that is printed of a run, whether it was just made or read from its folder, and [Compare]
// compares two.
//
// It prints nothing: package report/text does. What columns a table has is known to package results.
package runs
