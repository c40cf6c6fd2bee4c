// Package soak determines the length of tests. Tests over seeds, sizes or states have three lengths: short
// under go test -short, long if SOAK is set, as by make soak, and usual otherwise.
package soak

import (
	"flag"
	"fmt"
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

// Main runs the tests of a package, but with the race detector only tests that match sample, unless -run says
// which. The detector makes tests ten times as slow, and finds nothing in a test on one goroutine.
func Main(m *testing.M, sample string) {
	flag.Parse()
	choose(sample, racing)
	os.Exit(m.Run())
}

// choose has only the tests of a sample run with the race detector, unless -run says which.
func choose(sample string, racing bool) {
	if run := flag.Lookup("test.run"); racing && run.Value.String() == "" {
		fmt.Println("with the race detector, only these tests run, unless -run names others:", sample)
		run.Value.Set(sample)
	}
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
