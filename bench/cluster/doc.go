// Package cluster starts, watches and ends the processes of a run: its nodes, its brokers, its proxies
// and its resource process.
//
// A [Host] starts processes. A [Launcher] is the host of this machine: it starts processes by package
// proc. On another machine, an agent is the host. A [Process] takes signals and reports how it ended. A
// [Node] is a process that also reads orders from its standard input. [Brokers] are the NATS servers of a
// run and the routes between them; they carry out faults of brokers and routes. [Proxies] are the TCP
// proxies that connections run through; they carry out faults of connections. A [Resource] keeps what
// clients share, if they are to ask for it. A broker's process runs ServeBroker, that of the proxies
// ServeProxies, that of the resource ServeResource.
//
// [CheckLimits] says before a run which limit of the machine is too low for it, and [ReadUsage] what CPU
// time processes have used.
//
// It knows no algorithm, no plan and no history: which process is killed when, and what is recorded of that,
// is decided in package bench.
package cluster
