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

// Sample returns the rows of a table over which a test goes, such as all algorithms, each of which it
// simulates: all of them, and under the race detector every fourth. That makes simulations ten times as slow,
// and looks for what code does with memory, which is the same code for each row.
func Sample[T any](rows []T) []T {
	if !racing {
		return rows
	}
	return every(4, rows)
}

// Few returns every eighth row of a table in the short form, and all of them otherwise: where the rows are
// cases of one behaviour, each of which takes a process or more.
func Few[T any](rows []T) []T { return Pick(every(8, rows), rows, rows) }

// every returns one of n rows, from the second on.
func every[T any](n int, rows []T) []T {
	if len(rows) < 2 {
		return rows
	}
	var some []T
	for i := 1; i < len(rows); i += n {
		some = append(some, rows[i])
	}
	return some
}
