package history

import "fmt"

// BrokerAmong returns the number of a broker, as Paused and Resumed name it, among so many in the run: that
// of the only one is Broker.
func BrokerAmong(i, count int) uint32 {
	if count == 1 {
		return Broker
	}
	return firstBroker - uint32(i)
}

// mostNodes is more than a run has.
const mostNodes = 1 << 24

// ProcessName names a process that is no node, as Paused and Resumed do: broker, broker 1, orchestrator. It
// is empty for a node.
func ProcessName(process uint32) string {
	switch {
	case process == Broker:
		return "broker"
	case process == Orchestrator:
		return "orchestrator"
	case process == Proxies:
		return "proxies"
	case process == SecondBroker:
		return "broker of the second network"
	case process == Resource:
		return "resource process"
	case process == Servers:
		return "process of the servers"
	case process > mostNodes:
		return fmt.Sprintf("broker %d", firstBroker-process)
	}
	return ""
}
