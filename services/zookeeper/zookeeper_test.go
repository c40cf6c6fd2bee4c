package zookeeper

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"turnstile/bench/service"
	"turnstile/internal/soak"
	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &Service, &Latch) }

// client returns the client of a node for some servers.
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
		{"taken away", takenAway}, {"unlock failed", unlockFailed}, {"answer lost", answerLost},
		{"reconnected", reconnected}, {"expired", expiredWhileItWaits},
		{"asks again", asksAgain}, {"release waits", releaseWaits}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, r) })
	}
}

// excludes shows that one client at a time holds the lock, and that fences rise.
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

// takenAway shows that an operator can delete the node of a client and end its session. A holder is told of
// the end of its session alone.
func takenAway(t *testing.T, r *service.Running) {
	const prefix = "test/taken/"
	named := func(name string) *lock {
		l := client(t, r.Addresses, "taken", "session=1m")
		l.name = []byte(name)
		return l
	}
	a, b := named("n1"), named("n2")
	servicetest.TakeNothing(t, r, service.Delete, "n1", prefix)
	g := servicetest.Acquire(t, a, 5*time.Second)
	servicetest.TakeNothing(t, r, service.Expire, "n2", prefix)
	servicetest.Take(t, r, service.Delete, "n1", prefix)
	g2 := servicetest.Acquire(t, b, 5*time.Second)
	servicetest.Kept(t, g, 50*time.Millisecond)
	servicetest.Take(t, r, service.Expire, "n2", prefix)
	servicetest.Lost(t, g2, 5*time.Second)
	if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
		t.Errorf("the release of a lock that was deleted returns %v", err)
	}
	servicetest.Acquire(t, a, 5*time.Second)
}

// ofLibrary shows that one client at a time holds the library's lock, which has no fence.
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

// await acquires and releases a lock in the background.
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

// crowd shows which node a waiting client watches: the node before its own or, with herd, the holder's.
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

// watches returns the server's report about watches.
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

// toldInTime shows that a holder that is cut off learns so before another client enters.
func toldInTime(t *testing.T, r *service.Running) {
	p := servicetest.NewProxy(t, r.Addresses[0])
	// Client a is told after 2 s, and b enters after 3 s.
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
	for failed, enters := range map[string]bool{"ends": true, "kept": false} {
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

// reconnected shows that a client that was disconnected while it waited keeps what the library then grants.
func reconnected(t *testing.T, r *service.Running) {
	p := servicetest.NewProxy(t, r.Addresses[0])
	a := client(t, []string{p.Address}, "reconnected", "recipe=library", "session=12s")
	b := client(t, r.Addresses, "reconnected", "recipe=library")
	servicetest.Acquire(t, b, 5*time.Second)
	granted := make(chan program.Grant, 1)
	go func() {
		defer close(granted)
		if g, err := a.Acquire(t.Context()); err == nil {
			granted <- g
		}
	}()
	time.Sleep(200 * time.Millisecond) // so that it waits
	p.Cut()
	until(t, func() bool { return a.fallen() > 0 }) // after 8 s
	p.Heal()
	until(t, func() bool { return a.conn.State() == zk.StateHasSession })
	servicetest.Release(t, b)
	g, is := <-granted
	if !is {
		t.Fatal("its session has ended")
	}
	servicetest.Kept(t, g, 100*time.Millisecond)
}

// expiredWhileItWaits shows that a client whose session has expired does not enter by the node of that
// session, though the node may still be there: neither when it hears of that while it waits, nor at last.
func expiredWhileItWaits(t *testing.T, r *service.Running) {
	a, b := client(t, r.Addresses, "expired"), client(t, r.Addresses, "expired")
	servicetest.Acquire(t, a, 5*time.Second)
	refused := make(chan error, 1)
	go func() {
		_, err := b.Acquire(t.Context())
		refused <- err
	}()
	until(t, func() bool { return waiting(a) == 2 })
	b.hear(b.begun.Load(), zk.Event{Type: zk.EventSession, State: zk.StateExpired})
	servicetest.Release(t, a)
	if err := <-refused; !errors.Is(err, errExpired) {
		t.Errorf("a client whose session has expired enters: %v", err)
	}
	servicetest.Acquire(t, a, 5*time.Second)
	sessions := a.ended()
	a.hear(a.begun.Load(), zk.Event{Type: zk.EventSession, State: zk.StateExpired})
	if _, err := a.enter(t.Context(), a.fallen(), sessions); !errors.Is(err, errExpired) {
		t.Errorf("a client whose session has expired as it becomes the first enters: %v", err)
	}
}

// asksAgain shows that a client whose request failed with its session asks again in a new session, which
// outlives that request.
func asksAgain(t *testing.T, r *service.Running) {
	p := servicetest.NewProxy(t, r.Addresses[0])
	a := client(t, r.Addresses, "again", "recipe=library")
	b := client(t, []string{p.Address}, "again", "recipe=library", "session=1s")
	servicetest.Acquire(t, a, 5*time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := b.Acquire(ctx)
		failed <- err
	}()
	until(t, func() bool { return waiting(a) == 2 })
	p.Cut()
	until(t, func() bool { return waiting(a) == 1 })
	p.Heal()
	if err := <-failed; err == nil {
		t.Fatal("it enters though its session has ended")
	}
	cancel()
	servicetest.Release(t, a)
	servicetest.Acquire(t, b, 10*time.Second)
}

// waiting returns how many nodes there are in the queue of a client's lock.
func waiting(l *lock) int {
	all, _, _ := l.conn.Children(l.root)
	return len(all)
}

// until waits until a condition holds.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it takes too long")
		}
	}
}

// releaseWaits shows that a client that cannot release the lock tries until it can.
func releaseWaits(t *testing.T, r *service.Running) {
	p := servicetest.NewProxy(t, r.Addresses[0])
	a := client(t, []string{p.Address}, "waits", "session=1s")
	servicetest.Acquire(t, a, 5*time.Second)
	p.Cut()
	released := make(chan error, 1)
	go func() { released <- a.Release(t.Context()) }()
	select {
	case err := <-released:
		t.Fatalf("without a server the release returns %v", err)
	case <-time.After(2 * time.Second):
	}
	p.Heal()
	if err := <-released; err != nil && !errors.Is(err, program.ErrLost) {
		t.Error(err)
	}
	servicetest.Acquire(t, a, 5*time.Second)
}

// answerLost shows that a client finds its own node by name if the answer to its create is lost.
func answerLost(t *testing.T, r *service.Running) {
	p := servicetest.NewProxy(t, r.Addresses[0])
	a := client(t, []string{p.Address}, "answer", "session=3s")
	servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Release(t, a)
	name := "_c_LOST-lock-"
	if _, err := a.conn.Create(a.root+"/"+name, nil, zk.FlagEphemeral|zk.FlagSequence, a.acl); err != nil {
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

// toldLate shows that a client learns that its session has expired only once it is connected again.
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

// sessionOver shows that a client that ends frees the lock.
func sessionOver(t *testing.T, r *service.Running) {
	a, b := client(t, r.Addresses, "over"), client(t, r.Addresses, "over")
	servicetest.Acquire(t, a, 5*time.Second)
	a.Close()
	servicetest.Acquire(t, b, time.Second)
}

// A cluster of three continues without its leader.
func TestLeaderKilled(t *testing.T) {
	r := servicetest.Start(t, &Service, "members=3")
	a, b := client(t, r.Addresses, "x"), client(t, r.Addresses, "x")
	first := servicetest.Acquire(t, a, 5*time.Second)
	leader, err := r.Leader(t.Context())
	if err != nil || leader < 0 {
		t.Fatalf("server %d leads: %v", leader, err)
	}
	if err := r.Do(t.Context(), service.Order{Do: service.Kill, Server: leader}); err != nil {
		t.Fatal(err)
	}
	// The holder may be disconnected, and must retry its release.
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
	if err := r.Do(t.Context(), service.Order{Do: service.Start, Server: leader}); err != nil {
		t.Error(err)
	}
}

// latchOf returns the client of a node that uses Curator's LeaderLatch.
func latchOf(t *testing.T, name string, servers []string, words ...string) program.Elector {
	t.Helper()
	l, err := openLatch(context.WithoutCancel(t.Context()), servicetest.Setting(name, servers...),
		servicetest.Values(t, &Latch, words...))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A leader whose connection is cut stops leading. Once its session is over, a second node leads in a later
// term. Once the first node is connected again, it follows the second.
func TestLatch(t *testing.T) {
	r := servicetest.Start(t, &Latch)
	p := servicetest.NewProxy(t, r.Addresses[0])
	toldA, _ := servicetest.Run(t, latchOf(t, "n0", []string{p.Address}, "session=1s"))
	a := servicetest.Await(t, toldA, 5*time.Second, "n0")
	toldB, _ := servicetest.Run(t, latchOf(t, "n1", r.Addresses))
	b := servicetest.Await(t, toldB, 5*time.Second, "n0")
	for a != b { // on a slow machine its session may have ended, and it leads anew
		a = servicetest.Await(t, toldA, 5*time.Second, "n0")
	}
	p.Cut()
	servicetest.Await(t, toldA, 5*time.Second, "")
	b = servicetest.Await(t, toldB, 5*time.Second, "n1")
	if b.Term <= a.Term {
		t.Errorf("the term was %d and then %d", a.Term, b.Term)
	}
	p.Heal()
	if a := servicetest.Await(t, toldA, 10*time.Second, "n1"); a != b {
		t.Errorf("one says %v and the other %v", a, b)
	}
}

// curatorClient returns the client of a node that uses Curator.
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

// The client in Java is compiled once, by the first process that needs it. Only this user can write to the
// compiled classes.
func TestCompiledOnce(t *testing.T) {
	if err := needsCurator(); err != nil {
		t.Skipf("NOTHING IS COMPILED: %v", err)
	}
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	const all = 3
	dirs, errs := make([]string, all), make([]error, all)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { dirs[i], errs[i] = compiled(t.Context(), "Mutex", mutex) })
	}
	group.Wait()
	first, err := os.Stat(filepath.Join(dirs[0], "Mutex.class"))
	if err != nil || errors.Join(errs...) != nil || dirs[1] != dirs[0] || dirs[2] != dirs[0] {
		t.Fatalf("compiled in %q: %v, %v", dirs, errs, err)
	}
	again, err := compiled(t.Context(), "Mutex", mutex)
	if second, wrong := os.Stat(filepath.Join(again, "Mutex.class")); err != nil || wrong != nil ||
		!os.SameFile(first, second) {
		t.Errorf("it is compiled again in %q: %v, %v", again, err, wrong)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	err = Latch.Needs(servicetest.Values(t, &Latch))
	ready, _ := filepath.Glob(os.Getenv("XDG_CACHE_HOME") + "/turnstile-curator/Latch-*/Latch.class")
	if err != nil || len(ready) != 1 {
		t.Errorf("before a run, %q is compiled (%v)", ready, err)
	}
	t.Setenv("XDG_CACHE_HOME", cache)
	if err := os.Chmod(filepath.Join(cache, "turnstile-curator"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if dir, err := cacheFolder(); err != nil || filepath.Dir(dir) != os.TempDir() {
		t.Errorf("the folder is %q (%v), though others can write to the first", dir, err)
	}
}

// Curator's lock excludes, has the czxid as fence, and stops waiting when it is cancelled. A holder whose
// connection is cut is told so, and another client enters once the holder's session is over.
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

// A release wakes one of eight waiting clients, or all of them if all watch the holder.
func TestOneWaiterIsWoken(t *testing.T) {
	r := servicetest.Start(t, &Service)
	waiting := soak.Pick(4, 8, 8)
	took := map[string]int{}
	for recipe, want := range map[string]int{own: 1, herd: waiting} {
		woken, bytes := servicetest.Woken(t, r, waiting, func(servers []string) program.Lock {
			return client(t, servers, "woken"+recipe, "recipe="+recipe, "session=1m")
		})
		if took[recipe] = bytes; woken != want {
			t.Errorf("recipe=%s: a release wakes %d of %d clients, not %d", recipe, woken, waiting, want)
		}
		t.Logf("recipe=%s: a release wakes %d of %d clients, with %d bytes", recipe, woken, waiting, bytes)
	}
	if took[herd] < waiting/2*took[own] {
		t.Errorf("a release takes %v bytes", took)
	}
}

// A lock is advisory: a client without it can still write, and so can one that has lost it. A resource that
// checks sequencers refuses both.
func TestAdvisory(t *testing.T) {
	r := servicetest.Start(t, &Service)
	p := servicetest.NewProxy(t, r.Addresses[0])
	a, b := client(t, []string{p.Address}, "advisory", "session=1s"), client(t, r.Addresses, "advisory")
	stranger := client(t, r.Addresses, "stranger")
	const data = "/data"
	if _, err := stranger.conn.Create(data, nil, 0, stranger.acl); err != nil {
		t.Fatal(err)
	}
	// write changes the data if the node demands exists, or in any case if demands is "".
	write := func(l *lock, value, demands string) error {
		operations := []any{&zk.SetDataRequest{Path: data, Data: []byte(value), Version: -1}}
		if demands != "" {
			operations = append([]any{&zk.CheckVersionRequest{Path: demands, Version: -1}}, operations...)
		}
		var err error
		for late := time.Now().Add(10 * time.Second); time.Now().Before(late); time.Sleep(pause) {
			_, err = l.conn.Multi(operations...)
			if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrSessionExpired) &&
				!errors.Is(err, zk.ErrNoServer) {
				break // it is connected
			}
		}
		return err
	}
	holds := func(want string) {
		t.Helper()
		if got, _, err := b.conn.Get(data); err != nil || string(got) != want {
			t.Errorf("the resource holds %q (%v), not %q", got, err, want)
		}
	}
	first := servicetest.Acquire(t, a, 5*time.Second)
	owns := a.mine
	if err := errors.Join(write(a, "by the holder", owns), write(stranger, "by a stranger", "")); err != nil {
		t.Error(err)
	}
	holds("by a stranger")
	if err := write(stranger, "by a stranger again", a.root+"/none"); !errors.Is(err, zk.ErrNoNode) {
		t.Errorf("what a client without a sequencer writes where one is checked: %v", err)
	}
	p.Cut()
	second := servicetest.Acquire(t, b, 8*time.Second)
	if second.Fence <= first.Fence {
		t.Errorf("fence %d comes after %d", second.Fence, first.Fence)
	}
	if err := write(b, "by the next holder", b.mine); err != nil {
		t.Error(err)
	}
	p.Heal()
	if err := write(a, "by the old holder", owns); !errors.Is(err, zk.ErrNoNode) {
		t.Errorf("what the old holder writes by its sequencer: %v", err)
	}
	holds("by the next holder")
	if err := write(a, "by the old holder", ""); err != nil {
		t.Error(err)
	}
	holds("by the old holder")
}

// If servers require credentials, a client without them ends with a one-line error.
func TestCredentialsAreWanted(t *testing.T) {
	r := servicetest.Start(t, &Service)
	for _, recipe := range []string{own, library} {
		l := client(t, r.Addresses, "wanted"+recipe, "recipe="+recipe)
		if recipe == own {
			if _, err := l.conn.SetACL("/", zk.DigestACL(zk.PermAll, "somebody", "secret"), -1); err != nil {
				t.Fatal(err)
			}
		}
		_, err := l.Acquire(t.Context())
		var fatal program.Fatal
		if !errors.As(err, &fatal) || !strings.Contains(err.Error(), "credentials") ||
			!strings.Contains(err.Error(), r.Addresses[0]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("recipe=%s: the error is %v", recipe, err)
		}
	}
}

// A server of another protocol is named in the error when a client opens.
func TestServerOfSomebodyElse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Write([]byte("\x00\x00\x00\x09nonsense \r\n"))
			c.Close()
		}
	}()
	at := l.Addr().String()
	_, err = open(t.Context(), servicetest.Setting("x", at), servicetest.Values(t, &Service))
	if err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "no session") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v", err)
	}
}

// A client that ignores the end of its session relies on the servers.
func TestObey(t *testing.T) { servicetest.Obeys(t, &Service) }
