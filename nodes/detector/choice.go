package detector

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// Parse reads which detector runs beside an algorithm on n clients, with its options: heartbeat, or
// probe:period=50ms,timeout=200ms. The instance has a value for each option, and its String is such a text;
// timeouts that the text gives no value for suit the delays of the run. An error says what is wrong and what
// would be right.
func Parse(text string, n int, d nodes.Delays) (row.Instance, error) {
	return row.ParseInstance("failure detector", Table, text, n, d)
}

// Rate returns how many messages a second the instances of all nodes send each other, all of them being up.
func Rate(in row.Instance) float64 {
	if Period(in) == 0 {
		return 0
	}
	return float64(in.Config.N) * load(in.Row, in.Config.N) / Period(in).Seconds()
}

// load returns how many messages a node sends in a period, on average, all of n nodes being up.
func load(row *row.Row, n int) float64 {
	switch row {
	case &probeRow: // each question is answered
		return 2 * float64(n-1)
	case &swimRow: // a ping, and an ack to the one that comes
		return 2 * float64(min(1, n-1))
	}
	return float64(n - 1)
}

// Period returns how often an instance sends a message to a peer; 0 if it sends none.
func Period(in row.Instance) time.Duration {
	if in.Option(periodOption.Name) == nil {
		return 0
	}
	return in.Config.Duration(periodOption)
}

// Slower names what costs less than an instance, for which there are too many messages: the detector whose
// load per node does not grow with their number, and the same one with a longer period.
func Slower(in row.Instance, period time.Duration) string {
	text := fmt.Sprintf("%s:period=%v", in.Name, period)
	switch in.Row {
	case &swimRow:
		return fmt.Sprintf("%s,timeout=%v", text, period*3/10)
	case &phiRow:
		return "swim or " + text
	}
	return fmt.Sprintf("swim or %s,timeout=%v", text, 5*period)
}

// Within returns how long it takes an instance to suspect a crashed node, beside the latency of messages, as
// long as it has extended no timeout.
// It is zero for what is no failure detector.
func Within(in row.Instance) time.Duration {
	if in.Detector == nil {
		return 0
	}
	return in.Detector.Tells(in.Config, 0, 1)
}
