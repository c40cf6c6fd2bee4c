package english

import (
	"slices"
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 nodes", 1: "1 node", 1024: "1,024 nodes"} {
		if got := Count(n, "node", "nodes"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Thousands(x); got != want {
			t.Errorf("Thousands(%v) = %q, want %q", x, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"},
		"a, b and c": {"a", "b", "c"}} {
		if got := List(words); got != want {
			t.Errorf("List(%v) = %q, want %q", words, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := Wrap("who waits for whom, and why", 10)
	if want := []string{"who waits", "for whom,", "and why"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
