package cluster

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// hold binds a free port of an address with a socket that never listens, and returns its number. The kernel
// lets a process that asks for this very number listen on it (both sides set SO_REUSEADDR). The kernel
// assigns the port to no other process, and refuses connections while nobody listens.
func hold(at string) (number int, release func(), err error) {
	ip, err := netip.ParseAddr(at)
	if err != nil || !ip.Is4() {
		return 0, nil, fmt.Errorf("%q is not an IPv4 address", at)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, err
	}
	var address unix.Sockaddr
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: ip.As4()})
	}
	if err == nil {
		address, err = unix.Getsockname(fd)
	}
	if err != nil {
		return 0, nil, errors.Join(err, unix.Close(fd))
	}
	return address.(*unix.SockaddrInet4).Port, func() { unix.Close(fd) }, nil
}
