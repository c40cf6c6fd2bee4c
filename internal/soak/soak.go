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
