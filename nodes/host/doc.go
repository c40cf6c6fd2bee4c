// Package host runs one node in real time, over NATS, usually in its own process. One goroutine owns the
// machines; the subscription and the timers post to it.
//
// # Duties of an orchestrator
//
// [Run] runs the node of a [Config] until it is told to quit. Its caller provides
//
//   - a NATS server, whose address and credential are in the Config;
//   - the file of the shared [Resource], made by [CreateResource] with a place for each mutex and client;
//     or a resource process with [Books], and the address of its broker;
//   - a path for the node's log, and one zero of time for all nodes, by CLOCK_MONOTONIC;
//   - the same [turnstile/nodes.Stack] at every node;
//   - orders, by a pipe. Once a node has subscribed to its subjects, it sends a [Note] that it is ready, by
//     another pipe. When all are ready, [Issue] makes them begin; [Quit] makes them close their logs and end.
//     No message is handled before the order Issue or Ask.
//
// # Guarantees of the host
//
//   - Requests, entries and exits are in the log before any message that follows from them is sent. The log
//     is a mapped file, so it survives SIGKILL; package history reads it.
//   - A save survives SIGKILL as well. It is durable before later effects: before messages are sent, and
//     before the client enters. The process of the node's next incarnation recovers it: see Config.Saved. For
//     the cost of a save: go test -run '^$' -bench Save ./nodes/host.
//   - The counters of the log can be read while the node runs (history.Watch). Effects of a message are
//     counted before the message counts as delivered, and effects of an entry before its exit counts. So if
//     all requests are over and all messages delivered, the run is at rest; history.Counters gives the order
//     in which to read them.
//   - Orders are obeyed before messages are handled, and counted in the log. A node that is told to [Report]
//     answers once it has handled all messages that the broker had for it, and all timers that were due.
//   - Messages of one link are handled in the order sent, also under injected latency (at the receiver),
//     unless a fault reorders them. Each message carries the incarnation of its sender, and its number in a
//     stream of this incarnation. Gaps and repetitions without a fault are counted.
//   - A node with Config.Reconnect survives the loss of its broker. Messages that it sends meanwhile are
//     refused and counted, never sent late. If either end of a stream has reconnected, this explains a gap
//     before the next message of the stream, up to the stream's floor (see history.Log.Floor): [Restored]
//     sets the floors, once all nodes are connected.
//   - Two witnesses of mutual exclusion surround every critical section: a register of the units taken, and
//     an account that each client reads and writes one higher. A lost update (lost money) implies overlapping
//     sections, which imply a register above the capacity. If a resource process keeps the two, the node asks
//     it, and a question is pending until it is answered (see history.Counters).
//   - An error that the node cannot recover from (the broker is gone without Reconnect, the disk is full, a
//     message is garbled, the orders end) ends Run, which returns it.
//
// A machine that panics takes its process down; the log survives.
//
// The package's example plays the orchestrator of two nodes.
package host
