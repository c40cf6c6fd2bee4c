package effect

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"turnstile/nodes/port"
)

// byHand is embedded in the faults by which an operator deletes a key or ends a session of a client.
type byHand struct{ plain }

func (byHand) ForGood() bool { return true }

func (byHand) Leaves(time.Duration) time.Duration { return reconnecting }

func (byHand) Check(lasts time.Duration, _ bool) (string, error) {
	if lasts > 0 {
		return "for", errors.New("an operator does this once and for good: leave out `for`")
	}
	return "", nil
}

// Undo does nothing: what is taken away does not come back.
func (byHand) Undo(Cluster, port.Member) error { return nil }

// parseOwner reads whose lock or session a fault hits: the words are "lock of " or "session of ".
func parseOwner(words string, text []byte) (Target, error) {
	of, is := strings.CutPrefix(string(text), words)
	t, err := ParseTarget(of)
	if !is || err == nil && t.Role != port.Node {
		err = fmt.Errorf("%q does not say whose it is: write %sholder, %[2]swaiter, %[2]sleader or %[2]s2", text,
			words)
	}
	return t, err
}

// formatOwner writes what parseOwner reads.
func formatOwner(words, target string) string {
	if target == "" {
		return ""
	}
	return words + target
}
