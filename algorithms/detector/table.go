// Package detector holds the failure detectors: a file for each, with its Algorithm on top, and the table of
// them all. A detector is one more instance on every node, clients and servers alike. It tells the machines
// beside it which nodes it suspects to have crashed (nodes.Suspecter), and which it trusts again
// (nodes.Truster).
//
// Every node monitors every other one. A swim node pings them in turn, and also believes gossip.
package detector

import "turnstile/nodes/algorithm"

// Table lists the detectors. They are not to be changed.
var Table = []*algorithm.Algorithm{
	&heartbeatAlgorithm,
	&probeAlgorithm,
	&phiAlgorithm,
	&swimAlgorithm,
	&perfectAlgorithm,
}
