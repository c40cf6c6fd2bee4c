// Package etcd has two services: the lock and the election of etcd's client library. It also has the servers
// of etcd.
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
	sessionOption = "session"
	unlockOption  = "unlock"
)

// Durable and Resign are options that other services on etcd's servers have too.
var (
	Durable = service.Switch("durable", "off",
		"servers have the disk written before they answer (fsync)").InCommon()
	Resign = service.Option{Name: "resign", Default: "0s", Check: service.Length(0, time.Hour),
		Drawn: []string{"0s", "300ms", "1700ms", "4s"},
		Usage: "time after which a leader resigns and stands again; 0s: never"}
)

// options returns the options of both services. Hunts draw these values of session.
func options(sessions ...string) []service.Option {
	return []service.Option{
		{Name: ttlOption, Default: "2s", Check: service.WholeSeconds, Common: true, Drawn: []string{"1s", "3s"},
			Usage: "time to live of the session's lease, in whole seconds; servers grant 2s at least"},
		service.Switch(service.ObeyOption, "on", "leave when told that the session is over, or ignore it"),
		{Name: sessionOption, Default: "own", Values: []string{"own", "shared"}, Drawn: sessions,
			Usage: "own: each node has a session; shared: all nodes share one lease, as the goroutines of a " +
				"process do"},
		service.Failed("ends: after a call of the library that failed, the client ends its session, and with it " +
			"the key that the library may have left; kept: it keeps both"),
		Durable,
	}
}

// settings are the settings of clients that differ from the library's defaults.
var settings = []service.Setting{
	{Name: "ttl of a session 2s", Default: "60s", Why: "faults of some seconds outlast it"},
	{Name: "DialKeepAliveTime 10s, its timeout 3s", Default: "none",
		Why: "a client notices a server that is cut off silently"},
	{Name: "DialTimeout 2s", Default: "none", Why: "the same"}}

// Lock is the service that uses concurrency.Mutex.
var Lock = service.Service{
	Name:    "etcd",
	Summary: "concurrency.Mutex on etcd, its key bound to a session that is kept alive; client/v3",
	Promise: "While the client holds a non revoked lease it can claim that it owns access to a resource " +
		"associated with the lease. [...] the lock APIs cannot be used as mutual exclusion mechanism by " +
		"themselves.",
	Link: "https://etcd.io/docs/v3.5/learning/why/#notes-on-the-usage-of-lock-and-lease",
	Options: append(options("own", "own", "shared"), service.Option{Name: unlockOption, Default: "once",
		Values: []string{"once", "retried"},
		Usage:  "an unlock that fails is over (see failed), or is made again in the background until it succeeds"}),
	Servers: &Servers, Settings: settings,
	Delete: Delete, Expire: Expire, Queues: true,
	Granted: granted,
	Declare: func(v service.Values) service.Declaration {
		d := declaration(v)
		d.Fenced, d.Cancels = true, true
		return d
	},
	Library: func(service.Values) string { return service.Module(library) },
	Open:    service.Opens(openLock),
	Obeys:   func(v service.Values) bool { return v.On(service.ObeyOption) },
}

// Election is the service that uses concurrency.Election.
var Election = service.Service{
	Name:    "etcd-election",
	Summary: "concurrency.Election on etcd, its key bound to a session that is kept alive; client/v3",
	Promise: "Multiple sessions can participate in the election for the same prefix, but only one can be the " +
		"leader at a time.",
	Link:    "https://pkg.go.dev/go.etcd.io/etcd/client/v3/concurrency#Election.Campaign",
	Options: append(options("own"), Resign),
	Servers: &Servers, Settings: settings,
	Delete: Delete, Expire: Expire, Queues: true,
	Granted: granted,
	Declare: func(v service.Values) service.Declaration {
		d := declaration(v)
		d.Elects, d.Leaves, d.Terms = true, true, v[sessionOption] == "own"
		if !v.On(service.ObeyOption) { // a leader whose session has ended leads on, so the nodes may never agree
			d.Live = append(d.Live, d.Safe...)
		}
		return d
	},
	Library: func(service.Values) string { return service.Module(library) },
	Client: func(v service.Values, d service.Declaration, in io.Reader, out io.Writer) error {
		return program.ServeElector(in, out, d,
			func(ctx context.Context, s program.Init) (program.Elector, error) { return openElector(ctx, s, v) })
	},
}

// leastTTL is the shortest time to live (ttl) that servers grant: one and a half times their election
// timeout, in whole seconds.
const leastTTL = 2 * time.Second

// granted returns the time to live that servers grant to the lease of a session.
func granted(v service.Values) time.Duration { return max(v.Duration(ttlOption), leastTTL) }

// declaration returns what both services promise. According to the documentation, server and client measure
// the time to live with their own clocks, and the server may revoke a lease that the client still claims. So
// safety assumes that neither of them is suspended, and that messages arrive in time. When etcd's servers
// elect a new leader, it extends all leases by their time to live.
func declaration(v service.Values) service.Declaration {
	ttl := granted(v)
	d := service.Declaration{Safe: []string{"no-loss", "no-pause", "timing", "no-amnesia"},
		Live: []string{"server-majority"}, GraceMS: float64((2*ttl + Recovers) / time.Millisecond)}
	if !v.On(service.ObeyOption) { // a client that ignores the end of its session relies on the servers
		d.Safe = append(d.Safe, "servers-up")
	}
	return d
}

// Recovers is how long servers may take to elect a leader, and clients to reconnect.
const Recovers = 5 * time.Second

// seconds returns the time to live in whole seconds, as the library takes it.
func seconds(v service.Values) int { return int(v.Duration(ttlOption) / time.Second) }

// errNoSession is the error for a session that ended while it began.
var errNoSession = errors.New("the session ended while it began")
