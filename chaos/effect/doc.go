// Package effect has one file for each fault: what goes wrong, as a value whose exported fields are the keys
// of plans that say it. [Kinds] lists them. The keys of plans, flags and completion follow from that table.
//
// A fault of links implements [Effect] and [OnLinks]. One that strikes what runs implements [OnMembers]: it
// is one effect for nodes, brokers and servers, with a kind for each role that says what it breaks there. One
// of connections, routes or networks implements [OnConnections]: it says which strain the cluster is to put
// on which links. Those two are OnLinks too where links stand in for what a simulation does not have. Nothing
// stands in for the servers of a service.
//
// A new fault of links is one file here, and a line in Kinds; `make readme` adds it to docs/plans.md.
// One that strikes takes, beside that, the method of port.Cluster that it needs, if that is a new one. Flags
// with their help, completion and what "orchestrator plans" lists follow, and random plans by a line in
// Randoms.
package effect
