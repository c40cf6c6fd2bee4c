// Package soak says how long a test is to be. Tests over seeds, sizes or states, of which there are always
// more, have three lengths: short under go test -short, long where SOAK is set, as make soak does, or usual.
package soak

import (
	"os"
	"testing"
)

// Pick returns the short, the usual or the long form of whatever makes a test long.
func Pick[T any](short, usual, long T) T {
	switch {
	case testing.Short():
		return short
	case os.Getenv("SOAK") != "":
		return long
	}
	return usual
}

// sampled is how many rows of a table there are for each that Sample returns under the race detector.
const sampled = 4

// Sample returns the rows of a table over which a test goes, such as all algorithms, each of which it
// simulates: all of them, and under the race detector every fourth from the second on. That makes simulations
// ten times as slow, and looks for what code does with memory, which is the same code for each row.
func Sample[T any](rows []T) []T {
	if !racing || len(rows) < 2 {
		return rows
	}
	var some []T
	for i := 1; i < len(rows); i += sampled {
		some = append(some, rows[i])
	}
	return some
}
