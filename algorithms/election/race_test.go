package election

import (
	"testing"

	"turnstile/internal/soak"
)

// The race detector sees each algorithm explored twice at the same time, and several simulated beside others.
func TestMain(m *testing.M) { soak.Main(m, "(AreExploredWithFaults|^TestBulliesAfterDisasters)$") }
