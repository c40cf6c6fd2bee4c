package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"turnstile/bench/service"
	"turnstile/services/etcd"
)

// A record is the record of an election in etcd, as one node sees it. It implements resourcelock.Interface.
// As the resource version it uses the revision at which the key was last modified; an API server derives
// resource versions from this revision too. Like LeaseLock, it updates the version that it has last seen.
type record struct {
	client   *clientv3.Client
	key      string
	identity string
	limit    time.Duration // time limit of each request

	mu       sync.Mutex
	revision int64             // the revision last seen
	terms    map[string]uint64 // by holder: the term last seen
}

var resource = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// saw remembers a record that was read or written, with its revision.
func (r *record) saw(revision int64, l *resourcelock.LeaderElectionRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.revision = revision
	r.terms[l.HolderIdentity] = uint64(l.LeaderTransitions) + 1
}

// termOf returns the term of a leader. The first leader has term 1, and each change of leaders adds 1.
func (r *record) termOf(identity string) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.terms[identity]
}

// Get implements resourcelock.Interface.
func (r *record) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	found, err := r.client.Get(ctx, r.key)
	switch {
	case err != nil:
		return nil, nil, err
	case len(found.Kvs) == 0:
		return nil, nil, apierrors.NewNotFound(resource, r.key)
	}
	l := &resourcelock.LeaderElectionRecord{}
	if err := json.Unmarshal(found.Kvs[0].Value, l); err != nil {
		return nil, nil, err
	}
	r.saw(found.Kvs[0].ModRevision, l)
	return l, found.Kvs[0].Value, nil
}

// Create implements resourcelock.Interface.
func (r *record) Create(ctx context.Context, l resourcelock.LeaderElectionRecord) error {
	return r.put(ctx, 0, &l, apierrors.NewAlreadyExists(resource, r.key))
}

// Update implements resourcelock.Interface.
func (r *record) Update(ctx context.Context, l resourcelock.LeaderElectionRecord) error {
	r.mu.Lock()
	revision := r.revision
	r.mu.Unlock()
	if revision == 0 {
		return errors.New("lease not initialized, call get or create first")
	}
	return r.put(ctx, revision, &l, apierrors.NewConflict(resource, r.key, errors.New("it was modified")))
}

// put writes a record if the key has the given revision, or if revision is 0 and the key does not exist.
// Otherwise it returns the error refused.
func (r *record) put(ctx context.Context, revision int64, l *resourcelock.LeaderElectionRecord,
	refused error) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	done, err := r.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(r.key), "=", revision)).
		Then(clientv3.OpPut(r.key, string(text))).Commit()
	switch {
	case err != nil:
		return err
	case !done.Succeeded:
		return refused
	}
	r.saw(done.Header.Revision, l)
	return nil
}

// deleteRecord deletes the record if a process of the client's node leads by it, as an operator deletes a
// Lease. The value of a key of the user's own client is a record, too, or the name of its node.
func deleteRecord(ctx context.Context, all []*service.Member, from service.Client) (had bool, err error) {
	c, err := etcd.DialAll(all)
	if err != nil {
		return false, err
	}
	defer c.Close()
	found, err := c.Get(ctx, from.Prefix, clientv3.WithPrefix())
	if err != nil {
		return false, err
	}
	for _, kv := range found.Kvs {
		l := resourcelock.LeaderElectionRecord{HolderIdentity: string(kv.Value)}
		json.Unmarshal(kv.Value, &l) // an error means that the value is a name
		if nodeOf(l.HolderIdentity) != from.Name {
			continue
		}
		done, err := c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(string(kv.Key)), "=", kv.ModRevision)).
			Then(clientv3.OpDelete(string(kv.Key))).Commit()
		if err != nil {
			return had, err
		}
		had = had || done.Succeeded
	}
	return had, nil
}

// RecordEvent implements resourcelock.Interface.
func (r *record) RecordEvent(string) {}

// Identity implements resourcelock.Interface.
func (r *record) Identity() string { return r.identity }

// Describe implements resourcelock.Interface.
func (r *record) Describe() string { return r.key }
