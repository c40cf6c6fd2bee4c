package natskv

import (
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Servers connect to each other at the addresses that they are given, where faults hold, and at no others:
// here n1 and n2 do not reach each other there, and hear of each other from n0.
func TestServersConnectWhereTheyAreTold(t *testing.T) {
	free := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	nobody := free()
	var clients, peers [3]string
	for i := range peers {
		clients[i], peers[i] = free(), free()
	}
	start := func(i int, name string, one, two, three string) *server.Server {
		o, err := options([]string{name, t.TempDir(), "off", clients[0], one, clients[1], two, clients[2], three})
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.WaitForShutdown)
		t.Cleanup(s.Shutdown)
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatalf("%s does not start", name)
		}
		return s
	}
	routes := func(s *server.Server, want int) {
		t.Helper()
		for late := time.Now().Add(10 * time.Second); s.NumRoutes() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%s has %d routes, not %d", s.Name(), s.NumRoutes(), want)
			}
		}
	}
	n0 := start(0, "n0", peers[0], peers[1], peers[2])
	n1 := start(1, "n1", peers[0], peers[1], nobody)
	routes(n1, 1)
	n2 := start(2, "n2", peers[0], nobody, peers[2])
	routes(n0, 2)
	time.Sleep(500 * time.Millisecond) // in which n1 has heard of n2
	routes(n1, 1)
	routes(n2, 1)
}
