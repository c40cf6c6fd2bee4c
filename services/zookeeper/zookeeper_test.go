package zookeeper

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &Service, &Latch) }

// client returns that of a node which reaches some servers.
func client(t *testing.T, servers []string, prefix string, words ...string) *lock {
	t.Helper()
	s := servicetest.Setting(prefix, servers...)
	s.Options.Prefix = "test/" + prefix + "/"
	l, err := open(t.Context(), s, servicetest.Values(t, &Service, words...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestLock(t *testing.T) {
	r := servicetest.Start(t, &Service)
	if i, err := r.Leader(t.Context()); i != 0 || err != nil {
		t.Errorf("server %d leads (%v), not 0", i, err)
	}
	for _, c := range []struct {
		name string
		test func(t *testing.T, r *service.Running)
	}{{"excludes", excludes}, {"library", ofLibrary}, {"herd", crowd}, {"told in time", toldInTime},
		{"told late", toldLate}, {"session over", sessionOver},
		{"unlock failed", unlockFailed}, {"answer lost", answerLost}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, r) })
	}
}

// excludes shows that one holds the lock at a time, and that fences rise.
func excludes(t *testing.T, r *service.Running) {
	for _, recipe := range []string{own, herd} {
		a := client(t, r.Addresses, "excludes"+recipe, "recipe="+recipe)
		b := client(t, r.Addresses, "excludes"+recipe, "recipe="+recipe)
		var last uint64
		for range 2 {
			for l, other := range map[*lock]*lock{a: b, b: a} {
				g := servicetest.Acquire(t, l, 5*time.Second)
				if g.Fence <= last {
					t.Errorf("fence %d comes after %d", g.Fence, last)
				}
				last = g.Fence
				servicetest.Refused(t, other, 50*time.Millisecond)
				servicetest.Kept(t, g, 0)
				servicetest.Release(t, l)
			}
		}
	}
}

// ofLibrary shows the same of the library's own lock.
func ofLibrary(t *testing.T, r *service.Running) {
	a := client(t, r.Addresses, "library", "recipe=library")
	b := client(t, r.Addresses, "library", "recipe=library")
	if g := servicetest.Acquire(t, a, 5*time.Second); g.Fence != 0 {
		t.Errorf("the lock of the library has the fence %d", g.Fence)
	}
	waits := await(b)
	select {
	case <-waits:
		t.Fatal("the lock was acquired while another client held it")
	case <-time.After(50 * time.Millisecond):
	}
	servicetest.Release(t, a)
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
}

// await acquires a lock meanwhile, and releases it.
func await(l *lock) <-chan error {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := l.Acquire(ctx)
		if err == nil {
			err = l.Release(ctx)
		}
		done <- err
	}()
	return done
}

// crowd shows whom clients watch that wait: the one before, or all the holder.
func crowd(t *testing.T, r *service.Running) {
	for _, recipe := range []string{own, herd} {
		holder := client(t, r.Addresses, "crowd"+recipe, "recipe="+recipe)
		servicetest.Acquire(t, holder, 5*time.Second)
		var all []<-chan error
		for range 3 {
			all = append(all, await(client(t, r.Addresses, "crowd"+recipe, "recipe="+recipe)))
		}
		want := map[string]string{own: "watching 3 paths\nTotal watches:3",
			herd: "watching 1 paths\nTotal watches:3"}
		for end := time.Now().Add(5 * time.Second); !strings.Contains(watches(t, r), want[recipe]); {
			if time.Now().After(end) {
				t.Fatalf("with recipe=%s, not %s, but %s", recipe, want[recipe], watches(t, r))
			}
			time.Sleep(10 * time.Millisecond)
		}
		servicetest.Release(t, holder)
		for _, done := range all {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
}

// watches returns what the server says of watches.
func watches(t *testing.T, r *service.Running) string {
	t.Helper()
	c, err := net.Dial("tcp", r.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "wchs")
	says, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(says)
}

// toldInTime shows that a holder which is cut off is told so before another one enters.
func toldInTime(t *testing.T, r *service.Running) {
	p := servicetest.NewProxy(t, r.Addresses[0])
	// It is told after 2 s, and the other enters after 3 s.
	a, b := client(t, []string{p.Address}, "in time", "session=3s"), client(t, r.Addresses, "in time")
	g := servicetest.Acquire(t, a, 5*time.Second)
	p.Cut()
	second := servicetest.Acquire(t, b, 8*time.Second)
	servicetest.Lost(t, g, 0)
	if second.Fence <= g.Fence {
		t.Errorf("fence %d comes after %d", second.Fence, g.Fence)
	}
}

// unlockFailed shows that others wait for a node that the library's Unlock has left behind, unless the client
// ends its session.
func unlockFailed(t *testing.T, r *service.Running) {
	for failed, enters := range map[string]bool{ends: true, kept: false} {
		p := servicetest.NewProxy(t, r.Addresses[0])
		a := client(t, []string{p.Address}, "failed"+failed, "recipe=library", "session=3s", "failed="+failed)
		b := client(t, r.Addresses, "failed"+failed, "recipe=library")
		servicetest.Acquire(t, a, 5*time.Second)
		p.Cut()
		released := make(chan error, 1)
		go func() { released <- a.Release(t.Context()) }()
		time.Sleep(100 * time.Millisecond) // so that it has been sent
		p.Heal()
		if err := <-released; err == nil || errors.Is(err, program.ErrLost) {
			t.Fatalf("failed=%s: the release whose connection is lost returns %v", failed, err)
		}
		select {
		case err := <-await(b):
			if !enters || err != nil {
				t.Errorf("failed=%s: another acquires the lock: %v", failed, err)
			}
		case <-time.After(5 * time.Second):
			if enters {
				t.Errorf("failed=%s: no other acquires the lock", failed)
			}
		}
	}
}

// answerLost shows that a client whose answer to create is lost does not wait for its own node.
func answerLost(t *testing.T, r *service.Running) {
	p := servicetest.NewProxy(t, r.Addresses[0])
	a := client(t, []string{p.Address}, "answer", "session=3s")
	servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Release(t, a)
	name := "_c_LOST-lock-"
	if _, err := a.conn.Create(a.root+"/"+name, nil, zk.FlagEphemeral|zk.FlagSequence, anybody); err != nil {
		t.Fatal(err)
	}
	node, err := a.named(name)
	if err != nil || !strings.HasPrefix(node, a.root+"/"+name) {
		t.Errorf("the node that was created is %q, %v", node, err)
	}
	if node, err := a.named("_c_OTHER-lock-"); node != "" || err != nil {
		t.Errorf("a node that was not created is %q, %v", node, err)
	}
}

// toldLate shows that it is told that its session has expired once it is connected again.
func toldLate(t *testing.T, r *service.Running) {
	p := servicetest.NewProxy(t, r.Addresses[0])
	a := client(t, []string{p.Address}, "late", "session=1s", "lost=expired")
	b := client(t, r.Addresses, "late")
	g := servicetest.Acquire(t, a, 5*time.Second)
	p.Cut()
	servicetest.Acquire(t, b, 5*time.Second)
	servicetest.Kept(t, g, 0)
	p.Heal()
	servicetest.Lost(t, g, 8*time.Second)
	if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
		t.Errorf("the release of a lock that is lost returns %v", err)
	}
	servicetest.Release(t, b)
	servicetest.Retry(t, a, 5*time.Second)
}

// sessionOver shows that a client which ends gives the lock back.
func sessionOver(t *testing.T, r *service.Running) {
	a, b := client(t, r.Addresses, "over"), client(t, r.Addresses, "over")
	servicetest.Acquire(t, a, 5*time.Second)
	a.Close()
	servicetest.Acquire(t, b, time.Second)
}

// A cluster of three goes on without its leader.
func TestLeaderKilled(t *testing.T) {
	r := servicetest.Start(t, &Service, "members=3")
	a, b := client(t, r.Addresses, "x"), client(t, r.Addresses, "x")
	first := servicetest.Acquire(t, a, 5*time.Second)
	leader, err := r.Leader(t.Context())
	if err != nil || leader < 0 {
		t.Fatalf("server %d leads: %v", leader, err)
	}
	if err := r.Kill(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	// The holder may be disconnected, and has to try for its release.
	for err = a.Release(t.Context()); err != nil && !errors.Is(err, program.ErrLost); {
		err = a.remove(t.Context())
	}
	second := servicetest.Retry(t, b, 15*time.Second)
	if second.Fence <= first.Fence {
		t.Errorf("fence %d comes after %d", second.Fence, first.Fence)
	}
	if now, err := r.Leader(t.Context()); err != nil || now < 0 || now == leader {
		t.Errorf("after server %d was killed, server %d leads: %v", leader, now, err)
	}
	if err := r.Restart(t.Context(), leader, false); err != nil {
		t.Error(err)
	}
}
