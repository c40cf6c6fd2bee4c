package nodes

import "time"

// A Shown tells a value of an option apart from another, by a figure of a short simulated run and the bounds
// of that figure. A conformance test makes the run for each algorithm that has the option (package
// judge/algotest).
type Shown struct {
	Value string // of the option; the rest of a configuration is With
	// Than is the value to compare with: the bounds are those of the quotient, the figure with Value by the
	// figure with Than. If Than is empty, they are those of the figure itself.
	Than        string
	Figure      string // see algotest.Figures
	Least, Most float64

	// The run; zero values stand for usual ones.
	N       int           // nodes
	With    string        // values of further options, as in "k=0 suspicion=0"
	Elect   string        // the elector that runs beside the algorithm
	Load    string        // of clients, or the initiators of elections
	Hold    time.Duration // how long a client is inside
	Latency string        // of messages
	For     time.Duration // how long the run is
	Faults  []string      // as for --fault
}
