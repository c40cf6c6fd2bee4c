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

// Patience returns after how much silence an instance suspects a node; 0 if it does not go by silence.
func Patience(in nodes.Instance) time.Duration {
	if in.Spec.Option(timeoutOption.Name) == nil {
		return 0
	}
	return in.Config.Duration(timeoutOption)
}
