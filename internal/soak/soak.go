// Package soak determines the length of tests. Tests over seeds, sizes or states have three lengths: short
// under go test -short, long if SOAK is set, as by make soak, and usual otherwise.
package soak

import (
	"os"
	"testing"
)

// Pick returns the short, the usual or the long value, such as a number of seeds.
func Pick[T any](short, usual, long T) T {
	switch {
	case testing.Short():
		return short
	case os.Getenv("SOAK") != "":
		return long
	}
	return usual
}

// Sample returns the rows of a table for a test to simulate, such as all algorithms: all of them, but only
// every fourth under the race detector. The detector makes simulations ten times as slow, and checks code
// that is the same for each row.
func Sample[T any](rows []T) []T {
	if !racing {
		return rows
	}
	return every(4, rows)
}

// Few returns every eighth row of a table under go test -short, and all otherwise. It is for rows that are
// cases of one behaviour, and each take a process or more.
func Few[T any](rows []T) []T { return Pick(every(8, rows), rows, rows) }

// every returns every n-th row, from the second row on.
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
