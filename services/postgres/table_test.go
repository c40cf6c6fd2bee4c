package postgres

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

// row returns the client of a node.
func row(t *testing.T, r *service.Running, name, prefix string, words ...string) *table {
	t.Helper()
	s := servicetest.Setting(name, r.Addresses...)
	s.Options.Prefix = prefix
	l, err := openTable(t.Context(), s, servicetest.Values(t, &Table, words...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestTable(t *testing.T) {
	r := servicetest.Start(t, &Table)
	for _, c := range []struct {
		name string
		test func(t *testing.T, r *service.Running)
	}{{"excludes", rowExcludes}, {"expires", rowExpires}, {"renews", rowRenews}, {"clocks", rowClocks},
		{"deleted", rowDeleted}, {"comes back", rowComesBack}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, r) })
	}
}

// rowExcludes shows that one client at a time has the row, and that fences rise.
func rowExcludes(t *testing.T, r *service.Running) {
	for _, words := range [][]string{{"time=server"}, {"time=client"}, {"cache=off"}} {
		words = append(words, "fence=on")
		prefix := "excludes" + words[0]
		a, b := row(t, r, "n1", prefix, words...), row(t, r, "n2", prefix, words...)
		var last uint64
		for range 2 {
			for l, other := range map[*table]*table{a: b, b: a} {
				g := servicetest.Acquire(t, l, 5*time.Second)
				if g.Fence <= last {
					t.Errorf("%v: fence %d comes after %d", words, g.Fence, last)
				}
				last = g.Fence
				servicetest.Refused(t, other, 50*time.Millisecond)
				servicetest.Release(t, l)
			}
		}
	}
}

// rowExpires shows that the row is free after ttl, that nobody tells the holder, and what a late release
// frees.
func rowExpires(t *testing.T, r *service.Running) {
	for _, release := range []string{"own", "any"} {
		prefix := "expires" + release
		a := row(t, r, "n1", prefix, "ttl=100ms", "release="+release)
		b, c := row(t, r, "n2", prefix, "ttl=1m"), row(t, r, "n3", prefix, "ttl=1m")
		if g := servicetest.Acquire(t, a, 5*time.Second); g.Lost != nil || g.Fence != 0 {
			t.Errorf("a grant without renewal and fence is %+v", g)
		}
		servicetest.Acquire(t, b, 5*time.Second)
		err := a.Release(t.Context())
		if release == "any" {
			servicetest.Acquire(t, c, 5*time.Second)
			continue
		}
		if !errors.Is(err, program.ErrLost) {
			t.Errorf("the release of a row that is another's returns %v", err)
		}
		servicetest.Refused(t, c, 50*time.Millisecond)
	}
}

// rowRenews shows that a holder keeps a row that it extends, and is told when it cannot.
func rowRenews(t *testing.T, r *service.Running) {
	a, b := row(t, r, "n1", "renews", "ttl=1s", "renew=on"), row(t, r, "n2", "renews", "ttl=1m")
	g := servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Refused(t, b, 1500*time.Millisecond)
	servicetest.Kept(t, g, 0)
	servicetest.Take(t, r, service.Delete, "n1", "renews")
	servicetest.Lost(t, g, time.Second)
	if err := a.Release(t.Context()); !errors.Is(err, program.ErrLost) {
		t.Errorf("the release of a lost row returns %v", err)
	}
}

// rowClocks shows that a client whose clock is ahead takes the row of another if times are the client's.
func rowClocks(t *testing.T, r *service.Running) {
	for _, time := range []string{"server", "client"} {
		a := row(t, r, "n1", "clocks"+time, "ttl=1m", "time="+time)
		b := row(t, r, "n2", "clocks"+time, "ttl=1m", "time="+time)
		b.clock = ahead
		servicetest.Acquire(t, a, 5e9)
		if time == "server" {
			servicetest.Refused(t, b, 5e7)
			continue
		}
		servicetest.Acquire(t, b, 5e9)
	}
}

func ahead(context.Context) (time.Time, error) { return time.Now().Add(time.Minute), nil }

// rowDeleted shows that another client enters beside the holder whose row is deleted if it inserts the row
// each time, and that nobody enters if clients know that there was a row.
func rowDeleted(t *testing.T, r *service.Running) {
	for _, cache := range []string{"on", "off"} {
		prefix := "deleted" + cache
		a, b := row(t, r, "n1", prefix, "cache="+cache), row(t, r, "n2", prefix, "cache="+cache)
		servicetest.TakeNothing(t, r, service.Delete, "n1", prefix)
		servicetest.Acquire(t, a, 5*time.Second)
		servicetest.Refused(t, b, 50*time.Millisecond)
		servicetest.TakeNothing(t, r, service.Delete, "n2", prefix)
		servicetest.Take(t, r, service.Delete, "n1", prefix)
		if cache == "off" {
			servicetest.Acquire(t, b, 5*time.Second)
			continue
		}
		servicetest.Refused(t, b, 100*time.Millisecond)
		servicetest.Acquire(t, row(t, r, "n3", prefix), 5*time.Second) // which has just begun
	}
}

// rowComesBack shows that a killed server keeps the row, unless it forgets.
func rowComesBack(t *testing.T, r *service.Running) {
	a, b := row(t, r, "n1", "back", "ttl=1m"), row(t, r, "n2", "back", "ttl=1m")
	servicetest.Acquire(t, a, 5*time.Second)
	servicetest.Refused(t, b, 50*time.Millisecond)
	for _, forget := range []bool{false, true} {
		must(t, r.Do(t.Context(), service.Order{Do: service.Kill}))
		must(t, r.Do(t.Context(), service.Order{Do: service.Start, Forget: forget}))
		if forget {
			servicetest.Retry(t, b, 10*time.Second)
			continue
		}
		if _, err := b.Acquire(t.Context()); err == nil {
			t.Error("a row was taken by a connection that is lost")
		}
		servicetest.Refused(t, b, 200*time.Millisecond)
	}
}

// A promoted standby that lags behind has no row: two clients hold the lock.
func TestTableFailover(t *testing.T) {
	words := []string{"standby=on", "lag=2s", "ttl=1m"}
	r := servicetest.Start(t, &Table, words...)
	a, b := row(t, r, "n1", "x", words...), row(t, r, "n2", "x", words...)
	servicetest.Acquire(t, a, 5*time.Second)
	must(t, r.Do(t.Context(), service.Order{Do: service.Kill}))
	must(t, r.Do(t.Context(), service.Order{Do: service.Promote, Server: 1}))
	servicetest.Retry(t, b, 10*time.Second)
}

// A client reads the clock of its node beside its other lines, and an answer that comes too late is none.
func TestNodeClock(t *testing.T) {
	in, answers := io.Pipe()
	asks, out := io.Pipe()
	c := newNodeClock(in, out)
	lines := make(chan string, 1)
	go func() {
		b := make([]byte, 100)
		n, _ := c.Read(b)
		lines <- string(b[:n])
	}()
	go func() {
		b := make([]byte, 200)
		n, _ := asks.Read(b)
		if want := `{"src":"n1","dest":"timer","body":{"type":"read","msg_id":2}}` + "\n"; string(b[:n]) != want {
			t.Errorf("it asks by %q", b[:n])
		}
		for _, to := range []string{"1", "2"} {
			io.WriteString(answers, `{"src":"timer","dest":"n1","body":{"type":"read_ok","in_reply_to":`+to+
				`,"ms":`+strings.Repeat(to, 4)+".5}}\n")
		}
		io.WriteString(answers, "a line\n")
	}()
	c.asked = 1
	if at, err := c.now(t.Context(), "n1"); err != nil || at.UnixMicro() != 2222_500 {
		t.Errorf("it reads %v, %v", at, err)
	}
	if line := <-lines; line != "a line\n" {
		t.Errorf("the client gets %q", line)
	}
}
