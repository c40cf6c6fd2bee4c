package cluster

import (
	"errors"
	"net"
	"runtime"
	"syscall"
	"testing"

	"turnstile/internal/broker"
)

// A port that is held is refused to nobody who asks for it by number, is given to nobody else, and refuses
// connections while nobody listens.
func TestPortIsHeld(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ports are not held")
	}
	p, err := HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	for range 3 { // a listener comes and goes
		if conn, err := net.Dial("tcp", broker.Address(p.Number)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens, and the error is %v", err)
			if err == nil {
				conn.Close()
			}
		}
		l, err := net.Listen("tcp", broker.Address(p.Number))
		if err != nil {
			t.Fatal(err)
		}
		accepted := make(chan net.Conn, 1)
		go func() {
			conn, _ := l.Accept()
			accepted <- conn
		}()
		conn, err := net.Dial("tcp", broker.Address(p.Number))
		if err != nil {
			t.Fatal(err)
		}
		if err := broker.CanListenAt(broker.Address(p.Number)); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("somebody listens, and the error is %v", err)
		}
		(<-accepted).Close() // first: so the port is in TIME_WAIT
		l.Close()
		conn.Close()
	}
	for range 2000 { // of some 14,000 that the kernel gives out
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if l.Addr().(*net.TCPAddr).Port == p.Number {
			t.Fatal("a port that is held is given to somebody")
		}
		defer l.Close()
	}
}
