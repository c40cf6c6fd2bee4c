package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &Service, &Table) }

// client returns the client of a node.
func client(t *testing.T, r *service.Running, prefix string, words ...string) *lock {
	t.Helper()
	s := servicetest.Setting(prefix, r.Addresses...)
	s.Options.Prefix = prefix
	l, err := open(t.Context(), s, servicetest.Values(t, &Service, words...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestLock(t *testing.T) {
	r := servicetest.Start(t, &Service)
	for _, c := range []struct {
		name string
		test func(t *testing.T, r *service.Running)
	}{{"excludes", excludes}, {"waits", waits}, {"learns", learns}, {"stands still", standsStill},
		{"comes back", comesBack}, {"terminated", terminated},
		{"failed", failed}, {"opens late", opensLate}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, r) })
	}
}

// opensLate shows that the first connection may take longer than a later one.
func opensLate(t *testing.T, r *service.Running) {
	if err := r.Do(t.Context(), service.Order{Do: service.Stop}); err != nil {
		t.Fatal(err)
	}
	resumed := make(chan error, 1)
	time.AfterFunc(300*time.Millisecond, func() {
		resumed <- r.Do(t.Context(), service.Order{Do: service.Continue})
	})
	a := client(t, r, "late", "timeout=100ms")
	later := 100 * time.Millisecond
	if err := <-resumed; err != nil || a.config.ConnectTimeout != later || a.within != later {
		t.Errorf("a later connection may take %v, and %v more; %v", a.config.ConnectTimeout, a.within, err)
	}
}

// failed shows that a session keeps the lock after a query that failed, and that the lock stays taken though
// the client releases it later, unless the client ends the session.
func failed(t *testing.T, r *service.Running) {
	for how, enters := range map[string]bool{"ends": true, "kept": false} {
		a := client(t, r, "failed"+how, "fence=on", "failed="+how)
		b := client(t, r, "failed"+how)
		if _, err := a.conn.Exec(t.Context(), "drop sequence "+a.fences); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Acquire(t.Context()); err == nil {
			t.Fatal("a lock without its sequence was granted")
		}
		servicetest.Retry(t, a, 5*time.Second)
		servicetest.Release(t, a)
		if enters {
			servicetest.Acquire(t, b, time.Second)
		} else {
			servicetest.Refused(t, b, 200*time.Millisecond)
		}
	}
}

// terminated shows that an operator can end the session of a holder, which is told with watch=read.
func terminated(t *testing.T, r *service.Running) {
	a, b := client(t, r, "terminated", "watch=read"), client(t, r, "terminated too")
	b.key = a.key
	servicetest.TakeNothing(t, r, service.Expire, "n1", "terminated")
	g := servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Take(t, r, service.Expire, "terminated", "terminated")
	servicetest.Lost(t, g, time.Second)
	servicetest.Acquire(t, b, time.Second)
}

// excludes shows that one client at a time holds the lock, and that fences rise.
func excludes(t *testing.T, r *service.Running) {
	for _, watch := range []string{"off", "read", "ping"} {
		a := client(t, r, "excludes"+watch, "fence=on", "watch="+watch, "every=100ms")
		b := client(t, r, "excludes"+watch, "fence=on", "watch="+watch, "every=100ms")
		var last uint64
		for l, other := range map[*lock]*lock{a: b, b: a} {
			g := servicetest.Acquire(t, l, 5*time.Second)
			if g.Fence <= last {
				t.Errorf("fence %d comes after %d", g.Fence, last)
			}
			last = g.Fence
			servicetest.Refused(t, other, 50*time.Millisecond)
			servicetest.Kept(t, g, 120*time.Millisecond)
			servicetest.Release(t, l)
		}
	}
}

// learns shows what a holder learns when its connection is closed.
func learns(t *testing.T, r *service.Running) {
	for _, watch := range []string{"off", "read", "ping"} {
		a, b := client(t, r, "learns"+watch, "watch="+watch), client(t, r, "learns"+watch)
		g := servicetest.Acquire(t, a, 5*time.Second)
		terminate(t, r, a.conn.PgConn().PID())
		servicetest.Acquire(t, b, 5*time.Second)
		if watch != off {
			servicetest.Lost(t, g, 400*time.Millisecond) // before the next ping
		}
		if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
			t.Errorf("watch=%s: the release of a lock that is lost returns %v", watch, err)
		}
		servicetest.Refused(t, a, 50*time.Millisecond)
		servicetest.Release(t, b)
		servicetest.Acquire(t, a, 5*time.Second)
		if watch != off { // a watch has the connection
			continue
		}
		if _, err := a.conn.Exec(t.Context(), "select pg_advisory_unlock_all()"); err != nil {
			t.Fatal(err)
		}
		if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
			t.Errorf("the release of a lock that the session does not hold returns %v", err)
		}
	}
}

// terminate ends a connection.
func terminate(t *testing.T, r *service.Running, pid uint32) {
	t.Helper()
	s := servicetest.Setting("", r.Addresses...)
	c, err := pgx.Connect(t.Context(), address(r.Addresses[0], s.Secret.Password))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if _, err := c.Exec(t.Context(), "select pg_terminate_backend($1)", pid); err != nil {
		t.Fatal(err)
	}
}

// standsStill shows that a ping detects a suspended server, and that a read does not.
func standsStill(t *testing.T, r *service.Running) {
	a := client(t, r, "still", "watch=ping", "every=200ms", "timeout=300ms")
	b := client(t, r, "still", "watch=read", "timeout=300ms")
	g := servicetest.Acquire(t, a, 5*time.Second)
	if err := r.Do(t.Context(), service.Order{Do: service.Stop}); err != nil {
		t.Fatal(err)
	}
	servicetest.Lost(t, g, 2*time.Second)
	//lint:ignore SA1019 this is about what a read tells, and no more
	if err := b.conn.PgConn().CheckConn(); err != nil {
		t.Errorf("a read says of a server that stands still: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := b.conn.Ping(ctx); err == nil {
		t.Error("a server that stands still has answered")
	}
	if err := r.Do(t.Context(), service.Order{Do: service.Continue}); err != nil {
		t.Fatal(err)
	}
	servicetest.Retry(t, b, 5*time.Second)
}

// comesBack shows that a killed server frees the lock, and keeps its sequence unless it forgets.
func comesBack(t *testing.T, r *service.Running) {
	a := client(t, r, "back", "fence=on", "watch=read")
	last := servicetest.Acquire(t, a, 5*time.Second)
	for _, forget := range []bool{false, true} {
		if err := r.Do(t.Context(), service.Order{Do: service.Kill}); err != nil {
			t.Fatal(err)
		}
		servicetest.Lost(t, last, 2*time.Second)
		if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
			t.Errorf("the release of a lock that is lost returns %v", err)
		}
		if err := r.Do(t.Context(), service.Order{Do: service.Start, Forget: forget}); err != nil {
			t.Fatal(err)
		}
		g := servicetest.Retry(t, a, 10*time.Second)
		if rose := g.Fence > last.Fence; rose == forget {
			t.Errorf("after a restart (forget %v), fence %d comes after %d", forget, g.Fence, last.Fence)
		}
		last = g
	}
}

// An idle session loses the lock, and one that pings keeps it.
func TestIdle(t *testing.T) {
	words := []string{"idle=400ms", "every=100ms"}
	r := servicetest.Start(t, &Service, words...)
	a, b := client(t, r, "x", append(words, "watch=ping")...), client(t, r, "x", append(words, "watch=read")...)
	g := servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Kept(t, g, 800*time.Millisecond)
	servicetest.Release(t, a)
	// The session of b has ended meanwhile.
	if _, err := b.Acquire(t.Context()); err == nil || errors.Is(err, program.ErrRefused) {
		t.Errorf("a session that has ended acquires with: %v", err)
	}
	g = servicetest.Acquire(t, b, 5*time.Second)
	servicetest.Retry(t, a, 5*time.Second)
	servicetest.Lost(t, g, time.Second)
}

// waits shows that a client that waits too long reconnects.
func waits(t *testing.T, r *service.Running) {
	a, b := client(t, r, "waits"), client(t, r, "waits", "wait=100ms")
	servicetest.Acquire(t, a, 5*time.Second)
	if _, err := b.Acquire(t.Context()); !errors.Is(err, program.ErrRefused) {
		t.Errorf("a client that has waited for too long returns %v", err)
	}
	servicetest.Release(t, a)
	servicetest.Retry(t, b, 5*time.Second)
}

func TestOptionsRefused(t *testing.T) {
	for _, words := range [][]string{{"idle=soon"}, {"idle=1ns"}, {"members=2"}, {"watch=ping", "idle=700ms"},
		{"standby=on", "lag=500ms", "idle=500ms"}} {
		if _, err := Service.Parse(words); err == nil {
			t.Errorf("%v is accepted", words)
		}
	}
}

// No process is left if the process that controls suspended servers is killed.
func TestKilledWhileItStandsStill(t *testing.T) {
	r := servicetest.Start(t, &Service)
	a := client(t, r, "x")
	servicetest.Acquire(t, a, 5*time.Second)
	pids, err := r.PIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := append(started(t, pids[0]), pids[0])
	if len(all) < 3 {
		t.Fatalf("the processes of the server are %v", all)
	}
	if err := r.Do(t.Context(), service.Order{Do: service.Stop}); err != nil {
		t.Fatal(err)
	}
	r.Processes()[0].Dismiss()
	<-r.Processes()[0].Ended()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		all = slices.DeleteFunc(all, func(pid int) bool { return !runs(pid) })
		if len(all) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("processes %v are left behind", all)
		}
	}
}

// started returns the processes that a process has started.
func started(t *testing.T, pid int) (all []int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skip(err)
	}
	for _, word := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, child)
	}
	return all
}

// runs reports whether a process has not ended.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// must fails the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A promoted standby knows nothing of the lock: two clients hold it. The standby's sequence continues after
// the primary's numbers, unless the standby has not yet received the creation of the sequence.
func TestFailover(t *testing.T) {
	for _, lag := range []time.Duration{0, 2 * time.Second} {
		t.Run("lag "+lag.String(), func(t *testing.T) { failover(t, lag) })
	}
}

func failover(t *testing.T, lag time.Duration) {
	words := []string{"standby=on", "lag=" + lag.String(), "fence=on"}
	r := servicetest.Start(t, &Service, words...)
	ctx := t.Context()
	if i, err := r.Leader(ctx); i != 0 || err != nil {
		t.Errorf("server %d leads (%v), not 0, the primary", i, err)
	}
	began := time.Now()
	a, b := client(t, r, "x", words...), client(t, r, "x", words...)
	first := servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Refused(t, b, 50*time.Millisecond)
	if lag == 0 {
		time.Sleep(300 * time.Millisecond) // by then the standby has received the sequence
	}
	must(t, r.Do(ctx, service.Order{Do: service.Kill}))
	lost := time.Since(began) < lag
	if i, err := r.Leader(ctx); i != -1 || err != nil {
		t.Errorf("server %d leads (%v), though only a standby is up", i, err)
	}
	if _, err := b.Acquire(ctx); err == nil {
		t.Fatal("the lock was acquired though no server takes writes")
	}
	must(t, r.Do(ctx, service.Order{Do: service.Promote, Server: 1}))
	if i, err := r.Leader(ctx); i != 1 || err != nil {
		t.Errorf("server %d leads (%v), not 1, which was promoted", i, err)
	}
	second := servicetest.Retry(t, b, 10*time.Second)
	switch {
	case lag == 0 && second.Fence <= first.Fence:
		t.Errorf("the fence of the second holder is %d, after %d", second.Fence, first.Fence)
	case lost && second.Fence != first.Fence:
		t.Errorf("the fences of both holders are %d and %d, though the sequence was lost", first.Fence,
			second.Fence)
	}
}

// A server without a standby cannot be promoted.
func TestNothingToPromote(t *testing.T) {
	r := servicetest.Start(t, &Service)
	if err := r.Do(t.Context(), service.Order{Do: service.Promote}); err == nil {
		t.Error("a server without a standby was promoted")
	}
}

// With a connection per transaction, a client has no session to hold a lock: the next client gets the same
// connection, and the lock with it.
func TestPooler(t *testing.T) {
	for _, mode := range []string{"session", "transaction"} {
		t.Run(mode, func(t *testing.T) {
			words := []string{"pooler=" + mode}
			r := servicetest.Start(t, &Service, words...)
			a, b := client(t, r, "x", words...), client(t, r, "x", words...)
			servicetest.Acquire(t, a, 5*time.Second)
			if mode == "session" {
				servicetest.Refused(t, b, 200*time.Millisecond)
				servicetest.Release(t, a)
				servicetest.Retry(t, b, 5*time.Second)
				return
			}
			servicetest.Acquire(t, b, 5*time.Second)
			servicetest.Release(t, a)
			servicetest.Release(t, b)
			if err := r.Do(t.Context(), service.Order{Do: service.Promote, Server: 1}); err == nil {
				t.Error("PgBouncer was promoted")
			}
		})
	}
}

// fake is an external server that answers new sessions. It returns its address.
func fake(t *testing.T, answer func(b *pgproto3.Backend, c net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				defer c.Close()
				b := pgproto3.NewBackend(c, c)
				if _, err := b.ReceiveStartupMessage(); err == nil {
					answer(b, c)
				}
			}()
		}
	}()
	return l.Addr().String()
}

// refuses returns an answer that is an error.
func refuses(code, says string) func(*pgproto3.Backend, net.Conn) {
	return func(b *pgproto3.Backend, _ net.Conn) {
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: says})
		b.Flush()
	}
}

// An external server that requires a password, has another version or speaks another protocol is named in a
// one-line error when a client opens.
func TestServersOfSomebodyElse(t *testing.T) {
	for says, answer := range map[string]func(*pgproto3.Backend, net.Conn){
		"password authentication failed": func(b *pgproto3.Backend, c net.Conn) {
			b.Send(&pgproto3.AuthenticationCleartextPassword{})
			if b.Flush() == nil && b.SetAuthType(pgproto3.AuthTypeCleartextPassword) == nil {
				b.Receive() // the password, which is empty
				refuses("28P01", `password authentication failed for user "turnstile"`)(b, c)
			}
		},
		`role "turnstile" does not exist`: refuses("28000", `role "turnstile" does not exist`),
		"unsupported frontend protocol":   refuses("0A000", "unsupported frontend protocol 3.0"),
		"is of version 9.4.26": func(b *pgproto3.Backend, _ net.Conn) {
			b.Send(&pgproto3.AuthenticationOk{})
			b.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: "9.4.26"})
			b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			if b.Flush() == nil {
				b.Receive()
			}
		},
		"does not answer as PostgreSQL does": func(_ *pgproto3.Backend, c net.Conn) {
			c.Write([]byte("nonsense \x00\xff\r\n" + strings.Repeat("\x00", 100)))
		},
	} {
		at := fake(t, answer)
		s := servicetest.Setting("x", at)
		l, err := open(t.Context(), s, servicetest.Values(t, &Service, "timeout=2s"))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), at) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("the error is %v, and is to say %q in one line", err, says)
		}
		if l != nil {
			l.Close()
		}
	}
}
