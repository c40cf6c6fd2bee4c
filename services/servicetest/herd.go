package servicetest

import (
	"context"
	"testing"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// quiet is how long a client must exchange no data with its servers to count as waiting. Sessions must be
// longer, so that no renewal is due within this time.
const quiet = 300 * time.Millisecond

// Woken makes one client hold a lock and n others wait for it, each waiting client through its own proxy. It
// returns how many of the waiting clients receive or send anything when the holder releases the lock, and how
// many bytes in all. open returns a client that uses the given servers.
func Woken(t *testing.T, r *service.Running, n int,
	open func(servers []string) program.Lock) (woken, bytes int) {
	t.Helper()
	holder := open(r.Addresses)
	Acquire(t, holder, 5*time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var proxies []*Proxy
	entered := make(chan error, n)
	for range n {
		p := NewProxy(t, r.Addresses[0])
		waits := open([]string{p.Address})
		proxies = append(proxies, p)
		go func() {
			_, err := waits.Acquire(ctx)
			entered <- err
		}()
		calm(t, p)
	}
	for _, p := range proxies {
		calm(t, p)
	}
	Release(t, holder)
	if err := <-entered; err != nil {
		t.Fatal(err)
	}
	time.Sleep(quiet)
	for _, p := range proxies {
		if passed := p.Passed(); passed > 0 {
			woken, bytes = woken+1, bytes+passed
		}
	}
	if len(entered) > 0 {
		t.Errorf("a second client ends its wait (%v), though nobody has released the lock", <-entered)
	}
	cancel()
	return woken, bytes
}

// calm waits until no data passes through a proxy any more.
func calm(t *testing.T, p *Proxy) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); ; {
		p.Passed()
		if time.Sleep(quiet); p.Passed() == 0 {
			return
		}
		if time.Now().After(late) {
			t.Fatal("a client that waits is never quiet")
		}
	}
}
