package zookeeper

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

// Servers that want credentials end the client that has none, in one line.
func TestCredentialsAreWanted(t *testing.T) {
	r := servicetest.Start(t, &Service)
	for _, recipe := range []string{own, library} {
		l := client(t, r.Addresses, "wanted"+recipe, "recipe="+recipe)
		if recipe == own {
			if _, err := l.conn.SetACL("/", zk.DigestACL(zk.PermAll, "somebody", "secret"), -1); err != nil {
				t.Fatal(err)
			}
		}
		_, err := l.Acquire(t.Context())
		var fatal program.Fatal
		if !errors.As(err, &fatal) || !strings.Contains(err.Error(), "credentials") ||
			!strings.Contains(err.Error(), r.Addresses[0]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("recipe=%s: the error is %v", recipe, err)
		}
	}
}

// A server that speaks something else is named before anybody asks for the lock.
func TestServerOfSomebodyElse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Write([]byte("\x00\x00\x00\x09nonsense \r\n"))
			c.Close()
		}
	}()
	at := l.Addr().String()
	_, err = open(t.Context(), servicetest.Setting("x", at), servicetest.Values(t, &Service))
	if err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "no session") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v", err)
	}
}
