//go:build !linux

package cluster

import "net"

// hold finds a free port of an address. On this system nothing prevents another process from taking the port
// first.
func hold(at string) (number int, release func(), err error) {
	l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		return 0, nil, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, func() {}, nil
}
