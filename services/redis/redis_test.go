package redis

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"turnstile/bench/service"
	"turnstile/hosts/cluster"
	"turnstile/internal/terminal"
	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &Service) }

// client returns the client of a node.
func client(t *testing.T, r *service.Running, prefix string, words ...string) *lock {
	return servicetest.Client(t, &Service, open, r.Addresses, prefix, words...)
}

func TestLock(t *testing.T) {
	r := servicetest.Start(t, &Service)
	for _, c := range []struct {
		name string
		test func(t *testing.T, r *service.Running)
	}{{"excludes", excludes}, {"expires", expires}, {"renews", renews}, {"deletes", deletes},
		{"deleted", deleted}, {"leaves", leaves}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, r) })
	}
	if i, err := r.Leader(t.Context()); i != 0 || err != nil {
		t.Errorf("server %d leads (%v), not 0", i, err)
	}
	if err := r.Do(t.Context(), service.Order{Do: service.Promote}); err == nil {
		t.Error("a server without a replica was promoted")
	}
}

// excludes shows that one client at a time holds the lock, and that fences rise.
func excludes(t *testing.T, r *service.Running) {
	a, b := client(t, r, "excludes", "fence=on"), client(t, r, "excludes", "fence=on")
	var last uint64
	for range 3 {
		for _, l := range []*lock{a, b} {
			g := servicetest.Acquire(t, l, time.Second)
			if g.Fence <= last {
				t.Errorf("fence %d comes after %d", g.Fence, last)
			}
			last = g.Fence
			other := a
			if l == a {
				other = b
			}
			servicetest.Refused(t, other, 20*time.Millisecond)
			servicetest.Release(t, l)
		}
	}
}

// expires shows that the server frees a lock after px, and that the holder learns it only by its own clock.
func expires(t *testing.T, r *service.Running) {
	a := client(t, r, "expires", "px=200ms", "watch=on")
	b := client(t, r, "expires", "px=1m")
	g := servicetest.Acquire(t, a, time.Second)
	servicetest.Kept(t, g, 100*time.Millisecond)
	servicetest.Lost(t, g, 200*time.Millisecond)
	if g := servicetest.Acquire(t, b, time.Second); g.Lost != nil || g.Fence != 0 {
		t.Errorf("a grant without watch and fence is %+v", g)
	}
	if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
		t.Errorf("the release of a lock that is lost returns %v", err)
	}
	servicetest.Refused(t, a, 20*time.Millisecond)
	servicetest.Release(t, b)
}

// renews shows that a holder that extends its lock keeps it, and is told when the key is another's. With
// renew=blind it is not told, and extends the lock of the other client.
func renews(t *testing.T, r *service.Running) {
	for _, how := range []string{"on", "blind"} {
		a := client(t, r, "renews "+how, "px=300ms", "renew="+how)
		b := client(t, r, "renews "+how, "px=1m")
		g := servicetest.Acquire(t, a, time.Second)
		servicetest.Refused(t, b, 500*time.Millisecond)
		servicetest.Kept(t, g, 0)
		a.Clients[0].Del(t.Context(), a.key)
		servicetest.Acquire(t, b, time.Second)
		blind := how == "blind"
		if blind {
			servicetest.Kept(t, g, 200*time.Millisecond)
		} else {
			servicetest.Lost(t, g, 200*time.Millisecond)
		}
		if left := b.Clients[0].PTTL(t.Context(), b.key).Val(); (left < time.Second) != blind {
			t.Errorf("renew=%s: the key of the second client expires after %v", how, left)
		}
		if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
			t.Errorf("the release of a lock that is lost returns %v", err)
		}
	}
}

// deletes shows that DEL frees the lock of another client.
func deletes(t *testing.T, r *service.Running) {
	a := client(t, r, "deletes", "px=50ms", "release=del")
	b, c := client(t, r, "deletes", "px=1m"), client(t, r, "deletes", "px=1m")
	servicetest.Acquire(t, a, time.Second)
	servicetest.Acquire(t, b, time.Second) // after px
	servicetest.Release(t, a)
	servicetest.Acquire(t, c, time.Second)
}

// deleted shows that only the key of the holder can be deleted by hand, and no counter. Then another client
// enters. A key that names nobody is deleted only of a client that is inside.
func deleted(t *testing.T, r *service.Running) {
	const prefix = "deleted"
	named := func(name string) *lock {
		l := client(t, r, prefix, "px=1m", "fence=on")
		l.name = name
		return l
	}
	a, b := named("n1"), named("n2")
	servicetest.TakeNothing(t, r, service.Delete, "n1", prefix)
	first := servicetest.Acquire(t, a, time.Second)
	servicetest.TakeNothing(t, r, service.Delete, "n2", prefix)
	servicetest.Refused(t, b, 20*time.Millisecond)
	servicetest.Take(t, r, service.Delete, "n1", prefix)
	if second := servicetest.Acquire(t, b, time.Second); second.Fence <= first.Fence {
		t.Errorf("the fence %d comes after %d", second.Fence, first.Fence)
	}
	// A key that names nobody is of the client that is inside.
	servicetest.Release(t, b)
	servicetest.Acquire(t, named("someone"), time.Second)
	servicetest.TakeNothing(t, r, service.Delete, "n1", prefix)
	inside := service.Client{Name: "n1", Prefix: prefix, Inside: true}
	if had, err := r.Take(t.Context(), service.Delete, inside); err != nil || !had {
		t.Errorf("the key of the client inside is deleted: %v, %v", had, err)
	}
	if _, err := r.Take(t.Context(), service.Expire, service.Client{Name: "n1", Prefix: prefix}); err == nil {
		t.Error("a session of Redis was ended")
	}
}

// leaves shows that a release that fails leaves the key for px, since no session ends, and that the option
// failed is refused for that reason.
func leaves(t *testing.T, r *service.Running) {
	a, b := client(t, r, "leaves", "px=400ms"), client(t, r, "leaves")
	servicetest.Acquire(t, a, time.Second)
	a.Clients.Close()
	if a.Release(t.Context()) == nil {
		t.Error("a lock was released without a connection")
	}
	servicetest.Refused(t, b, 100*time.Millisecond)
	servicetest.Acquire(t, b, time.Second)
	if _, err := Service.Parse([]string{"failed=kept"}); err == nil || !strings.Contains(err.Error(),
		"have no session that could end") {
		t.Errorf("with failed=kept: %v", err)
	}
}

// A replica that lags behind knows nothing of the lock: two clients hold it, with one fence.
func TestFailover(t *testing.T) {
	r := servicetest.Start(t, &Service, "replica=on", "lag=200ms")
	a, b := client(t, r, "x", "px=1m", "fence=on"), client(t, r, "x", "px=1m", "fence=on")
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first := servicetest.Acquire(t, a, time.Second)
	must(r.Do(ctx, service.Order{Do: service.Kill}))
	if i, err := r.Leader(ctx); i != -1 || err != nil {
		t.Errorf("server %d leads (%v), though only a replica is up", i, err)
	}
	if _, err := b.Acquire(ctx); err == nil {
		t.Fatal("the lock was acquired from a server that is down")
	}
	if _, err := b.Acquire(ctx); err == nil {
		t.Fatal("the lock was acquired from a replica")
	}
	must(r.Do(ctx, service.Order{Do: service.Promote, Server: 1}))
	if i, err := r.Leader(ctx); i != 1 || err != nil {
		t.Errorf("server %d leads (%v), not 1, which was promoted", i, err)
	}
	if second := servicetest.Retry(t, b, 5*time.Second); second.Fence != first.Fence {
		t.Errorf("the fences of both holders are %d and %d", first.Fence, second.Fence)
	}
}

// A jump of the server's clock ends leases, and the clock stays ahead after a restart. Servers that were
// started with the machine's clock refuse to set it.
func TestClock(t *testing.T) {
	if _, err := Service.Servers.Find(""); err != nil {
		t.Skip(err)
	}
	p := &service.Program{Command: []string{terminal.OwnPath()}, Name: "redis"}
	d, err := p.Describe(t.Context())
	if err != nil || d.NoClock != "" {
		t.Skip(err, d.NoClock)
	}
	r, err := service.Hold(t.Context(), cluster.NewLauncher(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := r.Start(t.Context(), nil, true); err != nil {
		t.Fatal(err)
	}
	servicetest.Know(r)
	a, b := client(t, r, "x", "px=1m"), client(t, r, "x", "px=1m")
	servicetest.Acquire(t, a, time.Second)
	servicetest.Refused(t, b, 50*time.Millisecond)
	err = r.Do(t.Context(), service.Order{Do: service.SetClock, By: 20 * time.Second},
		service.Order{Do: service.SetClock, By: 41 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	servicetest.Retry(t, b, 5*time.Second)
	ahead := func() time.Duration {
		for late := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			now, err := a.Clients[0].Time(t.Context()).Result()
			if err == nil {
				return time.Until(now).Round(time.Second)
			}
			if time.Now().After(late) {
				t.Fatal(err)
			}
		}
	}
	before := ahead()
	if err := r.Do(t.Context(), service.Order{Do: service.Kill},
		service.Order{Do: service.Start, Forget: true}); err != nil {
		t.Fatal(err)
	}
	if after := ahead(); before != 61*time.Second || after != before {
		t.Errorf("its clock is ahead by %v, and by %v once it was restarted", before, after)
	}
	still := servicetest.Start(t, &Service)
	if err := still.Do(t.Context(), service.Order{Do: service.SetClock, By: time.Second}); err == nil {
		t.Error("the clock of a server was set that has the machine's")
	}
}

// A durable server keeps its data when it is killed.
func TestRestart(t *testing.T) {
	for _, c := range []struct {
		durable string
		forget  bool
		kept    bool
	}{{"on", false, true}, {"on", true, false}, {"off", false, false}} {
		t.Run("durable="+c.durable, func(t *testing.T) {
			r := servicetest.Start(t, &Service, "durable="+c.durable)
			a, b := client(t, r, "x", "px=1m"), client(t, r, "x", "px=1m")
			servicetest.Acquire(t, a, time.Second)
			if err := r.Do(t.Context(), service.Order{Do: service.Kill},
				service.Order{Do: service.Start, Forget: c.forget}); err != nil {
				t.Fatal(err)
			}
			if !c.kept {
				servicetest.Retry(t, b, 5*time.Second)
				return
			}
			for end := time.Now().Add(5 * time.Second); a.Clients[0].Ping(t.Context()).Err() != nil; {
				if time.Now().After(end) {
					t.Fatal("the server does not come back")
				}
				time.Sleep(10 * time.Millisecond)
			}
			servicetest.Refused(t, b, 50*time.Millisecond)
			servicetest.Release(t, a)
		})
	}
}

// script writes a shell script that acts as the server's program.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // servers run as somebody else
			t.Fatal(err)
		}
	}
	return path
}

// refused fails the test unless an error contains some words, and no folder of servers is left.
func refused(t *testing.T, err error, says ...string) {
	t.Helper()
	for _, word := range says {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("the error is %v, and is to say %q", err, word)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "turnstile-servers-*")); left != nil {
		t.Errorf("folders of servers are left behind: %q", left)
	}
}

// If servers do not start, the error has their program's output, and nothing of them is left.
func TestServersThatDoNotStart(t *testing.T) {
	launched := func(path string) error {
		r, err := service.Launch(t.Context(), cluster.NewLauncher(),
			&service.Program{Command: []string{terminal.OwnPath()}, Name: "redis", Server: path})
		if err == nil {
			r.Close()
		}
		return err
	}
	bad := script(t, "echo it begins; echo Fatal error, no memory >&2; exit 3")
	other := &service.Program{Command: []string{terminal.OwnPath()}, Name: "redis",
		Server: script(t, "echo something else 1.0")}
	t.Setenv("TMPDIR", t.TempDir())
	if err := os.Chmod(os.Getenv("TMPDIR"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused(t, launched(bad), "server 0 did not start: exit status 3", "it begins", "Fatal error, no memory")
	_, err := other.Describe(t.Context())
	refused(t, err, "does not say its version by --version", "something else 1.0")
}

// A server whose port is taken by another process says so.
func TestPortIsTaken(t *testing.T) {
	if _, err := Service.Servers.Find(""); err != nil {
		t.Skip(err)
	}
	r, err := service.Hold(t.Context(), cluster.NewLauncher(),
		&service.Program{Command: []string{terminal.OwnPath()}, Name: "redis"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := net.Listen("tcp", r.Addresses[0])
	if err != nil {
		t.Skip("the port is held so that nobody else can take it:", err)
	}
	defer l.Close()
	err = r.Start(t.Context(), nil, false)
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("the error is %v", err)
	}
}

// An external server that does not speak Redis, or requires a password, is named in the error when a client
// opens.
func TestServersOfSomebodyElse(t *testing.T) {
	for answer, says := range map[string]string{
		"nonsense \x00\xff\r\n":                       "nonsense",
		"-NOAUTH Authentication required.\r\n":        "NOAUTH",
		"-WRONGPASS invalid username or password\r\n": "WRONGPASS",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				go answers(c, answer)
			}
		}()
		at := l.Addr().String()
		c := servicetest.Client(t, &Service, open, []string{at}, "x")
		err = c.reach(t.Context(), servicetest.Setting("x", at))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), at) {
			t.Errorf("%q: the error is %v", answer, err)
		}
	}
}

// answers sends the same answer to anything on a connection.
func answers(c net.Conn, answer string) {
	defer c.Close()
	b := make([]byte, 1<<12)
	for {
		if _, err := c.Read(b); err != nil {
			return
		}
		if _, err := c.Write([]byte(strings.Repeat(answer, 5))); err != nil {
			return
		}
	}
}
