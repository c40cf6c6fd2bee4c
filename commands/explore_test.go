package commands

import (
	"strings"
	"testing"

	"turnstile/nodes/explore"
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

// The per cent that an exploration shows is of the bound that comes nearest, and the text says of which.
func TestProgressNamesItsBound(t *testing.T) {
	c := exploreCall{memory: size(1 << 30)}
	c.Memory = 1 << 30
	at := explore.Progress{Depth: 3, States: 50, Bytes: 1 << 20}
	for _, test := range []struct {
		states uint64
		depth  int
		share  float64
		says   string
	}{
		{0, 0, 1.0 / 1024, "of --memory 1GB, not of the search"},
		{200, 0, 0.25, "of --states 200, not of the search"},
		{200, 4, 0.75, "of --depth 4, not of the search"},
	} {
		c.States, c.Depth = test.states, test.depth
		share, bound := c.share(at)
		if says := c.progressText(at, bound); share != test.share || !strings.HasSuffix(says, test.says) {
			t.Errorf("%v, %q; not %v, %q", share, says, test.share, test.says)
		}
	}
}
