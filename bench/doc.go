// Package bench defines a run and judges it.
//
// [Options] describe a run as texts and numbers. [Resolve] parses and completes them, and returns a [Job],
// which nothing parses again. [Simulate] makes a trial of a job on virtual time. Job.Judge returns the fold
// that measures and judges the history of a trial, simulated or real.
//
// Package runs makes and stores runs; package trial makes their trials of real processes, which package site
// starts; package study makes several runs. Package bench imports none of them.
package bench
