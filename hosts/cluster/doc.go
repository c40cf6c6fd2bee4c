// Package cluster starts, watches and ends the processes of a run: its nodes, its brokers, its proxies
// and its resource process.
//
// A [Host] starts processes. A [Launcher] is the host of this machine: it starts processes by package proc.
// On another machine, an agent is the host. A [Process] takes signals and reports how it ended. A [Node] is a
// process that also reads orders from its standard input. [Brokers] are the NATS servers of a run and the
// routes between them; they carry out faults of brokers and routes. [Proxies] are the TCP proxies that
// connections run through; they carry out faults of connections. A [Resource] keeps what clients share, if
// the clients ask a process for it. The program of a broker runs ServeBroker, that of the proxies
// ServeProxies, that of the resource ServeResource.
//
// [CheckLimits] checks before a run whether the limits of the machine are high enough, and [ReadUsage]
// returns the CPU time that processes have used.
//
// This package does not decide which process is killed when, and records no events: package trial does
// both.
package cluster
