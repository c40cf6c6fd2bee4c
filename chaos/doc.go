// Package chaos has the faults that runs inject: shapers that delay, lose and duplicate messages. They plug
// into the hosts through the interface [nodes.Shaper]. Nothing in nodes knows this package.
//
// A shaper decides the fate of one packet at a time: when its copies arrive, or that none does. It owes this:
//
//   - It draws no random numbers of its own. Each decision is a hash of the seed, the purpose, the link, the
//     kind and the number of the packet. So equal seeds mean the same in a real run and in a simulated one,
//     and a fault that is added or taken away changes no decision of another.
//   - It keeps nothing of the packet, and no state between packets.
//   - With a rate of zero it changes nothing.
//
// Shapers compose: [Loss] and [Duplication] decide their own matter and leave the rest to another shaper,
// down to a [Latency] or a [RegionalLatency]. A [Network] says in plain data what a run wants, and makes the
// shaper of it.
//
// Hosts number packets, ask for their fates and keep the order of each link, all by [nodes.Links].
package chaos
