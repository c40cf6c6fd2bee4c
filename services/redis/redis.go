// Package redis has the lock on one Redis server: SET with NX and PX, released by a script that compares
// first.
package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/redis/go-redis/v9"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
	"turnstile/services/module"
)

// Service is the lock on one server, as the documentation of Redis describes it.
var Service = service.Service{
	Name:    "redis",
	Summary: "SET NX PX on one Redis server, released by a Lua script; go-redis",
	Promise: "At any given moment, only one client can hold a lock.",
	Link:    "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/",
	Options: []service.Option{
		{Name: "px", Default: "2s", Usage: "after which the server frees the lock",
			Check: service.Length(10*time.Millisecond, time.Hour)},
		{Name: "fence", Default: "off", Usage: "a fencing token by INCR in the same script", Values: service.OnOff},
		{Name: "release", Default: "lua", Usage: "by a script that compares, or by a plain DEL",
			Values: []string{"lua", "del"}},
		{Name: "retry", Default: "1ms", Usage: "between two tries for a lock that is held",
			Check: service.Length(100*time.Microsecond, time.Minute)},
		{Name: "durable", Default: "off", Usage: "the server writes each command to disk before it answers",
			Values: service.OnOff},
	},
	Servers: &servers,
	Declare: func(v service.Values) service.Declaration {
		// Safe as long as the holder's work ends within px, by the clocks of both.
		return service.Declaration{Safe: []string{"no-pause", "timing", "no-amnesia"}, Live: []string{"no-loss"},
			Fenced: v.On("fence"), GraceMS: float64(2*v.Duration("px")/time.Millisecond) + 1000}
	},
	Library: func() string { return module.Version("github.com/redis/go-redis/v9") },
	Client: func(v service.Values, d service.Declaration, in io.Reader, out io.Writer) error {
		return program.ServeLock(in, out, d, true,
			func(_ context.Context, s program.Setting) (program.Lock, error) { return open(s, v), nil })
	},
}

// servers is how a Redis server is started.
var servers = service.Servers{Members: []int{1}, Ports: 1, Program: "redis-server", Package: "redis-server",
	VersionArgs: []string{"--version"}, Version: regexp.MustCompile(`v=(\S+)`),
	Command: func(m *service.Member) (args, env []string) {
		args = []string{"--port", fmt.Sprint(m.Ports[0]), "--bind", "127.0.0.1", "--dir", m.Dir,
			"--protected-mode", "no", "--save", "", "--appendonly", "no"}
		if m.Values.On("durable") {
			args = append(args[:len(args)-1], "yes", "--appendfsync", "always")
		}
		return args, nil
	},
	Ready: func(ctx context.Context, m *service.Member) error {
		c := redis.NewClient(&redis.Options{Addr: m.Address(0), MaxRetries: -1})
		defer c.Close()
		return c.Ping(ctx).Err()
	},
}

// The scripts take the name of the lock, and that of its fences.
var (
	take = redis.NewScript(`if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
	return redis.call('INCR', KEYS[2]) end return 0`)
	free = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1]) end return 0`)
)

// A lock is the client of a node.
type lock struct {
	client *redis.Client
	values service.Values
	key    string
	holds  string // what it has set the key to
}

func open(s program.Setting, v service.Values) *lock {
	return &lock{client: redis.NewClient(&redis.Options{Addr: s.Options.Servers[0], MaxRetries: -1}), values: v,
		key: s.Options.Prefix + "lock"}
}

// Acquire implements program.Lock. The server does not let clients wait, so it tries again.
func (l *lock) Acquire(ctx context.Context) (program.Grant, error) {
	l.holds = rand.Text()
	for {
		fence, err := l.try(ctx)
		if err != nil || fence > 0 {
			return program.Grant{Fence: fence}, err
		}
		select {
		case <-ctx.Done():
			return program.Grant{}, ctx.Err()
		case <-time.After(l.values.Duration("retry")):
		}
	}
}

// try tries to take the lock once. It returns 0 if somebody holds it; without fences 1 if nobody did.
func (l *lock) try(ctx context.Context) (fence uint64, err error) {
	px := l.values.Duration("px")
	if l.values.On("fence") {
		return take.Run(ctx, l.client, []string{l.key, l.key + ":fence"}, l.holds, px.Milliseconds()).Uint64()
	}
	err = l.client.SetArgs(ctx, l.key, l.holds, redis.SetArgs{Mode: "NX", TTL: px}).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return 1, nil
}

// Release implements program.Lock.
func (l *lock) Release(ctx context.Context) error {
	if l.values["release"] == "del" {
		return l.client.Del(ctx, l.key).Err()
	}
	switch freed, err := free.Run(ctx, l.client, []string{l.key}, l.holds).Int(); {
	case err != nil:
		return err
	case freed == 0:
		return program.ErrLost
	}
	return nil
}

func (l *lock) Close() error { return l.client.Close() }
