package cluster

import (
	"fmt"
	"net"
	"strconv"
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

// address returns the address of a port, as in 127.0.0.1:4222.
func address(number int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(number)) }

// canListen returns an error if somebody else listens on the port with that number.
func canListen(number int) error {
	probe, err := net.Listen("tcp", address(number))
	if err != nil {
		return err
	}
	return probe.Close()
}
