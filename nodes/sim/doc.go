// Package sim runs a whole cluster on virtual time, in one loop: the nodes that [turnstile/nodes/host] runs
// in processes, up to a hundred thousand of them, with every fault that can be injected.
//
// # The contract
//
// [Run] takes [Options] and gives the history that the logs of real processes would have made, so that the
// same measures and checks apply to it. It owes this:
//
//   - Equal options give equal histories, byte for byte, on every architecture, unless the run is
//     interrupted. All that is random is a hash of the seed and of what it is for: one node more, or one
//     fault fewer, changes no other decision.
//   - Of what is due, the earliest happens first, and of equal times what was planned first. Only messages,
//     timers, critical sections, thinking and polls take time.
//   - Messages of one link arrive in the order sent, unless Reordering is set.
//   - A message is lost unless its receiver stays up from when it was sent until it is handled. It arrives
//     after its latency, and may wait then for the application of its node: see [workload.Receive].
//   - When an assumption about the system stops holding (a message is lost, a node crashes), an event says
//     so, so that a check can tell what an algorithm did outside its model.
//   - A machine that panics ends the run with a [Panic]. What happened before is in the history.
//
// A run ends by itself: after Duration, or so many Entries, issuing stops, and the run goes on until nothing
// is left to happen. If somebody still waits then, or Patience messages were handled and timers ran out
// without an entry, the run has stalled, and Result.Stall says who waits for whom.
//
// # What plugs in
//
// A [nodes.Shaper] decides when each message arrives, and how many copies of it do; package chaos has some.
// Crashes are given by node and time. The clients follow a [workload.Workload].
//
// The package's example runs an algorithm for a hundred entries and counts its messages.
package sim
