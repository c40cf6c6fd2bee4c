// Package etcd has the lock and the election of etcd's client library, and the servers of etcd.
package etcd

import (
	"context"
	"errors"
	"io"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

const library = "go.etcd.io/etcd/client/v3"

// Options of the two services.
const (
	ttlOption     = "ttl"
	obeyOption    = "obey"
	sessionOption = "session"
	unlockOption  = "unlock"
)

// Durable and Resign are options that are shared with other services on these servers.
var (
	Durable = service.Switch("durable", "off", "servers have the disk written before they answer (fsync)")
	Resign  = service.Option{Name: "resign", Default: "0s", Check: service.Length(0, time.Hour),
		Usage: "after which a leader resigns and stands again; 0s: never"}
)

// common are the options of both services.
var common = []service.Option{
	{Name: ttlOption, Default: "2s", Check: service.WholeSeconds,
		Usage: "of the session's lease, in whole seconds; servers grant 2s at least"},
	service.Switch(obeyOption, "on", "leave when told that the session is over, or ignore it"),
	{Name: sessionOption, Default: "own", Values: []string{"own", "shared"},
		Usage: "of each node, or one lease for all nodes, as for all goroutines of one process"},
	Durable,
}

// settings are settings of clients.
var settings = []service.Setting{
	{Name: "ttl of a session 2s", Default: "60s", Why: "faults of some seconds outlast it"},
	{Name: "DialKeepAliveTime 10s, its timeout 3s", Default: "none",
		Why: "a client notices a server that is cut off silently"},
	{Name: "DialTimeout 2s", Default: "none", Why: "the same"}}

// Lock is the service of concurrency.Mutex.
var Lock = service.Service{
	Name:    "etcd",
	Summary: "concurrency.Mutex on etcd, its key bound to a session that is kept alive; client/v3",
	Promise: "While the client holds a non revoked lease it can claim that it owns access to a resource " +
		"associated with the lease. [...] the lock APIs cannot be used as mutual exclusion mechanism by " +
		"themselves.",
	Link: "https://etcd.io/docs/v3.5/learning/why/#notes-on-the-usage-of-lock-and-lease",
	Options: append(common[:len(common):len(common)], service.Option{Name: unlockOption, Default: "once",
		Values: []string{"once", "retried"},
		Usage:  "an unlock that fails gives the session up, or is made again in the background until it succeeds"}),
	Servers: &Servers, Settings: settings,
	Granted: granted,
	Declare: func(v service.Values) service.Declaration {
		d := declaration(v)
		d.Fenced = true
		return d
	},
	Library: func(service.Values) string { return service.Module(library) },
	Open:    service.Opens(openLock),
	Obeys:   func(v service.Values) bool { return v.On(obeyOption) },
}

// Election is the service of concurrency.Election.
var Election = service.Service{
	Name:    "etcd-election",
	Summary: "concurrency.Election on etcd, its key bound to a session that is kept alive; client/v3",
	Promise: "Multiple sessions can participate in the election for the same prefix, but only one can be the " +
		"leader at a time.",
	Link:    "https://pkg.go.dev/go.etcd.io/etcd/client/v3/concurrency#Election.Campaign",
	Options: append(common[:len(common):len(common)], Resign),
	Servers: &Servers, Settings: settings,
	Granted: granted,
	Declare: func(v service.Values) service.Declaration {
		d := declaration(v)
		d.Elects, d.Terms = true, v[sessionOption] == "own"
		return d
	},
	Library: func(service.Values) string { return service.Module(library) },
	Client: func(v service.Values, d service.Declaration, in io.Reader, out io.Writer) error {
		return program.ServeElector(in, out, d,
			func(ctx context.Context, s program.Setting) (program.Elector, error) { return openElector(ctx, s, v) })
	},
}

// leastTTL is the shortest ttl that servers grant: one and a half times their election timeout, in whole
// seconds.
const leastTTL = 2 * time.Second

// granted returns the ttl of a session's lease that servers grant.
func granted(v service.Values) time.Duration { return max(v.Duration(ttlOption), leastTTL) }

// declaration returns what both promise. According to the documentation, server and client measure the ttl
// with their own clocks, and the server may revoke a lease that the client still claims. So safety assumes
// that neither is suspended, and that messages arrive in time. A new leader of the servers extends all leases
// by a ttl.
func declaration(v service.Values) service.Declaration {
	ttl := granted(v)
	return service.Declaration{Safe: []string{"no-loss", "no-pause", "timing", "no-amnesia"},
		Live: []string{"server-majority"}, GraceMS: float64((2*ttl + Recovers) / time.Millisecond)}
}

// Recovers is how long servers may take to elect a leader, and clients to reconnect.
const Recovers = 5 * time.Second

// seconds returns a ttl in the unit of the library.
func seconds(v service.Values) int { return int(v.Duration(ttlOption) / time.Second) }

// errNoSession is the error for a session that ended while it began.
var errNoSession = errors.New("the session ended while it began")
