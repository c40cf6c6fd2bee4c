// Package sim runs a whole cluster on virtual time, in one loop: the nodes that [turnstile/nodes/host] runs
// in processes, up to a hundred thousand of them, with every fault that can be injected.
//
// # The contract
//
// [Run] takes [Options] and makes the history that the logs of real processes would have, so the same
// measures and checks apply to it. It guarantees:
//
//   - Equal options give equal histories, byte for byte, on every architecture, unless the run is
//     interrupted. Each random decision is a hash of the seed and its purpose: adding a node or removing a
//     fault changes no other decision.
//   - Events happen in the order of time; of events with equal times, the event planned first comes first.
//     Only messages, timers, critical sections, thinking and polls take time.
//   - Messages of one link arrive in the order sent, unless Reordering is set or the Shaper reorders them.
//   - A message is lost unless the receiver stays up from the sending to the handling of the message. It
//     arrives after its latency, and may then wait for the application of its node: see [workload.Receive].
//   - When an assumption about the system is broken (a message is lost, a node crashes), an event records it,
//     so a check can tell what an algorithm did outside its model.
//   - A machine that panics ends the run with a [Panic]. The history has all that happened before.
//
// A run ends by itself: after Duration, or after Entries, issuing stops, and the run goes on until no event
// is left. If a client still waits then, or Patience messages and timers were handled without an entry, the
// run has stalled, and Result.Stall has the wait-for graph.
//
// # What plugs in
//
// A [nodes.Shaper] decides when each message arrives, and in how many copies; a [port.FaultDriver] crashes
// and pauses nodes; package chaos has both. The clients follow a [workload.Workload].
//
// The package's example runs an algorithm for a hundred entries and counts its messages.
package sim
