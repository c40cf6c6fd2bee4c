package mutex

import (
	"testing"

	"turnstile/internal/soak"
)

// The race detector sees each row explored twice at the same time, and sound rows simulated beside others.
func TestMain(m *testing.M) { soak.Main(m, "^TestRowsAre(ExploredWithFaults|Fair)$") }
