package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// started returns a relay to a server that echoes a client's bytes in capitals once the client stops sending.
func started(t *testing.T, pass func(ctx context.Context, to, from net.Conn, up bool) error) *Relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				said, _ := io.ReadAll(conn)
				conn.Write(bytes.ToUpper(said))
			}()
		}
	}()
	r := &Relay{Address: "127.0.0.1:0", Dial: To(l.Addr().String()), Pass: pass}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

func dial(t *testing.T, r *Relay) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", r.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn.(*net.TCPConn)
}

// A client that has closed its sending side still receives what the server sends later.
func TestHalfClosed(t *testing.T) {
	conn := dial(t, started(t, nil))
	io.WriteString(conn, "hello")
	conn.CloseWrite()
	if says, err := io.ReadAll(conn); err != nil || string(says) != "HELLO" {
		t.Errorf("it hears %q, %v", says, err)
	}
}

// An error of one direction closes both ends.
func TestErrorsClose(t *testing.T) {
	conn := dial(t, started(t, func(ctx context.Context, to, from net.Conn, up bool) error {
		if up {
			return errors.New("cut")
		}
		<-ctx.Done()
		return ctx.Err()
	}))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the connection is not closed: %v", err)
	}
}

// Stop closes all open connections, and leaves no goroutine. After Start the relay accepts connections again.
func TestStop(t *testing.T) {
	r := started(t, nil)
	address := r.Address
	var conns []*net.TCPConn
	for range 4 {
		conn := dial(t, r)
		io.WriteString(conn, strings.Repeat("x", 1<<16))
		conns = append(conns, conn)
	}
	r.Stop()
	r.Stop()
	for _, conn := range conns {
		if _, err := io.ReadAll(conn); errors.Is(err, context.DeadlineExceeded) {
			t.Error("a connection is not closed")
		}
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("a relay that is stopped takes a connection")
	}
	if r.Open() {
		t.Error("a relay that is stopped is open")
	}
	stacks := make([]byte, 1<<20)
	if of := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(of, "(*Relay).join") {
		t.Errorf("goroutines are left:\n%s", of)
	}
	if err := r.Start(); err != nil || r.Address != address || !r.Open() {
		t.Fatalf("%s is started again at %s: %v", address, r.Address, err)
	}
	conn := dial(t, r)
	io.WriteString(conn, "again")
	conn.CloseWrite()
	if says, err := io.ReadAll(conn); err != nil || string(says) != "AGAIN" {
		t.Errorf("it hears %q, %v", says, err)
	}
}
