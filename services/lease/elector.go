package main

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
	"turnstile/services/etcd"
)

// An elector is one node's client of the service.
type elector struct {
	record *record
	config leaderelection.LeaderElectionConfig
	office time.Duration // time after which a leader resigns; 0: never

	mu     sync.Mutex
	leads  bool
	leader string // the node that this node follows
	term   uint64 // the latest known term
}

// open creates the client of a node. As in Kubernetes, each process has an identity of its own; as in
// client-go, each request has a time limit.
func open(ctx context.Context, s program.Init, v service.Values) (*elector, error) {
	c, err := etcd.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	e := &elector{config: config(v), office: v.Duration(etcd.Resign.Name)}
	e.record = &record{client: c, key: s.Options.Prefix + "lease", identity: s.Name + "_" + rand.Text(),
		limit: max(time.Second, e.config.RenewDeadline/2), terms: map[string]uint64{}}
	e.config.Lock = e.record
	return e, nil
}

// nodeOf returns the name of the node that an identity belongs to.
func nodeOf(identity string) string {
	name, _, _ := strings.Cut(identity, "_")
	return name
}

// Run implements program.Elector. A node leads from OnStartedLeading to OnStoppedLeading; otherwise it
// follows the leader that OnNewLeader named. When the library returns, the node campaigns again, whereas a
// process of Kubernetes would exit and be restarted.
func (e *elector) Run(ctx context.Context, follow func(leader string, term uint64)) error {
	for ctx.Err() == nil {
		turn, resign := context.WithCancel(ctx)
		c := e.config
		c.Callbacks = leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { e.start(ctx, resign, follow) },
			OnStoppedLeading: func() { e.stop(follow) },
			OnNewLeader:      func(identity string) { e.see(identity, follow) },
		}
		le, err := leaderelection.NewLeaderElector(c)
		if err != nil {
			resign()
			return err
		}
		le.Run(turn)
		resign()
	}
	return nil
}

// start makes the node the leader, unless its leadership has ended already. The library calls start in a
// separate goroutine.
func (e *elector) start(ctx context.Context, resign func(), follow func(string, uint64)) {
	e.mu.Lock()
	if e.leads = ctx.Err() == nil; e.leads {
		e.say(e.record.identity, follow)
	}
	e.mu.Unlock()
	if e.office > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(e.office):
			e.stop(follow) // the library demands that a leader ends its work before it gives up the lease
			resign()
		}
	}
}

// stop ends the leadership of the node. The node then follows no leader.
func (e *elector) stop(follow func(string, uint64)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leads = false
	e.say("", follow)
}

// see makes the node follow the leader with an identity. If this leader is an earlier process of the same
// node, the node follows no leader.
func (e *elector) see(identity string, follow func(string, uint64)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.leads:
	case nodeOf(identity) == nodeOf(e.record.identity):
		e.say("", follow)
	default:
		e.say(identity, follow)
	}
}

// say reports which node this node follows, if that has changed.
func (e *elector) say(identity string, follow func(string, uint64)) {
	term := e.term
	if identity != "" {
		term = e.record.termOf(identity)
	}
	if name := nodeOf(identity); name != e.leader || term != e.term {
		e.leader, e.term = name, term
		follow(name, term)
	}
}

// Close implements program.Elector.
func (e *elector) Close() error { return e.record.client.Close() }
