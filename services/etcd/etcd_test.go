package etcd

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"turnstile/bench/service"
	"turnstile/internal/soak"
	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &Lock, &Election) }

// lockOf returns the client of a node, which ends with the test.
func lockOf(t *testing.T, name string, servers []string, words ...string) *lock {
	t.Helper()
	l, err := openLock(t.Context(), servicetest.Setting(name, servers...),
		servicetest.Values(t, &Lock, words...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// dial returns a client of servers that know it.
func dial(servers ...string) (*clientv3.Client, error) {
	s := servicetest.Setting("", servers...)
	return Dial(&s.Secret, servers...)
}

// TestTakenAway has an operator delete the key of a holder, which is not told; of a waiting client, which
// queues again; and end the session of a holder, which is told.
func TestTakenAway(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock)
	const prefix = "test/"
	a, b := lockOf(t, "n1", r.Addresses), lockOf(t, "n2", r.Addresses)
	servicetest.TakeNothing(t, r, service.Delete, "n1", prefix)
	g := servicetest.Acquire(t, a, 2*time.Second)
	servicetest.TakeNothing(t, r, service.Delete, "n2", prefix)
	servicetest.Take(t, r, service.Delete, "n1", prefix)
	servicetest.Acquire(t, b, 2*time.Second)
	servicetest.Kept(t, g, 50*time.Millisecond)
	servicetest.Release(t, a)
	entered := make(chan program.Grant)
	go func() {
		g, _ := a.Acquire(t.Context())
		entered <- g
	}()
	servicetest.Take(t, r, service.Delete, "n1", prefix)
	servicetest.Release(t, b)
	g = <-entered
	servicetest.Take(t, r, service.Expire, "n1", prefix)
	servicetest.Lost(t, g, 2*time.Second)
	servicetest.Acquire(t, b, 2*time.Second)
}

// TestLock has two clients take turns, and one lose its lease.
func TestLock(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock)
	a, b := lockOf(t, "n0", r.Addresses), lockOf(t, "n1", r.Addresses)
	ga := servicetest.Acquire(t, a, 2*time.Second)
	entered := make(chan program.Grant)
	go func() {
		g, err := b.Acquire(t.Context())
		if err != nil {
			t.Error(err)
		}
		entered <- g
	}()
	select {
	case <-entered:
		t.Fatal("two are inside")
	case <-time.After(200 * time.Millisecond):
	}
	if err := a.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	gb := <-entered
	if gb.Fence <= ga.Fence {
		t.Errorf("the fence was %d and then %d", ga.Fence, gb.Fence)
	}
	if _, err := b.client.Revoke(t.Context(), b.session.Lease()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gb.Lost:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody said that the lock was lost")
	}
	if err := b.Release(t.Context()); !errors.Is(err, program.ErrLost) {
		t.Errorf("released with %v", err)
	}
	if g := servicetest.Acquire(t, b, 2*time.Second); g.Fence <= gb.Fence {
		t.Errorf("the fence was %d and then %d", gb.Fence, g.Fence)
	}
}

// TestWaiterLosesSession revokes the lease of a waiting client: the client must enter by a new session.
func TestWaiterLosesSession(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock)
	a, b := lockOf(t, "n0", r.Addresses), lockOf(t, "n1", r.Addresses)
	servicetest.Acquire(t, a, 2*time.Second)
	s, err := b.get()
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan program.Grant)
	go func() {
		g, err := b.Acquire(t.Context())
		if err != nil {
			t.Error(err)
		}
		entered <- g
	}()
	waiters(t, a, 2)
	least, err := a.client.Grant(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if says := granted(servicetest.Values(t, &Lock, "ttl=1s")); says != time.Duration(least.TTL)*time.Second {
		t.Errorf("servers grant %d s, and we say %v", least.TTL, says)
	}
	if _, err := a.client.Revoke(t.Context(), s.Lease()); err != nil {
		t.Fatal(err)
	}
	if err := a.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-entered:
	case <-time.After(5 * time.Second):
		t.Fatal("it does not enter by a new session")
	}
	if b.session == s {
		t.Error("it entered by a session that is over")
	}
}

// TestNobodyThere opens a client where no server answers: it gets an error.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	_, err := openLock(t.Context(), servicetest.Setting("n0", "127.0.0.1:1"), servicetest.Values(t, &Lock))
	if err == nil {
		t.Error("it opened")
	}
}

// waiters waits until the lock has n keys.
func waiters(t *testing.T, l *lock, n int64) {
	t.Helper()
	for range 200 {
		r, err := l.client.Get(t.Context(), l.name+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil && r.Count == n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the lock never had %d keys", n)
}

// TestSharedSession lets two nodes with one lease both hold the lock: the library takes them for one.
func TestSharedSession(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock)
	a := lockOf(t, "n0", r.Addresses, "session=shared")
	b := lockOf(t, "n1", r.Addresses, "session=shared")
	ga, gb := servicetest.Acquire(t, a, 2*time.Second), servicetest.Acquire(t, b, 2*time.Second)
	if ga.Fence != gb.Fence {
		t.Errorf("the fences are %d and %d", ga.Fence, gb.Fence)
	}
}

// TestRetriedUnlock repeats an unlock that succeeded but counts as failed, after the client has locked again:
// the repeated unlock frees the new lock, and another client enters.
func TestRetriedUnlock(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock)
	a := lockOf(t, "n0", r.Addresses, "unlock=retried")
	servicetest.Acquire(t, a, 2*time.Second)
	if _, err := a.client.Delete(t.Context(), a.mutex.Key()); err != nil { // an unlock whose answer is lost
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	a.Release(ctx)
	cancel()
	servicetest.Acquire(t, a, 2*time.Second)
	servicetest.Acquire(t, lockOf(t, "n1", r.Addresses), 2*time.Second)
}

// TestFailedUnlock has an unlock fail: the key stays for as long as the session, which the client ends unless
// failed=kept.
func TestFailedUnlock(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock)
	for how, enters := range map[string]bool{"ends": true, "kept": false} {
		prefix := "failed" + how
		a, b := lockOf(t, "n0", r.Addresses, "failed="+how), lockOf(t, "n1", r.Addresses)
		a.name, b.name = prefix, prefix
		servicetest.Acquire(t, a, 2*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a.Release(ctx)
		if enters {
			servicetest.Acquire(t, b, 2*time.Second)
			continue
		}
		servicetest.Refused(t, b, 3*time.Second)
		servicetest.Acquire(t, a, 2*time.Second)
		servicetest.Release(t, a)
		servicetest.Acquire(t, b, 2*time.Second)
	}
}

// TestFailover kills the leader of three servers, and restarts it.
func TestFailover(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock, "members=3")
	l := lockOf(t, "n0", r.Addresses)
	before := servicetest.Acquire(t, l, 2*time.Second)
	leads := leaderOf(t, r)
	kill(t, r, leads)
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g := servicetest.Acquire(t, l, 8*time.Second); g.Fence <= before.Fence {
		t.Errorf("the fence was %d and then %d", before.Fence, g.Fence)
	}
	if next := leaderOf(t, r); next == leads {
		t.Errorf("server %d leads, which was killed", next)
	}
	restart(t, r, leads, false)
}

// TestRejoin restarts a server with an empty folder, and then needs it for a majority.
func TestRejoin(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock, "members=3")
	leads := leaderOf(t, r)
	follows := (leads + 1) % 3
	kill(t, r, follows)
	restart(t, r, follows, true)
	kill(t, r, (leads+2)%3)
	servicetest.Acquire(t, lockOf(t, "n0", r.Addresses), 8*time.Second)
}

func leaderOf(t *testing.T, r *service.Running) int {
	t.Helper()
	leads, err := r.Leader(t.Context())
	if err != nil || leads < 0 {
		t.Fatalf("server %d leads (%v)", leads, err)
	}
	return leads
}

func kill(t *testing.T, r *service.Running, server int) {
	t.Helper()
	if err := r.Do(t.Context(), service.Order{Do: service.Kill, Server: server}); err != nil {
		t.Fatal(err)
	}
}

func restart(t *testing.T, r *service.Running, server int, forget bool) {
	t.Helper()
	if err := r.Do(t.Context(), service.Order{Do: service.Start, Server: server, Forget: forget}); err != nil {
		t.Fatal(err)
	}
	if err := r.Do(t.Context(), service.Order{Do: service.Await, Server: server}); err != nil {
		t.Fatal(err)
	}
}

// TestNoRejoin restarts a server with an empty folder without a majority: it is not added again.
func TestNoRejoin(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for 10 s")
	}
	t.Parallel()
	r := servicetest.Start(t, &Lock, "members=3")
	kill(t, r, 0)
	kill(t, r, 1)
	if err := r.Do(t.Context(), service.Order{Do: service.Start, Forget: true}); err == nil {
		t.Error("it rejoined without a majority")
	}
}

// run runs an elector until the test ends.
func run(t *testing.T, name string, servers []string, words ...string) (
	*elector, <-chan servicetest.Following) {
	t.Helper()
	e, err := openElector(t.Context(), servicetest.Setting(name, servers...),
		servicetest.Values(t, &Election, words...))
	if err != nil {
		t.Fatal(err)
	}
	told, _ := servicetest.Run(t, e)
	return e, told
}

// TestElection lets two nodes follow the first, and the second take over when the lease is revoked.
func TestElection(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Election)
	first, toldA := run(t, "n0", r.Addresses)
	a := servicetest.Await(t, toldA, 10*time.Second, "n0")
	_, toldB := run(t, "n1", r.Addresses)
	if b := servicetest.Await(t, toldB, 10*time.Second, "n0"); b != a {
		t.Errorf("one says %v and the other %v", a, b)
	}
	if _, err := first.client.Revoke(t.Context(), first.latest.Lease()); err != nil {
		t.Fatal(err)
	}
	b := servicetest.Await(t, toldB, 10*time.Second, "n1")
	if b.Term <= a.Term {
		t.Errorf("the term was %d and then %d", a.Term, b.Term)
	}
	servicetest.Await(t, toldA, 10*time.Second, "")
	if a := servicetest.Await(t, toldA, 10*time.Second, "n1"); a != b {
		t.Errorf("one says %v and the other %v", a, b)
	}
}

// TestPhantomLeader shows https://github.com/etcd-io/etcd/pull/22387: Campaign returns nil to a client whose
// lease is gone, so two clients lead.
func TestPhantomLeader(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Election)
	_, toldA := run(t, "n0", r.Addresses, "resign=2s")
	servicetest.Await(t, toldA, 10*time.Second, "n0")
	b, toldB := run(t, "n1", r.Addresses, "obey=off")
	servicetest.Await(t, toldB, 10*time.Second, "n0")
	time.Sleep(200 * time.Millisecond) // so that n1 campaigns
	if _, err := b.client.Revoke(t.Context(), b.latest.Lease()); err != nil {
		t.Fatal(err)
	}
	phantom := servicetest.Await(t, toldB, 10*time.Second, "n1")
	real := servicetest.Await(t, toldA, 10*time.Second, "n0")
	if phantom.Term >= real.Term {
		t.Errorf("the phantom leads in term %d, and n0 in %d", phantom.Term, real.Term)
	}
}

// copyOf returns a server's copy of a value, without asking the others.
func copyOf(t *testing.T, address, name string) string {
	t.Helper()
	c, err := dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), askLimit)
	defer cancel()
	got, err := c.Get(ctx, name, clientv3.WithSerializable())
	if err != nil {
		t.Errorf("the server at %s does not say what it has: %v", address, err)
	} else if len(got.Kvs) == 1 {
		return string(got.Kvs[0].Value)
	}
	return ""
}

// A small configuration file survives the loss of the leader, since a majority has it. Without a majority it
// can be read at a server, which may be behind, but not written. A replica added with an empty folder catches
// up, and serves it from its own copy.
func TestConfiguration(t *testing.T) {
	if soak.Pick(true, false, false) {
		t.Skip("it takes 10 s")
	}
	t.Parallel()
	const name = "test/configuration"
	r := servicetest.Start(t, &Lock, "members=3")
	clients := make([]*clientv3.Client, len(r.Addresses))
	for i, address := range r.Addresses {
		c, err := dial(address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		clients[i] = c
	}
	// Without a leader, requests are lost.
	write := func(server int, text string, within time.Duration) (err error) {
		for late := time.Now().Add(within); time.Now().Before(late); {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = clients[server].Put(ctx, name, text)
			if cancel(); err == nil {
				return nil
			}
		}
		return err
	}
	own := func(server int) string { return copyOf(t, r.Addresses[server], name) }

	lead := leaderOf(t, r)
	second, third := (lead+1)%3, (lead+2)%3
	if err := write(lead, "port 80", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	kill(t, r, lead)
	if err := write(second, "port 81", 15*time.Second); err != nil {
		t.Errorf("after the leading server was killed: %v", err)
	}
	kill(t, r, third)
	if err := write(second, "port 82", 2*time.Second); err == nil {
		t.Error("one of three servers takes what is written")
	}
	if text := own(second); text != "port 81" {
		t.Errorf("a server without a majority has %q", text)
	}

	restart(t, r, third, false)
	restart(t, r, lead, true) // the others remove the old member, and add a new one
	if next := leaderOf(t, r); next == lead {
		t.Error("a replica that was just added leads")
	}
	kill(t, r, third)
	kill(t, r, second)
	// An unconfirmed write may have been applied once there was a majority again.
	if text := own(lead); text != "port 81" && text != "port 82" {
		t.Errorf("the replica that was added has %q", text)
	}
}

// A release wakes one of eight waiting clients.
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

// A session survives the replacement of the leader, and its client's keys expire with it.
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

// A lock is advisory: a client without it can still write, and so can one that has lost it. A resource that
// checks sequencers refuses both.
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
	none := clientv3.Compare(clientv3.CreateRevision("test/lock/none"), "=", 1) // refers to no lock that exists
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

// named fails the test unless a client that opens gets a one-line error about the server.
func named(t *testing.T, at, says string) {
	t.Helper()
	l, err := openLock(t.Context(), servicetest.Setting("x", at), servicetest.Values(t, &Lock))
	if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), at) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v, and is to say %q in one line", err, says)
	}
	if l != nil {
		l.Close()
	}
}

// Servers that require a password say so, also to a client with a certificate.
func TestPasswordIsWanted(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &Lock)
	c, err := dial(r.Addresses...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.UserAdd(t.Context(), "root", "secret")
	_, grants := c.UserGrantRole(t.Context(), "root", "root")
	_, enables := c.AuthEnable(t.Context())
	if err := errors.Join(err, grants, enables); err != nil {
		t.Fatal(err)
	}
	named(t, r.Addresses[0], "permission denied")
}

// Servers of an unsuitable version, or of another protocol, are named in the error.
func TestServersOfSomebodyElse(t *testing.T) {
	t.Parallel()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	other := listen()
	s := grpc.NewServer()
	go s.Serve(other)
	t.Cleanup(s.Stop)
	named(t, other.Addr().String(), "unknown service etcdserverpb.KV")
	nonsense := listen()
	go func() {
		for c, err := nonsense.Accept(); err == nil; c, err = nonsense.Accept() {
			c.Write([]byte("nonsense \x00\xff\r\n"))
			c.Close()
		}
	}()
	named(t, nonsense.Addr().String(), "does not answer as etcd does to a client without a password")
}

// A client that ignores the end of its session relies on the servers.
func TestObey(t *testing.T) {
	servicetest.Obeys(t, &Lock)
	servicetest.Obeys(t, &Election)
}
