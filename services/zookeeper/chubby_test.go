package zookeeper

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"turnstile/internal/soak"
	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

// Of eight clients that wait, a release wakes the next one; all of them where all watch the holder.
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

// A lock is advisory: a client that does not ask for it writes all the same, and so does one that has lost
// it. A resource that checks sequencers refuses both.
func TestAdvisory(t *testing.T) {
	r := servicetest.Start(t, &Service)
	p := servicetest.NewProxy(t, r.Addresses[0])
	a, b := client(t, []string{p.Address}, "advisory", "session=1s"), client(t, r.Addresses, "advisory")
	stranger := client(t, r.Addresses, "stranger")
	const data = "/data"
	if _, err := stranger.conn.Create(data, nil, 0, anybody); err != nil {
		t.Fatal(err)
	}
	// write changes the data if a lock node is there, or in any case if none is demanded.
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
