package etcd

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

// Of eight clients that wait, a release wakes the next one.
func TestOneWaiterIsWoken(t *testing.T) {
	r := servicetest.Start(t, &Lock)
	const waiting = 8
	woken, bytes := servicetest.Woken(t, r, waiting, func(servers []string) program.Lock {
		return lockOf(t, "n", servers, "ttl=60s")
	})
	if woken != 1 {
		t.Errorf("a release wakes %d of %d clients, with %d bytes", woken, waiting, bytes)
	}
	t.Logf("a release wakes %d of %d clients, with %d bytes", woken, waiting, bytes)
}

// A session is kept while the leading server is replaced, and what its client holds goes with it.
func TestSessions(t *testing.T) {
	r := servicetest.Start(t, &Lock, "members=3")
	a := lockOf(t, "n0", r.Addresses, "ttl=20s")
	g := servicetest.Acquire(t, a, 5*time.Second)
	kill(t, r, leaderOf(t, r))
	b := lockOf(t, "n1", r.Addresses, "ttl=20s")
	servicetest.Refused(t, b, 4*time.Second) // meanwhile another one leads
	servicetest.Kept(t, g, 0)
	if next := leaderOf(t, r); next < 0 {
		t.Error("nobody leads")
	}
	if err := a.session.Close(); err != nil {
		t.Fatal(err)
	}
	servicetest.Acquire(t, b, 5*time.Second)
	servicetest.Lost(t, g, time.Second)
}

// A lock is advisory: a client that does not ask for it writes all the same, and so does one that has lost
// it. A resource that checks sequencers refuses both.
func TestAdvisory(t *testing.T) {
	r := servicetest.Start(t, &Lock)
	a, b := lockOf(t, "n0", r.Addresses), lockOf(t, "n1", r.Addresses)
	stranger := lockOf(t, "n2", r.Addresses)
	const data = "test/data"
	write := func(l *lock, value string, checks ...clientv3.Cmp) (accepted bool) {
		t.Helper()
		txn, err := l.client.Txn(t.Context()).If(checks...).Then(clientv3.OpPut(data, value)).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return txn.Succeeded
	}
	holds := func(want string) {
		t.Helper()
		got, err := b.client.Get(t.Context(), data)
		if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != want {
			t.Errorf("the resource holds %v (%v), not %q", got.Kvs, err, want)
		}
	}
	first := servicetest.Acquire(t, a, 2*time.Second)
	owns := a.mutex.IsOwner() // its sequencer: the key of the lock, and the revision that created it
	if !write(a, "by the holder", owns) {
		t.Error("the holder is refused")
	}
	write(stranger, "by a stranger")
	holds("by a stranger")
	none := clientv3.Compare(clientv3.CreateRevision("test/lock/none"), "=", 1) // what it could show is no lock
	if write(stranger, "by a stranger again", none) {
		t.Error("a client without a sequencer is accepted where one is checked")
	}
	if _, err := b.client.Revoke(t.Context(), a.session.Lease()); err != nil {
		t.Fatal(err)
	}
	second := servicetest.Acquire(t, b, 5*time.Second)
	if second.Fence <= first.Fence {
		t.Errorf("fence %d comes after %d", second.Fence, first.Fence)
	}
	if !write(b, "by the next holder", b.mutex.IsOwner()) {
		t.Error("the next holder is refused")
	}
	if write(a, "by the old holder", owns) {
		t.Error("the sequencer of the old holder is accepted")
	}
	holds("by the next holder")
	write(a, "by the old holder")
	holds("by the old holder")
}
