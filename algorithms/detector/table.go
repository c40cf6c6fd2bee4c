// Package detector holds the failure detectors: a file for each, with its row on top, and the table of them
// all. A detector is one more instance on every node, clients and servers alike. It tells the machines
// beside it which nodes it suspects to have crashed (nodes.Suspecter), and which it trusts again
// (nodes.Truster).
//
// Every node monitors every other one. A swim node pings them in turn, and also believes gossip.
package detector

import "turnstile/nodes/row"

// Table lists the detectors. Its rows are not to be changed.
var Table = []*row.Row{
	&heartbeatRow,
	&probeRow,
	&phiRow,
	&swimRow,
	&perfectRow,
}
