//go:build !linux

package cluster

import "net"

// hold finds a free port of an address. Here nothing keeps others from taking it before the process
// that it is meant for does.
func hold(at string) (number int, release func(), err error) {
	l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		return 0, nil, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, func() {}, nil
}
