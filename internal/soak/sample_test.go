package soak

import (
	"slices"
	"testing"
)

// Sample returns all rows, except under the race detector.
func TestSample(t *testing.T) {
	all, want := []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 1, 2, 3, 4, 5, 6}
	if racing {
		want = []int{1, 5}
	}
	if got := Sample(all); !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
	if got := Sample(all[:1]); len(got) != 1 {
		t.Errorf("one row: %d", got)
	}
}

// The short form has every eighth row.
func TestFew(t *testing.T) {
	if got, want := every(8, make([]int, 26)), 4; len(got) != want {
		t.Errorf("%d of 26 rows, want %d", len(got), want)
	}
}
