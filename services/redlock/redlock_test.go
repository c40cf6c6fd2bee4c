package redlock

import (
	"errors"
	"testing"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &Service) }

// client returns the client of a node for some servers.
func client(t *testing.T, servers []string, prefix string, words ...string) *lock {
	return servicetest.Client(t, &Service, open, servers, prefix, words...)
}

func TestLock(t *testing.T) {
	r := servicetest.Start(t, &Service)
	for _, c := range []struct {
		name string
		test func(t *testing.T, r *service.Running)
	}{{"excludes", excludes}, {"expires", expires}, {"renews", renews}, {"late", late},
		{"deleted", deleted}, {"amnesia", amnesia}, {"silence", silence}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, r) })
	}
}

// excludes shows that one client at a time holds the lock, and that program.ErrRefused is the error when the
// library gives up.
func excludes(t *testing.T, r *service.Running) {
	a := client(t, r.Addresses, "excludes", "tries=2", "delay=1ms")
	b := client(t, r.Addresses, "excludes", "tries=2", "delay=1ms")
	for l, other := range map[*lock]*lock{a: b, b: a} {
		if g := servicetest.Acquire(t, l, 5*time.Second); g.Lost != nil {
			t.Error("a grant without watch says when it is lost")
		}
		if _, err := other.Acquire(t.Context()); !errors.Is(err, program.ErrRefused) {
			t.Errorf("a lock that is held is refused with: %v", err)
		}
		servicetest.Release(t, l)
	}
}

// expires shows that the servers free a lock after px, and that the holder learns it only by its own clock.
func expires(t *testing.T, r *service.Running) {
	a := client(t, r.Addresses, "expires", "px=500ms", "watch=on", "drift=0.5")
	b := client(t, r.Addresses, "expires", "px=1m")
	g := servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Kept(t, g, 100*time.Millisecond)
	servicetest.Lost(t, g, 200*time.Millisecond) // after half of px; drift=0.5 takes the other half
	servicetest.Acquire(t, b, 5*time.Second)
	if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
		t.Errorf("the release of a lock that is lost returns %v", err)
	}
	servicetest.Release(t, b)
}

// renews shows that a holder that extends its lock keeps it, and is told when a majority of the keys are
// another's. With renew=blind it is not told.
func renews(t *testing.T, r *service.Running) {
	for _, how := range []string{"on", "blind"} {
		a := client(t, r.Addresses, "renews "+how, "px=600ms", "renew="+how)
		b := client(t, r.Addresses, "renews "+how, "px=1m", "tries=1")
		g := servicetest.Acquire(t, a, 5*time.Second)
		servicetest.Kept(t, g, 900*time.Millisecond)
		if _, err := b.Acquire(t.Context()); !errors.Is(err, program.ErrRefused) {
			t.Fatalf("a lock that is held is refused with: %v", err)
		}
		for _, c := range a.Clients[:2] {
			c.Del(t.Context(), a.name)
		}
		servicetest.Retry(t, b, time.Second)
		if how == "blind" {
			servicetest.Kept(t, g, 400*time.Millisecond)
		} else {
			servicetest.Lost(t, g, 400*time.Millisecond)
		}
		a.watch.End()
	}
}

// late shows that a holder is told when the answers to its extension come too late.
func late(t *testing.T, r *service.Running) {
	first, second := servicetest.NewProxy(t, r.Addresses[0]), servicetest.NewProxy(t, r.Addresses[1])
	a := client(t, []string{first.Address, second.Address, r.Addresses[2]}, "late", "px=600ms", "renew=on")
	g := servicetest.Acquire(t, a, 5*time.Second)
	first.Cut()
	second.Cut()
	servicetest.Kept(t, g, 300*time.Millisecond)
	servicetest.Lost(t, g, 600*time.Millisecond)
}

// deleted shows that the keys of the holder can be deleted by hand.
func deleted(t *testing.T, r *service.Running) {
	const prefix = "deleted"
	a, b := client(t, r.Addresses, prefix, "px=1m"), client(t, r.Addresses, prefix, "px=1m")
	servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Take(t, r, service.Delete, prefix, prefix)
	servicetest.Acquire(t, b, 5*time.Second)
}

// amnesia shows that two clients hold the lock if a server forgets it: a client locks on the first and second
// servers, and then the second server restarts without its data.
func amnesia(t *testing.T, r *service.Running) {
	third := servicetest.NewProxy(t, r.Addresses[2])
	third.Cut()
	a := client(t, []string{r.Addresses[0], r.Addresses[1], third.Address}, "amnesia", "px=1m", "fail-fast=on")
	b := client(t, r.Addresses, "amnesia", "px=1m", "tries=1")
	servicetest.Acquire(t, a, 5*time.Second)
	if _, err := b.Acquire(t.Context()); !errors.Is(err, program.ErrRefused) {
		t.Fatalf("a lock that is held is refused with: %v", err)
	}
	if err := r.Do(t.Context(), service.Order{Do: service.Kill, Server: 1},
		service.Order{Do: service.Start, Server: 1}); err != nil {
		t.Fatal(err)
	}
	servicetest.Retry(t, b, 5*time.Second)
}

// silence shows that go-redis heeds the library's limit for an answer only if told so.
func silence(t *testing.T, r *service.Running) {
	third := servicetest.NewProxy(t, r.Addresses[2])
	third.Cut()
	servers := []string{r.Addresses[0], r.Addresses[1], third.Address}
	servicetest.Retry(t, client(t, servers, "silence", "deadlines=on", "tries=1"), 2*time.Second)
	unlimited := client(t, servers, "silence, long", "px=1s", "tries=1")
	if _, err := unlimited.Acquire(t.Context()); err == nil {
		t.Error("a lock was acquired that had expired before the last server was given up")
	}
}

func TestOptionsRefused(t *testing.T) {
	for _, word := range []string{"members=2", "drift=1", "drift=x", "delay=soon", "tries=0"} {
		if _, err := Service.Parse([]string{word}); err == nil {
			t.Errorf("%s is accepted", word)
		}
	}
}
