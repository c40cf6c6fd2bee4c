package cluster

import (
	"fmt"
	"sync"
)

// A port is a TCP port of the loopback address that is kept for one process, which may end and be started
// again in between.
type port struct {
	number  int
	release func() // once
}

func holdPort() (*port, error) {
	number, release, err := hold()
	if err != nil {
		return nil, fmt.Errorf("taking a port of the loopback address: %w", err)
	}
	return &port{number, sync.OnceFunc(release)}, nil
}
