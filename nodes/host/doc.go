// Package host runs one node in real time, over NATS: in a process of its own as a rule. One goroutine owns
// the machines; the subscription and the timers post to it.
//
// # What an orchestrator owes
//
// [Run] runs the node that a [Config] describes until it is told to quit. Whoever calls it provides
//
//   - a NATS server, whose address and credential are in the Config;
//   - the file of the shared [Resource], made by [CreateResource] with a place for each mutex and client;
//     or a process that keeps [Books] of the same, and the address of its broker;
//   - a path for the node's log, and one zero of time for all nodes, by CLOCK_MONOTONIC;
//   - the same [turnstile/nodes.Stack] at every node;
//   - orders, by a pipe. A node that hears its subjects sends a [Note] that it is ready, by another. When all
//     are, [Issue] has them begin, and [Quit] has them close their logs and end. No message is handled before
//     the order to Issue, or to Ask, has come.
//
// # What the host owes
//
//   - Requests, entries and exits are in the log before anything that follows from them is sent. The log is a
//     mapped file, so it survives SIGKILL; package history reads it.
//   - What a machine saves is safe from SIGKILL as well, before anything is sent that it asks for later, and
//     before its client enters. The process of the node's next incarnation recovers it: see Config.Saved. For
//     what a save costs: go test -run '^$' -bench Save ./nodes/host.
//   - The counters of the log can be read while the node runs (history.Watch). What a message causes is
//     counted before the message counts as delivered, and what an entry causes before its exit counts. So if
//     all requests are over and all messages delivered, the run is at rest; history.Counters says in which
//     order to read them.
//   - Orders are obeyed before messages are handled, and counted in the log. A node that is told to [Report]
//     answers once it has handled all messages that the broker had for it, and done all that was due.
//   - Messages of one link are handled in the order sent, also under injected latency, which acts at the
//     receiver. Each carries its number in its stream, and the incarnation of its sender, which has streams
//     of its own; a gap or a repetition that no fault made is counted.
//   - A node with Config.Reconnect outlives its broker. What it sends meanwhile is refused and counted, and
//     nothing is sent late. A gap before the first message of a stream since either end was connected again
//     is explained by that, up to the stream's floor (see Log.Floor of package history): [Restored] sets the
//     floors, once all nodes are connected.
//   - Two witnesses of exclusion are kept around every critical section: a register of the units that are
//     taken, and an account that every entry reads and writes one higher. Money lost implies overlapping
//     sections, which imply a register above the capacity. If a process keeps them, they are asked of it, and
//     a question is pending until it is answered (see history.Counters).
//   - An error that the node cannot go on from (the broker is gone and it is not to reconnect, the disk is
//     full, a message is garbled, the orders end) ends Run and is its result.
//
// A machine that panics takes its process down, and the log shows where the run was.
//
// The package's example plays the orchestrator of two nodes.
package host
