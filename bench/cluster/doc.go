// Package cluster starts, watches and ends the processes of a run: its nodes, its brokers, its proxies
// and its resource process.
//
// A [Launcher] starts all processes from one thread. The system kills each when this process ends. A
// [Process] takes signals, and its [Fate] says how it ended and what it printed last. A [Node] also takes
// orders, by its standard input. [Brokers] are the NATS servers of a run and the routes between them; they
// carry out faults of brokers and routes. [Proxies] are the TCP proxies that connections run through; they
// carry out faults of connections. A [Resource] keeps what clients share, if they are to ask for it. A
// broker's process runs ServeBroker, that of the proxies ServeProxies, that of the resource ServeResource.
//
// [CheckLimits] says before a run which limit of the machine is too low for it, [ReadUsage] what CPU time
// and memory processes have used, and [NoticeStops] whether this process itself stood still.
//
// It knows no algorithm, no plan and no history: which process is killed when, and what is recorded of that,
// is decided in package bench.
package cluster
