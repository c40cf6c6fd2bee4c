// Package servicetest has helpers for tests of services. It starts the servers of a service as runs do.
package servicetest

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"turnstile/bench/service"
	"turnstile/hosts/cluster"
	"turnstile/internal/secret"
	"turnstile/internal/terminal"
	"turnstile/nodes/foreign/program"
)

// Main lets the program of a test act as the program of services, if its arguments say so. Otherwise it runs
// the tests. Packages that call [Start] must call Main in TestMain.
func Main(m *testing.M, table ...*service.Service) {
	if len(os.Args) > 1 && slices.Contains([]string{"describe", "client", "up", "server"}, os.Args[1]) {
		t := service.Table{Services: table, Self: []string{terminal.OwnPath()}}
		os.Exit(t.Call(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Start starts the servers of a service with options such as ttl=2s. The servers stop when the test ends.
// Start skips the test if the program of the servers is missing.
func Start(t testing.TB, s *service.Service, words ...string) *service.Running {
	t.Helper()
	v := Values(t, s, words...)
	_, err := s.Servers.Paths(v, "")
	if err == nil && s.Needs != nil {
		err = s.Needs(v)
	}
	if err != nil {
		t.Skip(err)
	}
	r, err := service.Launch(t.Context(), cluster.NewLauncher(),
		&service.Program{Command: []string{terminal.OwnPath()}, Name: s.Name, Words: words})
	if err != nil {
		t.Fatal(err)
	}
	Know(r)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// folders has the folder of the secret of each server, by its address and by the addresses of proxies.
var folders sync.Map

// Know has the settings of [Setting] know the secret of servers.
func Know(r *service.Running) {
	for _, address := range r.Addresses {
		folders.Store(address, r.Secrets)
	}
}

// Values parses options, such as ttl=2s.
func Values(t testing.TB, s *service.Service, words ...string) service.Values {
	t.Helper()
	v, err := s.Parse(words)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Setting returns the setting of a node whose service has these servers, with their secret if it is known.
func Setting(name string, servers ...string) program.Init {
	s := program.Init{Name: name, Options: program.Options{Servers: servers, Prefix: "test/"}}
	dir, known := folders.Load(servers[0])
	if !known {
		return s
	}
	s.Options.Secrets = dir.(string)
	var err error
	if s.Secret, err = secret.Read(s.Options.Secrets); err != nil {
		panic(err) // impossible: the servers of the secret run
	}
	return s
}

// Client opens the client of a node that uses the given servers, and closes the client when the test ends.
// The names of its locks begin with prefix.
func Client[L program.Lock](t testing.TB, s *service.Service, open func(program.Init, service.Values) L,
	servers []string, prefix string, words ...string) L {
	t.Helper()
	setting := Setting(prefix, servers...)
	setting.Options.Prefix = prefix
	l := open(setting, Values(t, s, words...))
	t.Cleanup(func() { l.Close() })
	return l
}

// Acquire acquires a lock, and fails the test if that takes too long.
func Acquire(t testing.TB, l program.Lock, within time.Duration) program.Grant {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	g, err := l.Acquire(ctx)
	if err != nil {
		t.Fatalf("the lock was not acquired within %v: %v", within, err)
	}
	return g
}

// Obeys fails the test unless the service relies on its servers if, and only if, its clients ignore the end
// of their session.
func Obeys(t *testing.T, s *service.Service) {
	t.Helper()
	for _, obey := range []string{"on", "off"} {
		d := s.Declare(Values(t, s, "obey="+obey))
		if relies := slices.Contains(d.Safe, "servers-up"); relies != (obey == "off") {
			t.Errorf("%s with obey=%s: safety rests on %v", s.Name, obey, d.Safe)
		}
	}
}
