//go:build !linux

package cluster

import "net"

// hold finds a free port of the loopback address. Here nothing keeps others from taking it before the process
// that it is meant for does.
func hold() (number int, release func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, func() {}, nil
}
