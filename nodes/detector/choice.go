package detector

import (
	"time"

	"turnstile/nodes"
)

// Parse reads which detector runs beside an algorithm on n clients, with its options: heartbeat, or
// probe:period=50ms,timeout=200ms. The instance has a value for each option, and its String is such a text.
// An error says what is wrong and what would be right.
func Parse(text string, n int) (nodes.Instance, error) {
	return nodes.ParseInstance("failure detector", Table, text, n)
}

// Rate returns how many messages a second the instances of all nodes send each other, all of them being up.
func Rate(in nodes.Instance) float64 {
	if Period(in) == 0 {
		return 0
	}
	n, each := float64(in.Config.N), 1.0
	if in.Spec == &probeRow { // each is answered
		each = 2
	}
	return each * n * (n - 1) / Period(in).Seconds()
}

// Period returns how often an instance sends a message to a peer; 0 if it sends none.
func Period(in nodes.Instance) time.Duration {
	if in.Spec.Option(periodOption.Name) == nil {
		return 0
	}
	return in.Config.Duration(periodOption)
}

// Patience returns after how much silence an instance suspects a node; 0 if it does not go by silence.
func Patience(in nodes.Instance) time.Duration {
	if in.Spec.Option(timeoutOption.Name) == nil {
		return 0
	}
	return in.Config.Duration(timeoutOption)
}
