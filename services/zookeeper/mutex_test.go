package zookeeper

import (
	"errors"
	"testing"
	"time"

	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

// curatorClient returns that of a node by Curator.
func curatorClient(t *testing.T, servers []string, words ...string) *curatorLock {
	t.Helper()
	l, err := openCurator(t.Context(), servicetest.Setting("curator", servers...),
		servicetest.Values(t, &Service, append(words, "recipe="+curator)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*curatorLock)
}

// Curator's lock excludes, has the czxid as fence, and gives up when it is told to. A holder whose connection
// is cut is told so, and another enters once its session is over.
func TestCurator(t *testing.T) {
	r := servicetest.Start(t, &Service, "recipe="+curator)
	p := servicetest.NewProxy(t, r.Addresses[0])
	a := curatorClient(t, []string{p.Address}, "session=1s")
	b := curatorClient(t, r.Addresses)
	var last uint64
	for range 2 {
		for l, other := range map[*curatorLock]*curatorLock{a: b, b: a} {
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
	g := servicetest.Acquire(t, a, 5*time.Second)
	p.Cut()
	servicetest.Lost(t, g, 5*time.Second)
	servicetest.Acquire(t, b, 5*time.Second)
	servicetest.Release(t, b)
	for late := time.Now().Add(5 * time.Second); !a.losses.release() && time.Now().Before(late); {
		time.Sleep(10 * time.Millisecond)
	}
	p.Heal()
	if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
		t.Errorf("a lock whose session is over is released: %v", err)
	}
	servicetest.Acquire(t, a, 10*time.Second)
}
