package natskv

import (
	"context"
	"net"
	"testing"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// A client that comes up again opens though no server can be reached, and fails to acquire until one can.
func TestComesUpWithoutServers(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	s := program.Setting{Name: "n0", Names: []string{"n0"},
		Options: program.Options{Incarnation: 1, Servers: []string{address}, Prefix: "test/"}}
	v := service.Values{"ttl": "2s", service.Members: "1", "durable": "off", "obey": "on"}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	l, err := open(ctx, s, v)
	if err != nil {
		t.Fatalf("a client that comes up again: %v", err)
	}
	defer l.Close()
	if g, err := l.Acquire(ctx); err == nil {
		t.Errorf("without a server it is granted %v", g)
	}
}
