// Package effect has one file for each fault: what goes wrong, as a value whose exported fields are the keys
// of plans that say it. [Kinds] lists them. The keys of plans, flags and completion follow from that table.
//
// A fault of links implements [Effect] and [OnLinks]. A fault that strikes nodes, brokers or servers
// implements [OnMembers]: one effect serves all roles, and a kind for each role says which assumptions it
// breaks there. A fault of connections, routes or networks implements [OnConnections]: it returns the
// strain that the cluster puts on some links. An effect of the latter two is also OnLinks if a fault of
// links replaces it in a simulation. In a simulation nothing replaces the servers of a service.
//
// A new fault of links is one file here, and a line in Kinds; `make readme` adds it to docs/plans.md.
// One that strikes takes, beside that, the method of port.Cluster that it needs, if that is a new one. Flags
// with their help, completion and what "orchestrator plans" lists follow, and random plans by a line in
// Randoms.
package effect
