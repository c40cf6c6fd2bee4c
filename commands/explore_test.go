package commands

import (
	"testing"

	"turnstile/results"
)

// A machine, or a container, of little memory is not asked for more than it has.
func TestDefaultMemory(t *testing.T) {
	for mb, want := range map[int]string{0: "2GB", 512: "256MB", 3000: "1.5GB", 4096: "2GB", 24000: "2GB"} {
		if got := defaultMemory(results.Machine{MemoryMB: mb}); got.String() != want {
			t.Errorf("of %d MB, %v, not %s", mb, got, want)
		}
	}
}
