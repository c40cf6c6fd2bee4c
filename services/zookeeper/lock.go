package zookeeper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"turnstile/bench/service"
	"turnstile/internal/secret"
	"turnstile/nodes/foreign/program"
)

// A lock is one node's client of the service. It uses one session after the other.
type lock struct {
	life    context.Context // of the client
	conn    *zk.Conn
	known   bool // the servers know that conn has the secret
	servers []string
	secret  secret.Secret
	acl     []zk.ACL // access list of the ZooKeeper nodes that it makes
	values  service.Values
	name    []byte       // name of the node, which is the data of its ZooKeeper nodes
	root    string       // the parent of the ZooKeeper nodes of the holder and the waiting clients
	mine    string       // the ZooKeeper node of this client, which may still exist; empty: it has none
	used    *zk.Lock     // the latest lock by the library's recipe
	begun   atomic.Int32 // number of sessions begun
	losses
}

// openLimit is how long it may take to begin a session.
const openLimit = 8 * time.Second

// open creates the client of a node. It waits for a session, unless the node is restarted: then the servers
// may be out of reach for a while.
func open(ctx context.Context, s program.Init, v service.Values) (l *lock, err error) {
	l = &lock{life: ctx, values: v, name: []byte(s.Name), servers: s.Options.Servers,
		root:   "/" + strings.Trim(s.Options.Prefix, "/") + "/lock",
		secret: s.Secret, acl: zk.WorldACL(zk.PermAll)}
	if s.Secret.Dir != "" {
		l.acl = zk.AuthACL(zk.PermAll)
	}
	events, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	for late := time.After(openLimit); s.Options.Incarnation == 0; {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return l, l.show(ctx)
			}
		case <-late:
			l.conn.Close()
			return nil, fmt.Errorf("there is no session at %s after %v: is it ZooKeeper, for clients %s?",
				strings.Join(s.Options.Servers, ", "), openLimit, s.Secret.With())
		}
	}
	return l, nil
}

// connect starts a session, which lasts until the context ends. An event reports when the session has begun.
func (l *lock) connect(ctx context.Context) (<-chan zk.Event, error) {
	number := l.begun.Add(1)
	conn, events, err := zk.Connect(l.servers, l.values.Duration("session"), zk.WithLogInfo(false),
		zk.WithEventCallback(func(e zk.Event) { l.hear(number, e) }))
	if err != nil {
		return nil, err
	}
	l.conn, l.known = conn, l.secret.Dir == ""
	context.AfterFunc(ctx, conn.Close) // calls of the library take no context
	return events, nil
}

// show shows the servers the secret, once in a session. The library does so again when it reconnects.
func (l *lock) show(ctx context.Context) error {
	if l.known {
		return nil
	}
	err := retry(ctx, func() error { return l.conn.AddAuth(credentials(&l.secret)) })
	l.known = err == nil
	return err
}

// renew replaces the session. This deletes the ZooKeeper nodes that the library has left behind. renew does
// nothing if the option failed says so.
func (l *lock) renew() error {
	if l.values.Keeps() || l.life.Err() != nil {
		return nil
	}
	old := l.conn
	_, err := l.connect(l.life) // a session outlives the request that began it
	old.Close()
	return err
}

// hear handles an event of a connection. It ignores events of connections that were given up.
func (l *lock) hear(number int32, e zk.Event) {
	if e.Type == zk.EventSession && number == l.begun.Load() {
		if e.State == zk.StateHasSession {
			l.connected()
			return
		}
		expired := e.State == zk.StateExpired
		l.fall(expired, expired || e.State == zk.StateDisconnected && l.values["lost"] == disconnected)
	}
}

// Acquire implements program.Lock.
func (l *lock) Acquire(ctx context.Context) (g program.Grant, err error) {
	l.ask()
	if err := l.show(ctx); err != nil {
		return g, err
	}
	if l.values["recipe"] == library {
		g, err = l.useLibrary(ctx)
	} else {
		g, err = l.useOwn(ctx)
	}
	if errors.Is(err, zk.ErrNoAuth) || errors.Is(err, zk.ErrAuthFailed) { // the error would occur again
		err = program.Fatal{Err: fmt.Errorf("the servers %s want other credentials than those of a client %s: %w",
			strings.Join(l.servers, ", "), l.secret.With(), err)}
	}
	return g, err
}

// useOwn acquires the lock by the documented recipe, or by the variant herd, in which all clients wait for
// the holder.
func (l *lock) useOwn(ctx context.Context) (program.Grant, error) {
	// A ZooKeeper node left behind by an earlier error would block this client too.
	if err := l.remove(ctx); err != nil && !errors.Is(err, program.ErrLost) {
		return program.Grant{}, err
	}
	g, err := l.queue(ctx)
	if err != nil {
		l.remove(l.life)
	}
	return g, err
}

// queue creates the ZooKeeper node of this client, and waits until this node is the first in the queue.
// Servers that elect a leader may tell a client that its session has expired before they delete its node:
// that node is no place in the queue any more.
func (l *lock) queue(ctx context.Context) (g program.Grant, err error) {
	sessions := l.ended()
	if err := l.create(l.life); err != nil { // a create that is cancelled half done would leave a node
		return g, err
	}
	for {
		since := l.fallen()
		ahead, err := l.ahead(ctx)
		switch {
		case err != nil:
			return g, err
		case l.ended() != sessions:
			return g, errExpired
		case ahead == "":
			return l.enter(ctx, since, sessions)
		}
		if err := l.await(ctx, ahead); err != nil {
			return g, err
		}
	}
}

// create creates the ZooKeeper node of this client. If the answer is lost, the node may exist. Then create
// looks for the node by its name before it creates another one, since the second node would wait for the
// first one until the session ends. The library's CreateProtectedEphemeralSequential gives up if the
// connection is lost a second time.
func (l *lock) create(ctx context.Context) error {
	name, sent := "_c_"+rand.Text()+"-lock-", false
	return retry(ctx, func() (err error) {
		if sent {
			if l.mine, err = l.named(name); err != nil || l.mine != "" {
				return err
			}
		}
		sent = true
		l.mine, err = l.conn.Create(l.root+"/"+name, l.name, zk.FlagEphemeral|zk.FlagSequence, l.acl)
		if errors.Is(err, zk.ErrNoNode) {
			if err = l.makeRoot(); err == nil {
				l.mine, err = l.conn.Create(l.root+"/"+name, l.name, zk.FlagEphemeral|zk.FlagSequence, l.acl)
			}
		}
		return err
	})
}

// named returns the path of the node in the queue whose name begins with name, or "".
func (l *lock) named(name string) (string, error) {
	all, _, err := l.conn.Children(l.root)
	if errors.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	for _, node := range all {
		if strings.HasPrefix(node, name) {
			return l.root + "/" + node, err
		}
	}
	return "", err
}

func (l *lock) makeRoot() error {
	path := ""
	for _, part := range strings.Split(l.root, "/")[1:] {
		path += "/" + part
		if _, err := l.conn.Create(path, nil, 0, l.acl); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// ahead returns the node in the queue that this client must wait for, or "" if its own node is the first.
func (l *lock) ahead(ctx context.Context) (string, error) {
	var all []string
	err := retry(ctx, func() (err error) {
		all, _, err = l.conn.Children(l.root)
		return err
	})
	if err != nil {
		return "", err
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	switch i := slices.Index(all, l.mine[len(l.root)+1:]); {
	case i < 0:
		l.mine = ""
		return "", errExpired
	case i == 0:
		return "", nil
	case l.values["recipe"] == herd:
		return l.root + "/" + all[0], nil
	default:
		return l.root + "/" + all[i-1], nil
	}
}

// errExpired is the error for a client whose node in the queue is gone.
var errExpired = errors.New("the session of the node in the queue has expired")

// number returns the sequence number at the end of a node's name, which has a fixed number of digits.
func number(node string) string { return node[max(0, len(node)-10):] }

// await waits until a node is gone. It may also return before that.
func (l *lock) await(ctx context.Context, node string) error {
	there, gone := false, (<-chan zk.Event)(nil)
	err := retry(ctx, func() (err error) {
		there, _, gone, err = l.conn.ExistsW(node)
		return err
	})
	if err != nil || !there {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-gone:
		return nil
	}
}

// enter checks that the ZooKeeper node of this client still exists and is of its session, and returns the
// grant. The counts of falls and of ended sessions are those from before this client was first in the queue.
func (l *lock) enter(ctx context.Context, falls, sessions int) (g program.Grant, err error) {
	there, stat := false, (*zk.Stat)(nil)
	err = retry(ctx, func() (err error) {
		there, stat, err = l.conn.Exists(l.mine)
		return err
	})
	switch {
	case err != nil:
		return g, err
	case !there:
		l.mine = ""
		return g, errExpired
	case l.ended() != sessions:
		return g, errExpired
	}
	return l.grant(uint64(stat.Czxid), falls), nil
}

// Release implements program.Lock.
func (l *lock) Release(ctx context.Context) error {
	over := l.release()
	if l.values["recipe"] == library {
		err := l.used.Unlock()
		switch {
		case err == nil:
		case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrSessionExpired):
			err = errors.Join(program.ErrLost, err)
		default: // the ZooKeeper node may still exist
			err = errors.Join(err, l.renew())
		}
		return err
	}
	was := l.mine
	err := l.remove(l.life)
	if err == nil && (was == "" || over) {
		return program.ErrLost
	}
	return err
}

// remove deletes the ZooKeeper node of this client, if it has one. Without a connection it waits for one,
// since the node would block all clients as long as the session lives. It returns program.ErrLost if the node
// was gone already. If a connection was lost meanwhile, remove cannot tell whether it was, and returns nil.
func (l *lock) remove(ctx context.Context) error {
	if l.mine == "" {
		return nil
	}
	again := false
	err := retry(ctx, func() error {
		err := l.conn.Delete(l.mine, -1)
		if again && errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		again = true
		return err
	})
	gone := errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrSessionExpired)
	if err == nil || gone {
		l.mine = ""
	}
	if gone {
		err = errors.Join(program.ErrLost, err)
	}
	return err
}

// useLibrary acquires the lock by the library's recipe. If the library leaves a node behind after an error,
// the node blocks this client too, until the session ends.
func (l *lock) useLibrary(ctx context.Context) (program.Grant, error) {
	l.used = zk.NewLock(l.conn, l.root, l.acl)
	done := make(chan error, 1)
	go func(used *zk.Lock) { done <- used.LockWithData(l.name) }(l.used)
	select {
	case <-ctx.Done():
		return program.Grant{}, ctx.Err()
	case err := <-done:
		if err != nil {
			return program.Grant{}, errors.Join(fmt.Errorf("zk.Lock: %w", err), l.renew())
		}
		return l.grant(0, l.connectedSince()), nil
	}
}

// Close implements program.Lock.
func (l *lock) Close() error {
	l.conn.Close()
	return nil
}

// pause is the time between two tries of a call that fails for lack of a connection.
const pause = 50 * time.Millisecond

// retry repeats a call as long as it fails for lack of a connection. It returns any other error of the call.
func retry(ctx context.Context, call func() error) error {
	for {
		err := call()
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}
