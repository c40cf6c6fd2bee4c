package postgres

import (
	"testing"
	"time"

	"turnstile/services/servicetest"
)

// must fails the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A standby that becomes the first knows nothing of the lock: two hold it. Its sequence goes on behind what
// the primary has handed out, unless what made it is still on its way.
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
		time.Sleep(300 * time.Millisecond) // the standby has the sequence
	}
	must(t, r.Kill(ctx, 0))
	lost := time.Since(began) < lag
	if i, err := r.Leader(ctx); i != -1 || err != nil {
		t.Errorf("server %d leads (%v), though only a standby is up", i, err)
	}
	if _, err := b.Acquire(ctx); err == nil {
		t.Fatal("the lock was acquired though no server takes writes")
	}
	must(t, r.Promote(ctx, 1))
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

// A server without a standby cannot be promoted, nor can PgBouncer.
func TestNothingToPromote(t *testing.T) {
	r := servicetest.Start(t, &Service)
	if err := r.Promote(t.Context(), 0); err == nil {
		t.Error("a server without a standby was promoted")
	}
}

// With a connection for each transaction, a client has no session that it could hold a lock in: the next one
// gets the same connection, and the lock with it.
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
			if err := r.Promote(t.Context(), 1); err == nil {
				t.Error("PgBouncer was promoted")
			}
		})
	}
}
