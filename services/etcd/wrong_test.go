package etcd

import (
	"errors"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"turnstile/services/servicetest"
)

// named fails the test unless a client is told in one line what is wrong with a server, before it asks for a
// lock.
func named(t *testing.T, at, says string) {
	t.Helper()
	l, err := openLock(t.Context(), servicetest.Setting("x", at), servicetest.Values(t, &Lock))
	if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), at) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v, and is to say %q in one line", err, says)
	}
	if l != nil {
		l.Close()
	}
}

// Servers that want a password say so.
func TestPasswordIsWanted(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock)
	c, err := Dial(r.Addresses...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.UserAdd(t.Context(), "root", "secret")
	_, grants := c.UserGrantRole(t.Context(), "root", "root")
	_, enables := c.AuthEnable(t.Context())
	if err := errors.Join(err, grants, enables); err != nil {
		t.Fatal(err)
	}
	named(t, r.Addresses[0], "user name is empty")
}

// A server of another version, which lacks what clients ask, and one that speaks something else are named.
func TestServersOfSomebodyElse(t *testing.T) {
	t.Parallel()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	other := listen()
	s := grpc.NewServer()
	go s.Serve(other)
	t.Cleanup(s.Stop)
	named(t, other.Addr().String(), "unknown service etcdserverpb.KV")
	nonsense := listen()
	go func() {
		for c, err := nonsense.Accept(); err == nil; c, err = nonsense.Accept() {
			c.Write([]byte("nonsense \x00\xff\r\n"))
			c.Close()
		}
	}()
	named(t, nonsense.Addr().String(), "does not answer as etcd does to a client without a password")
}
