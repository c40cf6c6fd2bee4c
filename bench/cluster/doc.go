// Package cluster starts, watches and ends the processes of a run: its nodes, its brokers and its proxies.
//
// A [Launcher] starts them, all from one thread, so that each ends at the latest when this process does. A
// [Process] is told things by its standard input; it says how it ended, and what it printed last. [Brokers]
// are the NATS servers of a run with the routes between them, and [Proxies] the TCP proxies through which
// connections run; both carry out faults of what carries the messages. ServeBroker and ServeProxies are what
// runs inside those processes.
//
// [CheckLimits] says before a run which limit of the machine is too low for it, [ReadUsage] what CPU time
// and memory processes have used, and [NoticeStops] whether this process itself stood still.
//
// It knows no algorithm, no plan and no history: which process is killed when, and what is recorded of that,
// is decided in package bench.
package cluster
