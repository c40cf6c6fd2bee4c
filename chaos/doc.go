// Package chaos has the faults that runs inject, and plans of them. It plugs into the hosts through small
// interfaces that package nodes states: [nodes.Shaper], [port.Watcher], [port.FaultDriver] and
// [port.Cluster]. Nothing in nodes knows this package.
//
// A plan is a list of [Fault]s. [Resolve] turns it into the faults that a run with a seed carries out: each
// takes place once, and names its victims unless the run determines them (as for kill: holder). Three parts
// carry them out, and share a [SharedState]:
//
//   - The [Driver] carries out faults on a cluster, and records them. A run has one: in the simulator, or in
//     the orchestrator.
//   - The [Rules] are the faults of links, a shaper. Every node has them, for the messages that it receives.
//   - The [Watcher] fires the faults that wait for an event at a node. Every node has a Watcher, so that a
//     fault begins exactly at the event.
//
// The state is shared memory: a fault comes into force everywhere at once, and exactly one node fires it.
//
// A shaper decides the fate of one packet at a time: when its copies arrive, or that it is lost. Its
// contract:
//
//   - It has no random generator. Each decision is a hash of seed, purpose, link, and the kind and
//     number of the packet. So equal seeds mean the same in a real run and in a simulated one, and adding or
//     removing a fault changes no decision of another.
//   - It keeps no reference to the packet.
//   - With a rate of zero it changes nothing.
//
// Hosts number packets, ask for their fates and keep the order of each link, all through [nodes.Links].
package chaos
