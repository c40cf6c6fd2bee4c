package etcd

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"turnstile/internal/soak"
	"turnstile/services/servicetest"
)

// A small file of configuration outlives the leading server, since a majority has what was written. Without a
// majority it can be read at a server, which may be behind, and not be written. A replica that is added with
// an empty folder catches up, and serves it from its own copy.
func TestConfiguration(t *testing.T) {
	if soak.Pick(true, false, false) {
		t.Skip("it takes 10 s")
	}
	t.Parallel()
	const name = "test/configuration"
	r := servicetest.Start(t, &Lock, "members=3")
	clients := make([]*clientv3.Client, len(r.Addresses))
	for i, address := range r.Addresses {
		c, err := Dial(address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		clients[i] = c
	}
	// While nobody leads, what is asked for is lost.
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
	// own is the copy of a server, which asks no other for it.
	own := func(server int) (text string) {
		if err := ask(t.Context(), r.Addresses[server], func(ctx context.Context, c *clientv3.Client) error {
			got, err := c.Get(ctx, name, clientv3.WithSerializable())
			if err == nil && len(got.Kvs) == 1 {
				text = string(got.Kvs[0].Value)
			}
			return err
		}); err != nil {
			t.Errorf("server %d does not say what it has: %v", server, err)
		}
		return text
	}

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
	restart(t, r, lead, true) // the others remove the member that it was, and add it
	if next := leaderOf(t, r); next == lead {
		t.Error("a replica that was just added leads")
	}
	kill(t, r, third)
	kill(t, r, second)
	// What nobody has confirmed may have been taken once there was a majority again.
	if text := own(lead); text != "port 81" && text != "port 82" {
		t.Errorf("the replica that was added has %q", text)
	}
}
