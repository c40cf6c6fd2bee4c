package main

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"turnstile/bench/service"
	"turnstile/services/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, table...) }

// run runs an elector until the test ends, or until stop is called.
func run(t *testing.T, name string, servers []string, words ...string) (
	told <-chan servicetest.Following, stop func()) {
	t.Helper()
	e, err := open(t.Context(), servicetest.Setting(name, servers...), servicetest.Values(t, &lease, words...))
	if err != nil {
		t.Fatal(err)
	}
	return servicetest.Run(t, e)
}

// TestLease lets two nodes follow the first, and then the second take over: once the lease is over if the
// first ends without a release, and at once if the first releases.
func TestLease(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		release       string
		least, within time.Duration
	}{{"off", time.Second, 5 * time.Second}, {"on", 0, time.Second}} {
		t.Run("release="+test.release, func(t *testing.T) {
			t.Parallel()
			words := []string{"release=" + test.release, "lease=2s", "renew=1500ms", "retry=100ms"}
			r := servicetest.Start(t, &lease, words...)
			toldA, stop := run(t, "n0", r.Addresses, words...)
			a := servicetest.Await(t, toldA, 10*time.Second, "n0")
			toldB, _ := run(t, "n1", r.Addresses, words...)
			if b := servicetest.Await(t, toldB, 10*time.Second, "n0"); b != a || a.Term != 1 {
				t.Errorf("one says %v and the other %v", a, b)
			}
			began := time.Now()
			stop()
			if b := servicetest.Await(t, toldB, test.within, "n1"); b.Term != 2 {
				t.Errorf("the next leader has term %d", b.Term)
			}
			if took := time.Since(began); took < test.least {
				t.Errorf("the next leader came after %v", took)
			}
		})
	}
}

// TestDeleted deletes the record of a leader by hand. A leader that has no rival makes another.
func TestDeleted(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &lease)
	servicetest.TakeNothing(t, r, service.Delete, "n0", "test/")
	told, _ := run(t, "n0", r.Addresses)
	servicetest.Await(t, told, 10*time.Second, "n0")
	servicetest.TakeNothing(t, r, service.Delete, "n1", "test/")
	servicetest.Take(t, r, service.Delete, "n0", "test/")
	for late := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		had, err := r.Take(t.Context(), service.Delete, service.Client{Name: "n0", Prefix: "test/"})
		if had {
			return
		}
		if time.Now().After(late) {
			t.Fatal("the leader has made no other record:", err)
		}
	}
}

// TestRecord lets two nodes read and change a record, which refuses the same calls as LeaseLock.
func TestRecord(t *testing.T) {
	t.Parallel()
	r := servicetest.Start(t, &lease)
	var all []*record
	for _, name := range []string{"n0", "n1"} {
		e, err := open(t.Context(), servicetest.Setting(name, r.Addresses...), servicetest.Values(t, &lease))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		all = append(all, e.record)
	}
	a, b, ctx := all[0], all[1], t.Context()
	of := func(r *record) resourcelock.LeaderElectionRecord {
		return resourcelock.LeaderElectionRecord{HolderIdentity: r.identity}
	}
	if _, _, err := a.Get(ctx); !apierrors.IsNotFound(err) {
		t.Errorf("of no record: %v", err)
	}
	if err := a.Update(ctx, of(a)); err == nil {
		t.Error("it updated a record that it has not read")
	}
	if err := a.Create(ctx, of(a)); err != nil {
		t.Error(err)
	}
	if err := b.Create(ctx, of(b)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("of a second record: %v", err)
	}
	if l, _, err := b.Get(ctx); err != nil || l.HolderIdentity != a.identity {
		t.Errorf("it read %v, %v", l, err)
	}
	if err := a.Update(ctx, of(a)); err != nil {
		t.Error(err)
	}
	if err := b.Update(ctx, of(b)); !apierrors.IsConflict(err) {
		t.Errorf("of an old version: %v", err)
	}
}

// TestTimes lets the library refuse inconsistent times.
func TestTimes(t *testing.T) {
	for _, words := range [][]string{{"lease=2s", "renew=2s"}, {"renew=400ms", "retry=400ms"}} {
		if _, err := lease.Parse(words); err == nil {
			t.Errorf("it takes %v", words)
		}
	}
}
