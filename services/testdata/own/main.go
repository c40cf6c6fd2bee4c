// Command own is a client of somebody's own, for runs with --client: of a lock on NATS, or an election on
// etcd.
package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"turnstile/nodes/foreign/program"
)

func main() {
	var err error
	if os.Args[1] == "lock" {
		err = program.ServeLock(os.Stdin, os.Stdout, map[string]any{"safe": []string{"no-pause", "timing",
			"no-loss", "no-amnesia", "servers-up"}, "live": []string{"no-loss", "servers-up"}, "fenced": true,
			"grace_ms": 14000}, true, openLock)
	} else {
		err = program.ServeElector(os.Stdin, os.Stdout, map[string]any{"safe": []string{"no-pause", "timing",
			"no-loss", "no-amnesia"}, "live": []string{"server-majority"}, "elects": true, "terms": true,
			"grace_ms": 9000}, openElector)
	}
	if err != nil {
		os.Exit(1)
	}
}

// A lock is a key in a bucket of its own, with a time to live of a second. It is never renewed.
type lock struct {
	kv       jetstream.KeyValue
	name     string
	revision uint64
}

func openLock(ctx context.Context, s program.Init) (program.Lock, error) {
	c, err := nats.Connect("nats://"+strings.Join(s.Options.Servers, ",nats://"), nats.Token(s.Secret.Password),
		nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.IgnoreDiscoveredServers())
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(c)
	if err != nil {
		return nil, err
	}
	l := &lock{name: s.Name}
	for tries := 3; l.kv == nil && tries > 0; tries-- { // servers that have just begun may have no leader yet
		l.kv, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "turnstile-own",
			TTL: time.Second, Replicas: len(s.Options.Servers)})
	}
	return l, err
}

func (l *lock) Acquire(ctx context.Context) (g program.Grant, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	l.revision, err = l.kv.Create(ctx, "mine", []byte(l.name))
	if errors.Is(err, jetstream.ErrKeyExists) {
		err = program.ErrRefused
	}
	return program.Grant{Fence: l.revision}, err
}

func (l *lock) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return l.kv.Delete(ctx, "mine", jetstream.LastRevision(l.revision))
}

func (l *lock) Close() error { return nil }

// An elector leads until its session ends. Then it says that it follows nobody, without a term.
type elector struct {
	client *clientv3.Client
	s      program.Init
}

func openElector(_ context.Context, s program.Init) (program.Elector, error) {
	config, err := s.Secret.Config()
	if err != nil {
		return nil, err
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: s.Options.Servers, TLS: config,
		DialTimeout: 2 * time.Second})
	return &elector{c, s}, err
}

func (e *elector) Run(ctx context.Context, follow func(leader string, term uint64)) error {
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		session, err := concurrency.NewSession(e.client, concurrency.WithTTL(2))
		if err != nil {
			continue
		}
		e.stand(ctx, session, follow)
		session.Close()
	}
	return nil
}

func (e *elector) stand(ctx context.Context, session *concurrency.Session, follow func(string, uint64)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	election := concurrency.NewElection(session, e.s.Options.Prefix+"mine")
	won := make(chan error, 1)
	go func() { won <- election.Campaign(ctx, e.s.Name) }()
	for seen := election.Observe(ctx); ; {
		select {
		case <-ctx.Done():
			return
		case <-session.Done():
			follow("", 0)
			return
		case err := <-won:
			if err != nil {
				return
			}
			follow(e.s.Name, uint64(election.Rev()))
			seen = nil
		case r, is := <-seen:
			if !is {
				seen = nil
				continue
			}
			if leader := string(r.Kvs[0].Value); leader != e.s.Name {
				follow(leader, uint64(r.Kvs[0].CreateRevision))
			}
		}
	}
}

func (e *elector) Close() error { return e.client.Close() }
