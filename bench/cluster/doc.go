// Package cluster starts, watches and ends the processes of a run: its nodes, its brokers, its proxies
// and its resource process.
//
// A [Launcher] is this machine as a [Host], where package proc starts processes and looks after them; other
// hosts have agents. A [Process] takes signals, and says how it ended. A [Node] also takes orders, by its
// standard input. [Brokers] are the NATS servers of a run and the routes between them; they carry out faults
// of brokers and routes. [Proxies] are the TCP proxies that connections run through; they
// carry out faults of connections. A [Resource] keeps what clients share, if they are to ask for it. A
// broker's process runs ServeBroker, that of the proxies ServeProxies, that of the resource ServeResource.
//
// [CheckLimits] says before a run which limit of the machine is too low for it, and [ReadUsage] what CPU
// time processes have used.
//
// It knows no algorithm, no plan and no history: which process is killed when, and what is recorded of that,
// is decided in package bench.
package cluster
