// Package effect has one file for each fault: what goes wrong, as a value whose exported fields are the keys
// of plans that say it. [Kinds] lists them. The keys of plans, flags and completion follow from that table.
//
// A fault of links implements [Effect] and [OnLinks], one of processes and clocks [OnNodes], and one of
// connections, brokers, hosts and servers [Carried]. That is OnLinks too where links stand in for what a
// simulation does not have. Nothing stands in for the servers of a service.
//
// A new fault of links is one file here, and a line in Kinds; `make readme` adds it to docs/plans.md.
// One of processes takes, beside that, the method of port.Cluster that it needs. Flags with their help,
// completion, what "orchestrator plans" lists and, by Kind.Random, random plans follow.
package effect
