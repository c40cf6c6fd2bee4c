package etcd

import (
	"context"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"turnstile/bench/service"
)

// ownersOf returns the prefix of keys that say which lease the session of each node has, unless all share
// one. They expire with it.
func ownersOf(prefix string) string { return prefix + "sessions/" }

// Delete deletes the keys of a client's lock or candidacy.
func Delete(ctx context.Context, all []*service.Member, from service.Client) (had bool, err error) {
	return take(ctx, all, from, func(c *clientv3.Client, key string, _ clientv3.LeaseID) error {
		_, err := c.Delete(ctx, key)
		return err
	})
}

// Expire revokes the lease of a client's session.
func Expire(ctx context.Context, all []*service.Member, from service.Client) (had bool, err error) {
	revoked := map[clientv3.LeaseID]bool{}
	return take(ctx, all, from, func(c *clientv3.Client, _ string, lease clientv3.LeaseID) error {
		if revoked[lease] {
			return nil
		}
		revoked[lease] = true
		_, err := c.Revoke(ctx, lease)
		return err
	})
}

// DialAll returns a client of members.
func DialAll(all []*service.Member) (*clientv3.Client, error) {
	var addresses []string
	for _, m := range all {
		addresses = append(addresses, m.Address(0))
	}
	return Dial(all[0].Secret, addresses...)
}

// take calls do with the keys of a client's locks and their leases. These keys are bound to the lease of the
// client's session or, for clients of the user's own, have the name of its node as their value.
func take(ctx context.Context, all []*service.Member, from service.Client,
	do func(c *clientv3.Client, key string, lease clientv3.LeaseID) error) (had bool, err error) {
	c, err := DialAll(all)
	if err != nil {
		return false, err
	}
	defer c.Close()
	found, err := c.Get(ctx, from.Prefix, clientv3.WithPrefix())
	if err != nil {
		return false, err
	}
	var session int64
	for _, kv := range found.Kvs {
		switch string(kv.Key) {
		case ownersOf(from.Prefix) + from.Name, from.Prefix + sharedKey:
			session, _ = strconv.ParseInt(string(kv.Value), 10, 64)
		}
	}
	for _, kv := range found.Kvs {
		mine := session != 0 && kv.Lease == session || string(kv.Value) == from.Name
		if !mine || kv.Lease == 0 || strings.HasPrefix(string(kv.Key), from.Prefix+sharedKey) {
			continue
		}
		if err := do(c, string(kv.Key), clientv3.LeaseID(kv.Lease)); err != nil {
			return had, err
		}
		had = true
	}
	return had, nil
}
