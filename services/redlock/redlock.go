// Package redlock has the lock on a majority of independent Redis servers.
package redlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"turnstile/bench/service"
	"turnstile/bench/service/held"
	"turnstile/nodes/foreign/program"
	"turnstile/services/redisd"
)

// Service is the algorithm that the documentation of Redis describes.
var Service = service.Service{
	Name:    "redlock",
	Summary: "Redlock on 3 or 5 Redis servers; redsync over go-redis",
	Promise: "Safety property: Mutual exclusion. At any given moment, only one client can hold a lock.",
	Link:    "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/#the-redlock-algorithm",
	Options: []service.Option{
		redisd.Expiry("; the library's own default is 8s"),
		{Name: "tries", Default: "32", Usage: "number after which the library gives up, which counts as a refusal",
			Check: service.Count(1, 1_000_000), Drawn: []string{"3"}},
		{Name: "delay", Default: library, Usage: "pause between two tries; library: 50 to 250 ms, drawn each time",
			Check: delay, Drawn: []string{"5ms", "30ms"}},
		{Name: "drift", Default: "0.01", Usage: "the part of px that clocks may differ by", Check: drift,
			Drawn: []string{"0", "0.1"}},
		service.Switch("fail-fast", "off", "a try ends once a majority has answered"),
		service.Switch("deadlines", "off", "go-redis heeds the library's limit for an answer of a try, px/20; "+
			"off: 5 s, as go-redis has it unless it is told otherwise; a release has no other limit"),
		service.Switch("watch", "off", "the holder leaves when the library's Until has passed, by its own "+
			"clock; off: nobody tells it that the lock is lost"),
		redisd.Renew,
		redisd.Durable,
	},
	Servers: servers(),
	Settings: []service.Setting{
		{Name: "px 2s", Default: "8s", Why: "faults of some seconds outlast it"}, redisd.Client},
	Granted: func(v service.Values) time.Duration { return v.Duration("px") },
	Holds:   redisd.Holds,
	Delete:  redisd.Delete,
	Declare: declare,
	Library: func(service.Values) string { return service.Module("github.com/go-redsync/redsync/v4") },
	Open: func(_ context.Context, s program.Init, v service.Values) (program.Lock, error) {
		return open(s, v), nil
	},
}

// library is the value of the option delay for the delays that the library itself chooses.
const library = "library"

func delay(value string) error {
	if value == library {
		return nil
	}
	if err := service.Length(0, time.Minute)(value); err != nil {
		return fmt.Errorf("%w; or write library", err)
	}
	return nil
}

func drift(value string) error {
	if f, err := strconv.ParseFloat(value, 64); err != nil || !(f >= 0 && f < 1) {
		return fmt.Errorf("%q is no part of px: write a number from 0 to less than 1, as in 0.01", value)
	}
	return nil
}

// recovers is how long a client may wait for a server that does not answer: 5 s in go-redis, and a margin.
const recovers = 6 * time.Second

func servers() *service.Servers {
	s := redisd.Servers()
	s.Members, s.Recovers = []int{3, 5}, recovers
	return &s
}

// declare returns what the documentation promises if these assumptions hold: the algorithm "relies on the
// assumption that while there is no synchronized clock across the processes, the local time in every process
// updates at approximately at the same rate"; the holder is done within the validity time; and restarted
// servers keep their data, by fsync=always, or stay down for longer than px.
func declare(v service.Values) service.Declaration {
	safe := []string{"no-pause", "timing", "no-amnesia"}
	if !v.On("durable") {
		safe = append(safe, "servers-up")
	}
	return service.Declaration{Safe: safe, Live: []string{"no-loss", "server-majority"}, Cancels: true,
		GraceMS: float64((2*v.Duration("px") + recovers) / time.Millisecond)}
}

// A lock is one node's client of the service.
type lock struct {
	redisd.Clients
	mutex  *redsync.Mutex
	name   string // of the key
	values service.Values
	watch  held.Watch
}

func open(s program.Init, v service.Values) *lock {
	l := &lock{name: s.Options.Prefix + "lock", values: v}
	var pools []redsyncredis.Pool
	for _, address := range s.Options.Servers {
		c := redis.NewClient(&redis.Options{Addr: address, Password: s.Secret.Password, MaxRetries: -1,
			ContextTimeoutEnabled: v.On("deadlines")})
		l.Clients, pools = append(l.Clients, c), append(pools, goredis.NewPool(c))
	}
	part, _ := strconv.ParseFloat(v["drift"], 64)
	options := []redsync.Option{redsync.WithExpiry(v.Duration("px")), redsync.WithTries(v.Int("tries")),
		redsync.WithDriftFactor(part), redsync.WithFailFast(v.On("fail-fast")),
		redsync.WithGenValueFunc(func() (string, error) { return redisd.Label(s.Name), nil })}
	if v["delay"] != library {
		options = append(options, redsync.WithRetryDelay(v.Duration("delay")))
	}
	l.mutex = redsync.New(pools...).NewMutex(l.name, options...)
	return l
}

// Acquire implements program.Lock.
func (l *lock) Acquire(ctx context.Context) (g program.Grant, err error) {
	err = l.mutex.LockContext(ctx)
	var down *redsync.RedisError
	switch {
	case ctx.Err() != nil && err != nil:
		return g, ctx.Err()
	case errors.As(err, &down): // no majority of the servers was reached
		return g, err
	case err != nil:
		return g, fmt.Errorf("%w: %w", program.ErrRefused, err)
	}
	if l.values[redisd.Renew.Name] == redisd.NoRenewal {
		g.Lost = l.watch.Until(l.values.On("watch"), l.mutex.Until())
	} else {
		g.Lost = l.watch.Renew(l.mutex.Until(), redisd.Every(l.values), l.extend)
	}
	return g, nil
}

// extend extends the lock on a majority of the servers, and returns until when it is valid.
func (l *lock) extend(ctx context.Context) (time.Time, error) {
	if l.values[redisd.Renew.Name] == redisd.Blind {
		return l.extendBlindly(ctx)
	}
	done, err := l.mutex.ExtendContext(ctx)
	if !done {
		return time.Time{}, errors.Join(program.ErrLost, err)
	}
	return l.mutex.Until(), nil
}

// extendBlindly extends the keys of the lock, whatever their values are.
func (l *lock) extendBlindly(ctx context.Context) (time.Time, error) {
	px, sent := l.values.Duration("px"), time.Now()
	done := make(chan bool, len(l.Clients))
	for _, c := range l.Clients {
		go func() { done <- c.PExpire(ctx, l.name, px).Val() }()
	}
	count := 0
	for range l.Clients {
		if <-done {
			count++
		}
	}
	if count <= len(l.Clients)/2 {
		return time.Time{}, program.ErrLost
	}
	return sent.Add(px), nil
}

// Release implements program.Lock.
func (l *lock) Release(ctx context.Context) error {
	l.watch.End()
	if freed, err := l.mutex.UnlockContext(ctx); !freed {
		return errors.Join(program.ErrLost, err)
	}
	return nil
}
