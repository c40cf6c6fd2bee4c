// Package zookeeper has the lock of ZooKeeper: each client creates an ephemeral sequential node, and waits
// until the node before its own is gone. The package also has recipes of Apache Curator.
package zookeeper

import (
	"context"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// Values of the option recipe.
const (
	own     = "own"
	library = "library"
	herd    = "herd"
	curator = "curator"
)

// Values of the option lost.
const (
	expired      = "expired"
	disconnected = "disconnected"
)

// Options of both services.
var (
	session = service.Option{Name: "session", Default: "2s", Check: service.Length(2*tick, maxSession),
		Usage: "the session timeout; the server counts it in ticks of 200 ms", Common: true,
		Drawn: []string{"400ms", "900ms", "1300ms", "2s", "3s"}}
	durable = service.Switch("durable", "off",
		"forceSync: the servers write to disk before they answer").InCommon()
)

// Service is the service that uses the documented lock recipe, or another recipe.
var Service = service.Service{
	Name:    "zookeeper",
	Summary: "the lock recipe of ZooKeeper, with the czxid as fence; go-zookeeper",
	Promise: "Fully distributed locks that are globally synchronous, meaning at any snapshot in time no two " +
		"clients think they hold the same lock.",
	Link: "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks",
	Options: []service.Option{
		{Name: "recipe", Default: own,
			Usage: "own: each waits for the one before; library: zk.Lock, without a fence; " +
				"herd: all wait for the holder; curator: InterProcessMutex of Apache Curator, in Java",
			Values: []string{own, library, herd, curator}},
		session,
		{Name: "lost", Default: disconnected, Usage: "when a holder counts its lock as lost: disconnected " +
			"(noticed after 2/3 of the session timeout), or expired (noticed on reconnection)",
			Values: []string{expired, disconnected}},
		service.Switch(service.ObeyOption, "on", "a holder that is told so leaves at once"),
		service.Failed("ends: after a Lock or Unlock of the library that failed, the client ends its session, " +
			"and with it the node that the library may have left; kept: it keeps both, and all may wait for " +
			"that node for ever"),
		durable,
	},
	Servers: &servers, Settings: settings,
	Delete: deleteNodes, Expire: expireSessions, Queues: true,
	Granted: granted,
	Declare: declare,
	Library: func(v service.Values) string {
		if v["recipe"] == curator {
			return curatorVersion()
		}
		return service.Module("github.com/go-zookeeper/zk")
	},
	Needs: func(v service.Values) error {
		if v["recipe"] == curator {
			return prepareCurator("Mutex", mutex)
		}
		return nil
	},
	Open: func(ctx context.Context, s program.Init, v service.Values) (program.Lock, error) {
		if v["recipe"] == curator {
			return openCurator(ctx, s, v)
		}
		return open(ctx, s, v)
	},
	Obeys: func(v service.Values) bool { return v.On(service.ObeyOption) },
}

// settings are the settings of clients that differ from the default.
var settings = []service.Setting{{Name: "session 2s", Default: "none: each client names one",
	Why: "faults of some seconds outlast it"}}

// declare returns the promises of the lock. A holder that ignores losses of its connection relies on this
// connection, and on the servers at its other end.
func declare(v service.Values) service.Declaration {
	d := declaration(v)
	d.Fenced, d.Cancels = v["recipe"] != library, v["recipe"] != library // zk.Lock has no way to give up
	if !v.On(service.ObeyOption) && v["lost"] != expired {
		d.Safe = append(d.Safe, "no-loss", "servers-up")
	}
	return d
}

// declaration returns what the documentation promises: a disconnected client knows nothing about its locks,
// and the server frees them after the session timeout. With lost=expired, a client may learn that its lock is
// lost only after another client has entered, so it relies on its connection, and on the server at its end.
func declaration(v service.Values) service.Declaration {
	d := service.Declaration{Safe: []string{"no-pause", "timing", "no-amnesia"},
		Live:    []string{"server-majority"},
		GraceMS: float64((2*v.Duration("session") + recovers) / time.Millisecond)}
	if v["lost"] == expired {
		d.Safe = append(d.Safe, "no-loss", "servers-up")
	}
	if v.Int(service.Members) == 1 {
		d.Live = append(d.Live, "no-loss") // if the single server fails, its connections are lost too
	}
	return d
}
