//go:build linux

package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"turnstile/bench/cluster"
	"turnstile/internal/terminal"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[2] == fake.Name {
		t := Table{Services: []*Service{&fake}, Self: []string{terminal.OwnPath()}}
		os.Exit(t.Call(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// fake is a service whose servers connect to each other: whoever connects to one as a client is told what it
// hears where it reaches each of the others, and whoever does so as a server, which one it is.
var fake = Service{Name: "fake", Declare: func(Values) Declaration { return Declaration{} },
	Servers: &Servers{Members: []int{2, 1}, Ports: 2, Run: runFake, Versioned: func() string { return "1" },
		Command: func(m *Member) (args, env []string) {
			args = []string{fmt.Sprint("I am ", m.Number), m.Address(0), m.Address(1)}
			for _, other := range m.All {
				if m.Reach(other, 1) != m.Address(1) {
					args = append(args, other.Peer(1))
				}
			}
			return args, nil
		},
		Ready: func(ctx context.Context, m *Member) error {
			_, err := hear(m.Address(0))
			return err
		}}}

func runFake(ctx context.Context, args []string) error {
	clients, err := net.Listen("tcp", args[1])
	if err != nil {
		return err
	}
	servers, err := net.Listen("tcp", args[2])
	if err != nil {
		return err
	}
	go tell(servers, func() string { return args[0] })
	go tell(clients, func() (all string) {
		for _, other := range args[3:] {
			says, err := hear(other)
			all += fmt.Sprintf("%s (%v)", says, err)
		}
		return all
	})
	<-ctx.Done()
	return nil
}

// tell answers whoever connects.
func tell(l net.Listener, what func() string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			io.WriteString(conn, what())
		}()
	}
}

// hear returns what somebody says who is connected to.
func hear(address string) (string, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	says, err := io.ReadAll(conn)
	return string(says), err
}

// heldFake returns the two fake servers, which are not started yet.
func heldFake(t *testing.T) *Running {
	t.Helper()
	r, err := Hold(t.Context(), cluster.NewLauncher(), &Program{Command: []string{terminal.OwnPath()},
		Name: fake.Name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// hears fails the test unless somebody who connects there is told that.
func hears(t *testing.T, address, want string) {
	t.Helper()
	if says, err := hear(address); err != nil || says != want {
		t.Errorf("%s says %q (%v), not %q", address, says, err, want)
	}
}

// Servers reach each other by the proxy of the link between the two, also once one was restarted. Nobody else
// is let through.
func TestFronts(t *testing.T) {
	r := heldFake(t)
	var through []PeerLink
	for _, l := range r.Links {
		proxy, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer proxy.Close()
		go tell(proxy, func() string {
			says, err := hear(l.Address)
			return fmt.Sprintf("%v: %s %v", l, says, err)
		})
		through = append(through, PeerLink{l.From, l.To, l.Port, proxy.Addr().String()})
	}
	if err := r.Start(t.Context(), through, false); err != nil {
		t.Fatal(err)
	}
	const zero = "server 0 to port 1 of server 1: I am 1 <nil> (<nil>)"
	hears(t, r.Addresses[0], zero)
	hears(t, r.Addresses[1], "server 1 to port 1 of server 0: I am 0 <nil> (<nil>)")
	if err := errors.Join(r.Kill(t.Context(), 0), r.Restart(t.Context(), 0, false)); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(10 * time.Second); ; {
		if _, err := hear(r.Addresses[0]); err == nil || time.Now().After(late) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	hears(t, r.Addresses[0], zero)
	pids, err := r.PIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pids[0]))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(strings.TrimRight(string(args), "\x00"), "\x00")
	hears(t, words[len(words)-1], "") // this is the front of server 1, and the test a stranger
}

// Without proxies, servers reach each other directly.
func TestServersWithoutFronts(t *testing.T) {
	r := heldFake(t)
	if err := r.Start(t.Context(), nil, false); err != nil {
		t.Fatal(err)
	}
	hears(t, r.Addresses[0], "I am 1 (<nil>)")
	hears(t, r.Links[0].Address, "I am 1")
}

// Servers can be cut off from each other if there are several, which have a port for that.
func TestLinksDescribed(t *testing.T) {
	for members, want := range map[string]bool{"2": true, "1": false} {
		p := Program{Command: []string{terminal.OwnPath()}, Name: fake.Name, Words: []string{"members=" + members}}
		d, err := p.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d.Peers != want {
			t.Errorf("%s servers can be cut off from each other: %t", members, d.Peers)
		}
	}
	if (&Servers{Ports: 1}).linked(3) {
		t.Error("servers without ports for each other can be cut off from each other")
	}
}
