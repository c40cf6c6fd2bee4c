package zookeeper

import (
	"context"
	"testing"
	"time"

	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

// latchOf returns the client of a node by Curator's LeaderLatch.
func latchOf(t *testing.T, name string, servers []string, words ...string) program.Elector {
	t.Helper()
	l, err := openLatch(context.WithoutCancel(t.Context()), servicetest.Setting(name, servers...),
		servicetest.Values(t, &Latch, words...))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A leader whose connection is cut says that it leads no more. Another leads once its session is over, in a
// later term, and the first follows that one once it is connected again.
func TestLatch(t *testing.T) {
	r := servicetest.Start(t, &Latch)
	p := servicetest.NewProxy(t, r.Addresses[0])
	toldA, _ := servicetest.Run(t, latchOf(t, "n0", []string{p.Address}, "session=1s"))
	a := servicetest.Await(t, toldA, 5*time.Second, "n0")
	toldB, _ := servicetest.Run(t, latchOf(t, "n1", r.Addresses))
	if b := servicetest.Await(t, toldB, 5*time.Second, "n0"); b != a {
		t.Errorf("one says %v and the other %v", a, b)
	}
	p.Cut()
	servicetest.Await(t, toldA, 5*time.Second, "")
	b := servicetest.Await(t, toldB, 5*time.Second, "n1")
	if b.Term <= a.Term {
		t.Errorf("the term was %d and then %d", a.Term, b.Term)
	}
	p.Heal()
	if a := servicetest.Await(t, toldA, 10*time.Second, "n1"); a != b {
		t.Errorf("one says %v and the other %v", a, b)
	}
}
