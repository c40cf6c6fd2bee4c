package postgres

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/jackc/pgx/v5"

	"turnstile/bench/service"
)

// user is whom clients connect as; it needs no password.
const user = "turnstile"

// servers is how PostgreSQL is started.
var servers = service.Servers{Members: []int{1}, Ports: 1, Program: "postgres", Package: "postgresql-15",
	Folders:     []string{"/usr/lib/postgresql/*/bin"},
	VersionArgs: []string{"--version"}, Version: regexp.MustCompile(`\(PostgreSQL\) (\d\S*)`),
	Needs: func(program string) []string { return []string{initdb(program)} },
	Prepare: func(ctx context.Context, m *service.Member) error {
		return m.Run(ctx, initdb(m.Program), "-D", m.Dir, "-U", user, "-A", "trust", "--no-sync", "--no-locale",
			"-E", "UTF8")
	},
	Command: command,
	Ready: func(ctx context.Context, m *service.Member) error {
		c, err := pgx.Connect(ctx, address(m.Address(0)))
		if err != nil {
			return err
		}
		return c.Close(ctx)
	},
	Stop: syscall.SIGINT, // ends connections; SIGTERM would wait for clients
}

// initdb returns the path of the program that makes the folder of a server.
func initdb(program string) string {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return filepath.Join(filepath.Dir(program), "initdb")
}

// address returns that of a server, as pgx reads it.
func address(at string) string { return "postgres://" + user + "@" + at + "/postgres?sslmode=disable" }

func command(m *service.Member) (args, env []string) {
	settings := []string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=16MB",
		"max_connections=256"}
	if !m.Values.On("durable") {
		settings = append(settings, "fsync=off")
	}
	if m.Values.On("keepalives") {
		settings = append(settings, "tcp_keepalives_idle=1", "tcp_keepalives_interval=1", "tcp_keepalives_count=2",
			"tcp_user_timeout=3000")
	}
	if limit := idleLimit(m.Values); limit > 0 {
		settings = append(settings, fmt.Sprintf("idle_session_timeout=%d", limit.Milliseconds()))
	}
	args = []string{"-D", m.Dir, "-p", fmt.Sprint(m.Ports[0])}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args, []string{"LC_ALL=C"}
}
