// Package history is what a run leaves behind: events, one after another, and what each node counted beside
// them. Every figure and every verdict is made from that later, and from nothing else.
//
// # From processes to a history
//
// A process appends its events to a [Log], a mapped file, in which they survive its sudden death. The
// orchestrator's own log is its [Journal]; it reads the counters of the others while they run by [Watch].
// When all is over, [Store] merges the logs into one compressed file. A simulated run has no logs: it writes
// a [File] as it goes.
//
// If hosts have several clocks, [WriteClocks] puts the measured offsets beside the logs. A merge of the logs
// corrects their stamps with the offsets, and adds a [ClockBound] for the error that is left.
//
// # Reading one
//
// [Open] takes either: a stored file, or the folder of logs that a killed orchestrator left behind. A
// [Reader] gives the history to folds. It owes them this:
//
//   - Events come in the order of time; those of one time in the order of their nodes, the orchestrator
//     (nodes.None) first; those of one node as it recorded them.
//   - Close is called once, after the last event, with what each node left beside its events.
//   - What is cut off, garbled or of another format is an error that says where, and never taken for
//     something else. Run returns it instead of closing the folds. A half-written event at the end of a log
//     is no error: its writer died there.
//
// A [Fold] owes that it takes no memory for each event: a history may have any number of them.
//
// What each event says is documented at its [Kind]; docs/result-files.md describes the bytes. The package's
// example writes a history, and counts the entries in it.
package history
