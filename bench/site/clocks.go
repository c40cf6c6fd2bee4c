package site

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"turnstile/hosts/agent"
	"turnstile/internal/offset"
	"turnstile/nodes"
	"turnstile/nodes/history"

	"github.com/nats-io/nats.go"
)

// Parameters for comparing the clocks of hosts with the orchestrator's.
const (
	exchangeEvery = time.Second
	exchangeLimit = 2 * time.Second // an answer that takes longer is ignored
	exchanges     = 8               // exchanges in a row before a run begins
	mostWrong     = 3               // a host is given up after so many wrong exchanges in a row
)

// A hostClock tracks the clock of a host.
type hostClock struct {
	host *agent.Machine
	conn *nats.Conn
	same bool // the host uses the orchestrator's clock

	mu        sync.Mutex
	estimator offset.Estimator
	told      history.Clock // clock of the trial, as recorded when the trial began
}

// newHostClock compares the clock of a host with this machine's clock.
func newHostClock(conn *nats.Conn, h *agent.Machine) (*hostClock, error) {
	c := &hostClock{host: h, conn: conn}
	var x offset.Exchange
	for range exchanges {
		var err error
		if x, err = c.exchange(); err == nil {
			err = c.estimator.Add(x)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the clock of host %s: %w", h.Name, err)
		}
	}
	c.same = offset.OneClock(offset.Own(), h.Kernel, x)
	return c, nil
}

// exchange reads the clock of the host.
func (c *hostClock) exchange() (x offset.Exchange, err error) {
	x.Sent = agent.Monotonic()
	r, err := agent.Clock(c.conn, c.host.Name, exchangeLimit)
	x.Returned, x.Received, x.Answered = agent.Monotonic(), r.Taken, r.Given
	return x, err
}

// follow compares the host's clock with this machine's once a second until ctx is done.
func (c *hostClock) follow(ctx context.Context) {
	wrong := 0 // wrong exchanges in a row
	for tick := time.NewTicker(exchangeEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		x, err := c.exchange()
		if err != nil {
			continue // the error bound grows until the next answer
		}
		c.mu.Lock()
		err = c.estimator.Add(x)
		c.mu.Unlock()
		if wrong++; err == nil {
			wrong = 0
		} else if wrong == mostWrong { // a jump within an exchange spoils only that exchange
			c.host.Lose(err)
			return
		}
	}
}

// begin returns the zero of a trial by this clock, and records it with the nodes that use the clock.
func (c *hostClock) begin(zero int64, of []nodes.ID) int64 {
	if c.same {
		return zero
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead, _, _ := c.estimator.Offset(agent.Monotonic())
	c.told = history.Clock{Host: c.host.Name, Nodes: of, Zero: zero + ahead, Reference: zero}
	return c.told.Zero
}

// known returns the clock with all that was measured from the trial's zero until now.
func (c *hostClock) known() history.Clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	clock := c.told
	clock.Pieces = c.estimator.Pieces(clock.Reference, agent.Monotonic())
	return clock
}

// readClocks compares the clocks of all hosts with this machine's clock. It keeps comparing the clocks that
// differ.
func (f *fleet) readClocks(ctx context.Context) error {
	f.clocks = make([]*hostClock, len(f.hosts))
	ctx, f.stopClocks = context.WithCancel(ctx)
	return f.each(func(h *agent.Machine) (err error) {
		i := slices.Index(f.hosts, h)
		if f.clocks[i], err = newHostClock(f.conn, h); err == nil && !f.clocks[i].same {
			h.Correct = func(stamp int64) int64 {
				clock := f.clocks[i].known()
				return clock.Correct(stamp)
			}
			go f.clocks[i].follow(ctx)
		}
		return err
	})
}

// beginClocks sets the zero of a trial on all clocks, and records that the stamps are from these clocks.
func (f *fleet) beginClocks(dir string, origin uint64, zero int64) error {
	places := f.job.Placement()
	f.zeros = make([]int64, len(f.hosts))
	for i, c := range f.clocks {
		f.zeros[i] = c.begin(zero, places.Nodes(i))
	}
	return f.writeClocks(dir, origin, false)
}

// writeClocks records the clocks of other hosts, if they differ from this machine's. Once the trial is over,
// it records their measurements, too.
func (f *fleet) writeClocks(dir string, origin uint64, over bool) error {
	var all []history.Clock
	for _, c := range f.clocks {
		switch {
		case c.same:
		case over:
			all = append(all, c.known())
		default:
			all = append(all, c.told)
		}
	}
	if all == nil {
		return nil
	}
	return history.WriteClocks(dir, origin, all)
}
