package natskv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"turnstile/bench/service"
	"turnstile/bench/service/held"
	"turnstile/nodes/foreign/program"
)

// bucket is the name of the bucket of all locks.
const bucket = "turnstile"

// asking is how long one call to a server may take.
const asking = 2 * time.Second

// A lock is the client of one node.
type lock struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	bucket jetstream.KeyValueConfig
	kv     jetstream.KeyValue
	key    string
	name   string
	ttl    time.Duration

	revision uint64
	watch    held.Watch
}

// rotated returns the servers in the order in which a node tries them. Different nodes start with different
// servers.
func rotated(s program.Init) []string {
	all := s.Options.Servers
	first := max(0, slices.Index(s.Names, s.Name)) % len(all)
	return slices.Concat(all[first:], all[:first])
}

// open connects, and creates the bucket if it is missing.
func open(ctx context.Context, s program.Init, v service.Values) (program.Lock, error) {
	conn, js, err := dial(rotated(s), s.Secret.Password, nats.RetryOnFailedConnect(s.Options.Incarnation > 0))
	if err != nil {
		return nil, fmt.Errorf("connecting to NATS at %s: %w", strings.Join(s.Options.Servers, ", "), err)
	}
	l := &lock{conn: conn, js: js, ttl: v.Duration("ttl"), name: s.Name,
		key: keyOf(s.Options.Prefix)}
	l.bucket = jetstream.KeyValueConfig{Bucket: bucket, TTL: v.Duration("ttl"),
		LimitMarkerTTL: v.Duration("ttl"),
		Replicas:       v.Int(service.Members), History: 1}
	if s.Options.Incarnation > 0 { // the servers may be out of reach for a while: Acquire creates the bucket
		return l, nil
	}
	for late := time.Now().Add(20 * time.Second); ; {
		// The servers of a cluster may know of each other before they agree on a leader.
		switch err := l.make(ctx); {
		case err == nil:
			return l, nil
		case ctx.Err() != nil || time.Now().After(late):
			conn.Close()
			return nil, fmt.Errorf("making the bucket %s: %w", bucket, err)
		}
		time.Sleep(100 * time.Millisecond) // pause before the next try
	}
}

// make creates the bucket, unless it exists.
func (l *lock) make(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	kv, err := l.js.CreateOrUpdateKeyValue(ctx, l.bucket)
	if err == nil { // otherwise the old bucket stays in use: it may answer again
		l.kv = kv
	}
	return err
}

// Acquire implements program.Lock. If the key exists, Acquire waits until a watch reports that the key is
// gone.
func (l *lock) Acquire(ctx context.Context) (program.Grant, error) {
	if l.kv == nil {
		if err := l.make(ctx); err != nil {
			return program.Grant{}, err
		}
	}
	for {
		if ctx.Err() != nil {
			return program.Grant{}, ctx.Err()
		}
		// A call that is cancelled may create the key all the same.
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), asking)
		sent := time.Now()
		revision, err := l.kv.Create(call, l.key, []byte(l.name))
		cancel()
		if err == nil {
			return l.granted(sent, revision), nil
		}
		if errors.Is(err, jetstream.ErrNoStreamResponse) { // a bucket in memory is lost with its server
			err = errors.Join(err, l.make(ctx))
		}
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return program.Grant{}, err
		}
		held, err := l.await(ctx)
		if err != nil {
			return program.Grant{}, err
		}
		if !held { // Create was refused though nobody holds the lock
			return program.Grant{}, program.ErrRefused
		}
	}
}

// await waits until the key is free. It reports whether another client held it.
func (l *lock) await(ctx context.Context) (held bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*l.ttl) // a watch may miss events while it is disconnected
	defer cancel()
	watch, err := l.kv.Watch(ctx, l.key)
	if err != nil {
		return false, err
	}
	defer watch.Stop()
	for {
		select {
		case e, more := <-watch.Updates():
			switch {
			case !more:
				return true, errors.New("the watch has ended")
			case e == nil: // all initial values have come
				if !held {
					return false, nil
				}
			case e.Operation() == jetstream.KeyValuePut:
				held = true
			case held:
				return true, nil
			}
		case <-ctx.Done():
			return true, nil
		}
	}
}

// granted returns the grant of a key that was created by a call sent at a time. It updates the key three
// times per ttl. The lock is lost if another client has changed the key, or once a ttl has passed since the
// latest call that succeeded was sent.
func (l *lock) granted(sent time.Time, revision uint64) program.Grant {
	l.revision = revision
	valid := sent.Add(l.ttl)
	lost := l.watch.Renew(valid, l.ttl/3, func(ctx context.Context) (time.Time, error) {
		sent := time.Now()
		// An update that is cancelled may be carried out all the same.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.ttl/3)
		defer cancel()
		next, err := l.kv.Update(ctx, l.key, []byte(l.name), l.revision)
		switch {
		case err == nil:
			l.revision, valid = next, sent.Add(l.ttl)
		case errors.Is(err, jetstream.ErrKeyRevisionMismatch):
			return valid, err
		}
		return valid, nil // the next update may succeed
	})
	return program.Grant{Fence: revision, Lost: lost}
}

// Release implements program.Lock.
func (l *lock) Release(ctx context.Context) error {
	l.watch.End()
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	err := l.kv.Delete(ctx, l.key, jetstream.LastRevision(l.revision))
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return program.ErrLost
	}
	return err
}

func (l *lock) Close() error {
	l.conn.Close()
	return nil
}
