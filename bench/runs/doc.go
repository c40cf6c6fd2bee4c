// Package runs makes runs, stores them, and reads them back.
//
// [Make] makes the run of a job: it starts processes, or simulates, trial by trial; it stores each history,
// measures it and judges it. [Try] makes one trial; if it is simulated, Try stores nothing.
//
// A [Run] is the result in memory, and a [Record] is its run.yaml. [Reopen] makes a Run again from its record
// and its histories: verify judges it again, and Run.Audit compares its tables with the stored ones. A
// [Summary] has all that is printed of a run, whether it was just made or read from its folder. [Compare]
// compares two summaries.
//
// This package prints nothing: package report/text does. Package results knows the columns of the tables.
package runs
