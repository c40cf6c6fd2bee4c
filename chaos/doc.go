// Package chaos has the faults that runs inject, and plans of them. It plugs into the hosts through small
// interfaces that package nodes states: [nodes.Shaper], [port.Watcher], [port.FaultDriver] and
// [port.Cluster]. Nothing in nodes knows this package.
//
// A plan is a list of [Fault]s. [Resolve] makes of it what a run with a seed carries out: each fault once,
// with its victims, unless they come out in the run. Then there are three parts, which share a [SharedState]:
//
//   - The [Driver] carries out faults on a cluster, and records them. There is one in a run: in the
//     simulator, or in the orchestrator.
//   - The [Rules] are the faults of links, a shaper. Every node has them, for the messages that it receives.
//   - The [Watcher] fires the faults that wait for something to happen at a node, in that node, so that the
//     moment is exact. Every node has one.
//
// That is shared memory, so a fault is in force from one moment on everywhere, and one of several nodes
// that might fire it does.
//
// A shaper decides the fate of one packet at a time: when its copies arrive, or that none does. It owes this:
//
//   - It draws no random numbers of its own. Each decision is a hash of the seed, the purpose, the link, the
//     kind and the number of the packet. So equal seeds mean the same in a real run and in a simulated one,
//     and a fault that is added or taken away changes no decision of another.
//   - It keeps nothing of the packet.
//   - With a rate of zero it changes nothing.
//
// Hosts number packets, ask for their fates and keep the order of each link, all by [nodes.Links].
package chaos
