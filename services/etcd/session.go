package etcd

import (
	"context"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// A sessions has the etcd client of a node and the latest session of this client.
type sessions struct {
	life   context.Context // sessions end when this context does
	client *clientv3.Client
	ttl    int    // time to live of leases, in seconds
	keeps  bool   // a session goes on after a call that failed
	shared string // the key that holds the lease shared by all nodes; empty: each node has its own lease
	owner  string // the key that says which lease this node has
	latest *concurrency.Session
}

// sharedKey is the end of the key with the lease that all nodes share, and the beginning of other keys about
// sessions.
const sharedKey = "session"

func openSessions(ctx context.Context, s program.Init, v service.Values) (*sessions, error) {
	c, err := Open(ctx, s)
	if err != nil {
		return nil, err
	}
	all := &sessions{life: ctx, client: c, ttl: seconds(v), keeps: v.Keeps(),
		owner: ownersOf(s.Options.Prefix) + s.Name}
	if v[sessionOption] == "shared" {
		all.shared = s.Options.Prefix + sharedKey
	}
	return all, nil
}

// get returns the latest session. If this session is over, it starts another one.
func (s *sessions) get() (*concurrency.Session, error) {
	if s.latest != nil && !over(s.latest) {
		return s.latest, nil
	}
	options := []concurrency.SessionOption{concurrency.WithTTL(s.ttl), concurrency.WithContext(s.life)}
	if s.shared != "" {
		lease, err := s.join(s.life)
		if err != nil {
			return nil, err
		}
		options = append(options, concurrency.WithLease(lease))
	}
	made, err := concurrency.NewSession(s.client, options...)
	if err == nil && made == nil {
		err = errNoSession
	}
	s.latest = made
	if err == nil && s.shared == "" {
		if err = s.show(made.Lease()); err != nil {
			s.drop() // otherwise nobody could delete its keys by hand
		}
	}
	return made, err
}

// show writes down which lease this node has, for [Delete] and [Expire].
func (s *sessions) show(lease clientv3.LeaseID) error {
	_, err := s.client.Put(s.life, s.owner, strconv.FormatInt(int64(lease), 10), clientv3.WithLease(lease))
	return err
}

// join returns the lease that all nodes share. The first node obtains the lease, and stores its ID under a
// key that expires together with the lease.
func (s *sessions) join(ctx context.Context) (clientv3.LeaseID, error) {
	granted, err := s.client.Grant(ctx, int64(s.ttl))
	if err != nil {
		return 0, err
	}
	txn, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(s.shared), "=", 0)).
		Then(clientv3.OpPut(s.shared, strconv.FormatInt(int64(granted.ID), 10), clientv3.WithLease(granted.ID))).
		Else(clientv3.OpGet(s.shared)).Commit()
	if err != nil || txn.Succeeded {
		return granted.ID, err
	}
	if _, err := s.client.Revoke(ctx, granted.ID); err != nil {
		return 0, err
	}
	lease, err := strconv.ParseInt(string(txn.Responses[0].GetResponseRange().Kvs[0].Value), 10, 64)
	return clientv3.LeaseID(lease), err
}

// drop gives up the latest session: its lease is revoked, or it expires if the servers are out of reach. A
// shared lease is not revoked, since other nodes use it.
func (s *sessions) drop() {
	switch {
	case s.latest == nil:
	case s.shared != "":
		s.latest.Orphan()
	default:
		s.latest.Close()
	}
	s.latest = nil
}

// fail gives up the latest session after a call that failed, unless the option failed is kept and the session
// is not over.
func (s *sessions) fail() {
	if s.latest != nil && (!s.keeps || over(s.latest)) {
		s.drop()
	}
}

// over reports whether the library has reported the end of a session.
func over(s *concurrency.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}
