package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// An elector is one node's client of the service.
type elector struct {
	*sessions
	self   string
	name   string // name of the election
	obeys  bool
	office time.Duration // time after which a leader resigns; 0: never
}

func openElector(ctx context.Context, s program.Init, v service.Values) (*elector, error) {
	all, err := openSessions(ctx, s, v)
	if err != nil {
		return nil, err
	}
	return &elector{sessions: all, self: s.Name, name: s.Options.Prefix + "election",
		obeys: v.On(service.ObeyOption), office: v.Duration(Resign.Name)}, nil
}

// Run implements program.Elector. It campaigns with one session after the other.
func (e *elector) Run(ctx context.Context, follow func(leader string, term uint64)) error {
	var leader string
	var term uint64
	say := func(to string, in uint64) {
		if to == "" {
			in = term // the latest known term
		}
		if to != leader || in != term {
			leader, term = to, in
			follow(to, in)
		}
	}
	for ctx.Err() == nil {
		if err := e.stand(ctx, say); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "election:", err)
			say("", 0)
			e.fail()
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
	return nil
}

// retryAfter is the time after which a candidate campaigns or observes again.
const retryAfter = 100 * time.Millisecond

// errOver is the error for a leader that learned that its session is over.
var errOver = errors.New("the session of the leader is over")

// A candidacy is what a node knows about its campaign with one session.
type candidacy struct {
	*elector
	election *concurrency.Election
	say      func(leader string, term uint64)
	won      chan error
	leads    bool
}

// stand campaigns with a session. A node leads once Campaign has returned without an error, even if its
// session has ended since. If the option obey is on, it stops leading when the session is Done. While it does
// not lead, the node follows the leader that Observe reports, unless this leader is an earlier process of the
// same node.
func (e *elector) stand(ctx context.Context, say func(string, uint64)) error {
	s, err := e.get()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &candidacy{elector: e, election: concurrency.NewElection(s, e.name), say: say, won: make(chan error, 1)}
	c.campaign(ctx)
	seen := c.election.Observe(ctx)
	var done <-chan struct{}
	var resign <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), program.ErrLeaves) {
				c.leave()
			}
			return ctx.Err()
		case err := <-c.won:
			if err != nil {
				return err
			}
			c.leads = true
			say(e.self, uint64(c.election.Rev()))
			if e.obeys {
				done = s.Done()
			}
			if e.office > 0 {
				resign = time.After(e.office)
			}
		case r, is := <-seen:
			if is {
				c.observe(r)
				continue
			}
			c.observe(nil)
			select { // waits before it observes again
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
			seen = c.election.Observe(ctx)
		case <-resign:
			c.leads, done, resign = false, nil, nil
			say("", 0)
			if err := c.resign(ctx); err != nil {
				return err
			}
			c.campaign(ctx)
		case <-done:
			return errOver
		}
	}
}

// leave resigns, and ends the session. A Campaign that is cancelled deletes its key.
func (c *candidacy) leave() {
	if c.leads || <-c.won == nil {
		if err := c.resign(c.life); err != nil {
			fmt.Fprintln(os.Stderr, "resign:", err)
		}
	}
	c.drop()
}

// resign deletes the key of the leader.
func (c *candidacy) resign(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, unlockLimit)
	defer cancel()
	return c.election.Resign(ctx)
}

func (c *candidacy) campaign(ctx context.Context) {
	go func() { c.won <- c.election.Campaign(ctx, c.self) }()
}

// observe handles a result of Observe; nil: Observe has ended, so the leader is not known.
func (c *candidacy) observe(r *clientv3.GetResponse) {
	switch {
	case c.leads:
	case r == nil || string(r.Kvs[0].Value) == c.self:
		c.say("", 0)
	default:
		c.say(string(r.Kvs[0].Value), uint64(r.Kvs[0].CreateRevision))
	}
}

func (e *elector) Close() error { return e.client.Close() }
