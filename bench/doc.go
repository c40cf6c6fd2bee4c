// Package bench has what a run is, and judges it.
//
// [Options] say what a run is to be, as texts and numbers. [Resolve] reads them once, completes them, and
// returns a [Job], which nothing parses again. [Simulate] makes a trial of a job on virtual time; Job.Judge
// returns the fold that measures and judges the history of a trial, simulated or real.
//
// Package runs makes and stores runs, of trials that package trial makes of real processes, which package
// site starts; package study makes several. None of them is known here.
package bench
