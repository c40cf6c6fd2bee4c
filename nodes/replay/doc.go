// Package replay plays one order of the events of a small cluster, on the machines that are measured in
// processes, simulated and explored.
//
// A [Schedule] is that order: a list of steps, as text that people can read and write; its documentation has
// the language. [Parse] reads one. [Play] plays it until a promise is broken, tells what happens, and makes a
// history of it for the checks of all runs. The order is all that counts: a step takes a millisecond of the
// history, which means nothing.
//
// An exploration steps on a [Stage] itself, so that it can write the steps down as it makes them.
//
// The package's example plays a schedule.
package replay
