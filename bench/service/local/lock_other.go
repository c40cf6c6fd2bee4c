//go:build !linux

package local

import (
	"context"
	"errors"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// A lock is the client of one node, on Linux.
type lock struct{ program.Lock }

func open(context.Context, program.Setting, service.Values) (*lock, error) {
	return nil, errors.New("the locks of one machine are here for Linux, whose flock and futex they are")
}

var (
	openFlock, openWord, openSemaphore, openCondition = open, open, open, open
	openFetchAndAdd, openCompareAndSwap               = open, open
)
