package site

import (
	"net"
	"strings"
	"testing"
	"time"
)

// An external server is out of reach once it accepts no more connections, not before: it may close idle
// connections, or send nothing itself.
func TestEndpointIsWatched(t *testing.T) {
	for name, accept := range map[string]func(net.Conn){
		"it ends each connection": func(c net.Conn) { c.Close() },
		"it says nothing":         func(net.Conn) {},
		"it says much":            func(c net.Conn) { c.Write(make([]byte, 1<<16)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			accepted := make(chan net.Conn, 1000)
			go func() {
				for c, err := l.Accept(); err == nil; c, err = l.Accept() {
					accepted <- c
					accept(c)
				}
			}()
			e := watchEndpoint(t.Context(), []string{l.Addr().String()})
			defer e.Close()
			select {
			case err := <-e.Lost:
				t.Fatalf("the server is there: %v", err)
			case <-time.After(2*endpointAge + 100*time.Millisecond):
			}
			l.Close()
			for len(accepted) > 0 {
				(<-accepted).Close()
			}
			select {
			case err := <-e.Lost:
				if !strings.Contains(err.Error(), "the endpoint "+l.Addr().String()+" is out of reach") {
					t.Error(err)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("the server is gone, and nobody says so")
			}
		})
	}
}
