// Package redisd starts Redis servers, for all services that use them.
package redisd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"turnstile/bench/service"
)

// Durable is the option by which servers write to disk before they answer.
var Durable = service.Switch("durable", "off",
	"the server writes each command to disk before it answers; off: a restart loses all").InCommon()

// Expiry returns the option px, the lifetime of a lock. The remark is appended to its description.
func Expiry(remark string) service.Option {
	return service.Option{Name: "px", Default: "2s",
		Usage: "the time after which a server frees the lock" + remark,
		Check: service.Length(10*time.Millisecond, time.Hour), Common: true,
		Drawn: []string{"300ms", "777ms", "1s", "1999ms"}}
}

// Servers defines how Redis servers are started. They have the option [Durable].
func Servers() service.Servers {
	return service.Servers{Ports: 1, Program: "redis-server", Package: "redis-server",
		VersionArgs: []string{"--version"}, Version: regexp.MustCompile(`v=(\S+)`),
		Prepare: func(_ context.Context, m *service.Member) error { return Prepare(m) },
		Command: func(m *service.Member) (args, env []string) { return Args(m), nil }, Ready: ready,
		Settings: []service.Setting{
			{Name: "save ''", Default: "a snapshot after 60 s at the earliest",
				Why: "a run is shorter, and a server that is killed has lost its data"},
			{Name: "appendonly yes, appendfsync always with durable=on", Default: "no, as with durable=off",
				Why: "to compare it with servers that write the disk first"},
			{Name: "requirepass", Default: "no password", Why: service.Strangers}}}
}

// config is the file with the settings that no argument may have.
const config = "redis.conf"

// Prepare writes the password of a server, which is also its password for its primary, and further settings.
func Prepare(m *service.Member, settings ...string) error {
	settings = append(settings, "requirepass "+m.Secret.Password, "masterauth "+m.Secret.Password)
	_, err := m.Write(config, strings.Join(settings, "\n")+"\n")
	return err
}

// Args returns the arguments of a server.
func Args(m *service.Member) []string {
	args := []string{m.File(config), "--port", fmt.Sprint(m.Ports[0]), "--bind", "127.0.0.1", "--dir", m.Dir,
		"--protected-mode", "no", "--save", ""}
	if m.Values.On("durable") {
		return append(args, "--appendonly", "yes", "--appendfsync", "always")
	}
	return append(args, "--appendonly", "no")
}

// Client describes how the clients that Dial makes differ from the default.
var Client = service.Setting{Name: "MaxRetries -1", Default: "3",
	Why: "a command whose answer was lost is not sent twice without a word"}

// Dial returns a client of a server that demands a password.
func Dial(address, password string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: address, Password: password, MaxRetries: -1})
}

// dial returns a client of a member.
func dial(m *service.Member) *redis.Client { return Dial(m.Address(0), m.Secret.Password) }

// Clients are the clients of several servers.
type Clients []*redis.Client

// Close closes all clients.
func (all Clients) Close() (err error) {
	for _, c := range all {
		err = errors.Join(err, c.Close())
	}
	return err
}

func ready(ctx context.Context, m *service.Member) error {
	// Limits are short, since ready is called again unless the process has ended.
	c := redis.NewClient(&redis.Options{Addr: m.Address(0), Password: m.Secret.Password, MaxRetries: -1,
		DialTimeout: time.Second, ReadTimeout: time.Second})
	defer c.Close()
	says, err := c.Info(ctx, "replication").Result()
	if err == nil && strings.Contains(says, "master_link_status:down") && Primary(ctx, m.All[0]) {
		err = errors.New("it has not got the data of its primary yet")
	}
	return err
}

// Primary reports whether a server takes writes, as far as the server knows.
func Primary(ctx context.Context, m *service.Member) bool {
	c := dial(m)
	defer c.Close()
	says, err := c.Info(ctx, "replication").Result()
	return err == nil && strings.Contains(says, "role:master")
}

// Promote makes a replica the primary.
func Promote(ctx context.Context, m *service.Member) error {
	c := dial(m)
	defer c.Close()
	return c.Do(ctx, "REPLICAOF", "NO", "ONE").Err()
}
