// Package redis has the lock on one Redis server: it is taken by SET with NX and PX, and released by a script
// that first compares the value.
package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"turnstile/bench/service"
	"turnstile/bench/service/held"
	"turnstile/nodes/foreign/program"
	"turnstile/services/lag"
	"turnstile/services/redisd"
)

// Service is the lock on one server, as the documentation of Redis describes it.
var Service = service.Service{
	Name:    "redis",
	Summary: "SET NX PX on one Redis server, released by a Lua script; go-redis",
	Promise: "At any given moment, only one client can hold a lock.",
	Link:    "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/",
	Options: []service.Option{
		redisd.Expiry(""),
		service.Switch("fence", "off", "a fencing token by INCR in the same script"),
		{Name: "release", Default: "lua", Usage: "the key is deleted by a script that compares, or by a plain DEL",
			Values: []string{"lua", "del"}},
		service.Switch("watch", "off", "the holder leaves px after it sent SET, by its own clock; "+
			"off: nobody tells it that the lock is lost"),
		redisd.Renew,
		{Name: "retry", Default: "1ms", Usage: "pause between two tries for a lock that is held",
			Check: service.Length(100*time.Microsecond, time.Minute), Drawn: []string{"5ms", "23ms"}},
		service.Switch("replica", "off", "server 1 is an asynchronous replica of server 0, for promote").
			InCommon(),
		{Name: "lag", Default: "0s", Usage: "how much later the replica hears of a write", Common: true,
			Check: service.Length(0, 2*time.Second), Drawn: []string{"0s", "300ms", "1s"}},
		redisd.Durable,
	},
	Servers: servers(),
	Settings: []service.Setting{
		{Name: "retry 1ms", Why: "the documentation asks for a random delay without a length; a longer delay " +
			"would leave a free lock unused"},
		{Name: "px 2s", Why: "faults of some seconds outlast it"}, redisd.Client},
	Granted: func(v service.Values) time.Duration { return v.Duration("px") },
	Holds:   redisd.Holds,
	Check: func(v service.Values) error {
		if !v.On("replica") && v.Duration("lag") > 0 {
			return errors.New("lag needs a replica: add replica=on")
		}
		return nil
	},
	Delete:  redisd.Delete,
	Declare: declare,
	Library: func(service.Values) string { return service.Module("github.com/redis/go-redis/v9") },
	Open: func(ctx context.Context, s program.Init, v service.Values) (program.Lock, error) {
		l := open(s, v)
		return l, l.reach(ctx, s)
	},
}

// declare returns what the documentation promises: a lock is "guaranteed only as long as the client holding
// the lock terminates its work within the lock validity time", by the clocks of client and server, and as
// long as the server keeps its data. About a failover to a replica the documentation says: "SAFETY
// VIOLATION!".
func declare(v service.Values) service.Declaration {
	safe := []string{"no-pause", "timing", "no-amnesia"}
	if !v.On("durable") || v.On("replica") {
		safe = append(safe, "servers-up")
	}
	return service.Declaration{Safe: safe, Live: []string{"no-loss", "servers-up"}, Fenced: v.On("fence"),
		Cancels: true, GraceMS: float64(2*v.Duration("px")/time.Millisecond) + 1000}
}

// servers defines how the server and its replica are started.
func servers() *service.Servers {
	s := redisd.Servers()
	s.Count = func(v service.Values) int {
		if v.On("replica") {
			return 2
		}
		return 1
	}
	s.Prepare = func(_ context.Context, m *service.Member) (err error) {
		if m.Number == 0 {
			return redisd.Prepare(m)
		}
		primary, err := lag.Behind(m.All[0].Address(0), m.Values.Duration("lag"))
		if err != nil {
			return err
		}
		host, port, _ := net.SplitHostPort(primary)
		return redisd.Prepare(m, fmt.Sprintf("replicaof %s %s", host, port))
	}
	s.Command = func(m *service.Member) (args, env []string) {
		args = redisd.Args(m)
		if m.Number == 0 {
			args = append(args, "--repl-diskless-sync-delay", "0") // it sends data to a replica at once
		}
		return args, nil
	}
	s.Leader, s.Promote = service.First(redisd.Primary), redisd.Promote
	return &s
}

// The scripts take the key of the lock. The first also takes the key of its fence numbers.
var (
	take = redis.NewScript(`if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
	return redis.call('INCR', KEYS[2]) end return 0`)
	extend = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`)
)

// A lock is one node's client of the service. It uses the first server until this server fails, and then the
// next one.
type lock struct {
	redisd.Clients
	uses   int // index of the client in use
	values service.Values
	name   string // of the node
	key    string
	holds  string // the value that this client sets the key to
	watch  held.Watch
}

func open(s program.Init, v service.Values) *lock {
	l := &lock{values: v, name: s.Name, key: s.Options.Prefix + "lock"}
	for _, address := range s.Options.Servers {
		l.Clients = append(l.Clients, redisd.Dial(address, s.Secret.Password))
	}
	return l
}

// reach checks that the first server answers, unless the node is restarted: then the server may be out of
// reach for a while.
func (l *lock) reach(ctx context.Context, s program.Init) error {
	if s.Options.Incarnation > 0 {
		return nil
	}
	if err := l.Clients[0].Ping(ctx).Err(); err != nil {
		return fmt.Errorf("the server %s does not answer as Redis does to a client %s: %w",
			s.Options.Servers[0], s.Secret.With(), err)
	}
	return nil
}

// Acquire implements program.Lock. It polls, since the server does not queue clients.
func (l *lock) Acquire(ctx context.Context) (program.Grant, error) {
	l.holds = redisd.Label(l.name)
	for {
		sent := time.Now()
		fence, err := l.try(ctx)
		switch {
		case err != nil:
			return program.Grant{}, l.failed(err)
		case fence > 0:
			g := program.Grant{Lost: l.tell(sent)}
			if l.values.On("fence") {
				g.Fence = fence
			}
			return g, nil
		}
		select {
		case <-ctx.Done():
			return program.Grant{}, ctx.Err()
		case <-time.After(l.values.Duration("retry")):
		}
	}
}

// tell returns a channel that is closed when the lock is lost, or nil. The server keeps the lock for at least
// px after it received SET, which was sent at the given time.
func (l *lock) tell(sent time.Time) <-chan struct{} {
	px, client, holds := l.values.Duration("px"), l.Clients[l.uses], l.holds
	valid := sent.Add(px)
	if l.values[redisd.Renew.Name] == redisd.NoRenewal {
		return l.watch.Until(l.values.On("watch"), valid)
	}
	return l.watch.Renew(valid, redisd.Every(l.values), func(ctx context.Context) (time.Time, error) {
		sent := time.Now()
		done, err := l.extend(ctx, client, holds, px)
		if err == nil && !done {
			err = program.ErrLost
		}
		return sent.Add(px), err
	})
}

// extend extends the lock, and reports whether the lock was there, and unless renew=blind was still its own.
func (l *lock) extend(ctx context.Context, c *redis.Client, holds string, px time.Duration) (bool, error) {
	if l.values[redisd.Renew.Name] == redisd.Blind {
		return c.PExpire(ctx, l.key, px).Result()
	}
	done, err := extend.Run(ctx, c, []string{l.key}, holds, px.Milliseconds()).Int()
	return done == 1, err
}

// try tries to take the lock once. It returns 0 if another client holds the lock. Otherwise it returns the
// fence number, or 1 if the option fence is off.
func (l *lock) try(ctx context.Context) (fence uint64, err error) {
	px, client := l.values.Duration("px"), l.Clients[l.uses]
	if l.values.On("fence") {
		return take.Run(ctx, client, []string{l.key, l.key + ":fence"}, l.holds, px.Milliseconds()).Uint64()
	}
	err = client.SetArgs(ctx, l.key, l.holds, redis.SetArgs{Mode: "NX", TTL: px}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return 1, nil
}

// failed switches to the next server if err shows that the server is down or is a replica.
func (l *lock) failed(err error) error {
	var said redis.Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &said) || strings.HasPrefix(said.Error(), "READONLY") {
		l.uses = (l.uses + 1) % len(l.Clients)
	}
	return err
}

// Release implements program.Lock.
func (l *lock) Release(ctx context.Context) error {
	l.watch.End()
	if l.values["release"] == "del" {
		return l.failed(l.Clients[l.uses].Del(ctx, l.key).Err())
	}
	freed, err := redisd.Free.Run(ctx, l.Clients[l.uses], []string{l.key}, l.holds).Int()
	if err == nil && freed == 0 {
		return program.ErrLost
	}
	return l.failed(err)
}
