//go:build linux

package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"turnstile/chaos"
)

// folder makes a folder whose path is too long for a socket.
func folder(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func dial(t *testing.T, folder string) *Client {
	t.Helper()
	c, err := Dial(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Requests are refused at once while a server is closed, and wait for the run while it is open.
func TestRequestsAreAnswered(t *testing.T) {
	path, ctx := folder(t), context.Background()
	d, err := NewServer(path, Reply{Refused: "it starts", Later: true})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(path, SocketFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	r, err := dial(t, path).Ask(ctx, Request{Do: List})
	if err != nil || r.Refused != "it starts" {
		t.Errorf("a closed server says %+v, %v", r, err)
	}
	d.Open()
	fault, err := chaos.ParseFault("cut: 0/1-2, at: 1s, for: 20ms")
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for i := range 10 {
		c := dial(t, path)
		asking.Go(func() {
			r, err := c.Ask(ctx, Request{Do: Inject, Number: i, Faults: []chaos.Fault{fault}})
			if err != nil || len(r.Numbers) != 1 || r.Numbers[0] != i {
				t.Errorf("request %d got %+v, %v", i, r, err)
			}
		})
	}
	wrong := errors.New("the run ends")
	for taken := 0; taken < 10; {
		err := d.Answer(func(r *Request) (Reply, error) {
			if got := r.Faults[0].String(); got != fault.String() {
				t.Errorf("the fault is %q, want %q", got, &fault)
			}
			taken++
			return Reply{Numbers: []int{r.Number}}, wrong
		})
		if err != nil && err != wrong {
			t.Error(err)
		}
	}
	asking.Wait()
	waiting := dial(t, path)
	asking.Go(func() {
		if r, err := waiting.Ask(ctx, Request{Do: Heal}); err != nil || r.Refused != "it is over" {
			t.Errorf("a client that waits at the end gets %+v, %v", r, err)
		}
	})
	idle := dial(t, path)
	for !d.waits.Load() {
		runtime.Gosched()
	}
	if err := d.End(Reply{Refused: "it is over"}); err != nil {
		t.Error(err)
	}
	asking.Wait()
	if _, err := idle.Ask(ctx, Request{Do: List}); !errors.Is(err, ErrGone) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := Dial(path); !errors.Is(err, ErrNone) {
		t.Errorf("after the end, a new connection: %v", err)
	}
}

// An unreadable request is refused, and a client that gives up waiting returns at once.
func TestClientsMayMisbehave(t *testing.T) {
	path := folder(t)
	d, err := NewServer(path, Reply{})
	if err != nil {
		t.Fatal(err)
	}
	d.Open()
	ctx, cancel := context.WithCancel(context.Background())
	c := dial(t, path)
	left := make(chan error)
	go func() {
		_, err := c.Ask(ctx, Request{Do: List})
		left <- err
	}()
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted client gets %v", err)
	}
	c.Close()
	if err := d.End(Reply{}); err != nil {
		t.Error(err)
	}
}

// The socket left by a killed run is distinguished from a missing one.
func TestStaleSocket(t *testing.T) {
	path := folder(t)
	d, err := NewServer(path, Reply{})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(path, SocketFile)
	if err := os.Rename(name, name+".kept"); err != nil {
		t.Fatal(err)
	}
	d.End(Reply{}) // End does not find the renamed socket
	if err := os.Rename(name+".kept", name); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(path); !errors.Is(err, ErrGone) {
		t.Errorf("of a killed run: %v", err)
	}
	if _, err := Dial(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("of no run: %v", err)
	}
}

// A run without a socket has no requests.
func TestNoDesk(t *testing.T) {
	var d *Server
	d.Open()
	d.Close(Reply{})
	if err := d.Answer(nil); err != nil {
		t.Error(err)
	}
	if err := d.End(Reply{}); err != nil {
		t.Error(err)
	}
}
