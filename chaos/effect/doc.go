// Package effect has one file for each fault: what goes wrong, as a struct whose exported fields are keys of
// plans. [Kinds] lists them. The keys of plans, flags and completion follow from that table.
//
// A fault of links implements [Effect] and [OnLinks]. A fault that strikes nodes, brokers or servers
// implements [OnMembers]: one effect serves all roles, and a kind for each role says which assumptions it
// breaks there. A fault of connections, routes or networks implements [OnConnections]: it returns the
// strain that the cluster puts on some links. An effect of the latter two also implements OnLinks if a fault
// of links stands in for it in a simulation. A simulation has no stand-in for the servers of a service.
//
// A new fault of links is one file here, and a line in Kinds; `make readme` adds it to docs/plans.md. A fault
// that strikes members may also need a new method of port.Cluster. Flags with their help, completion and the
// list of "orchestrator plans" follow. For random plans, add a line to Randoms.
package effect
