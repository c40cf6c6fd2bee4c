package cluster

import (
	"fmt"
	"sync"

	"turnstile/internal/broker"
)

// A Port is a TCP port of this machine that is reserved for one process, which may end and be started again.
type Port struct {
	Number  int
	Release func() // releases the port; further calls do nothing
}

// HoldPort reserves a free port of the loopback address. HoldPortAt reserves one of another address of this
// machine.
func HoldPort() (*Port, error) { return HoldPortAt(broker.Loopback) }

func HoldPortAt(address string) (*Port, error) {
	number, release, err := hold(address)
	if err != nil {
		return nil, fmt.Errorf("taking a port of %s: %w", address, err)
	}
	return &Port{number, sync.OnceFunc(release)}, nil
}
