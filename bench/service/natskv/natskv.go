// Package natskv has the lock that users build from a key of NATS KV: create it to acquire, update it by
// revision to renew, delete it to release. The servers are NATS servers with JetStream, which run in this
// program.
package natskv

import (
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"turnstile/bench/service"
)

// Service is the lock. Keys expire by the ttl of their bucket, since an update drops the ttl that a key was
// created with.
var Service = service.Service{
	Name:    "nats-kv",
	Summary: "a key of NATS KV: created, renewed by revision, watched; the revision is the fence; nats.go",
	Promise: "Atomic operations on keys such as create and update allow for distributed locking patterns.",
	Link:    "https://docs.nats.io/nats-concepts/jetstream/key-value-store",
	Options: []service.Option{
		{Name: "ttl", Default: "2s", Check: service.Length(time.Second, time.Hour), Common: true,
			Drawn: []string{"1s", "1300ms", "2500ms"},
			Usage: "time to live of the bucket: a key that is not renewed for so long expires"},
		service.Switch(service.ObeyOption, "on", "leave when an update says that the key is lost"),
		service.Switch("durable", "off", "the servers have the disk written before they answer "+
			"(sync_interval: always)").InCommon(),
	},
	Servers: &servers,
	Granted: func(v service.Values) time.Duration { return v.Duration("ttl") },
	Declare: func(v service.Values) service.Declaration {
		// If a holder is suspended or its messages are late for more than ttl, it may be inside together with the
		// next holder.
		safe := []string{"no-pause", "timing", "no-loss", "no-amnesia"}
		if !v.On("durable") { // a killed server may have answered before it wrote to disk
			safe = append(safe, "servers-up")
		}
		return service.Declaration{Safe: safe, Live: []string{"no-loss", "server-majority"}, Cancels: true,
			Fenced: true, GraceMS: float64((2*v.Duration("ttl") + recovers) / time.Millisecond)}
	},
	Library: func(service.Values) string { return "nats.go " + nats.Version },
	Settings: []service.Setting{
		{Name: "ReconnectWait 50ms, no limit of tries", Default: "2s, and 60 tries",
			Why: "clients are back soon after a fault is over"},
		{Name: "Timeout 1s", Default: "2s", Why: "the same"},
		{Name: "servers in an order of the client's own", Default: "drawn at random", Why: "runs are alike"}},
	Open:   open,
	Delete: deleteKey,
	Obeys:  func(v service.Values) bool { return v.On(service.ObeyOption) },
}

// recovers is how long servers may take to elect a leader of the stream; measured: 4 to 9 s.
const recovers = 10 * time.Second

// servers are one or three servers, each in its own process.
var servers = service.Servers{Members: []int{1, 3}, Ports: 2, Run: run,
	NoClock: service.GoClock, Recovers: recovers,
	Versioned: func() string { return server.VERSION },
	Command: func(m *service.Member) (args, env []string) {
		args = []string{"n" + strconv.Itoa(m.Number), m.Dir, m.Values["durable"], m.Secret.Dir}
		for _, other := range m.All {
			args = append(args, other.Address(0), m.Reach(other, 1))
		}
		return args, nil
	},
	Ready:  ready,
	Leader: leader,
	Settings: []service.Setting{
		{Name: "sync_interval: always with durable=on", Default: "2m, as with durable=off",
			Why: "to compare it with servers that write the disk first"},
		{Name: "one route between two servers, not advertised", Default: "pool_size 3, advertised",
			Why: "a fault can cut it"},
		{Name: "a token for clients, and a password for routes", Default: "none", Why: service.Strangers},
		{Name: "256 MB of memory, 1 GB of disk", Default: "shares of the machine", Why: "a run needs no more"}},
}
