package postgres

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"turnstile/bench/service"
	"turnstile/internal/secret"
)

// pooler defines how PgBouncer is started. Clients connect only to it. It knows them, and the server
// knows it, by the password of the run.
var pooler = service.Servers{Program: "pgbouncer", Package: "pgbouncer", Folders: []string{"/usr/sbin"},
	VersionArgs: []string{"--version"}, Version: regexp.MustCompile(`PgBouncer (\d\S*)`),
	Prepare: func(_ context.Context, m *service.Member) error {
		_, err := m.Write(poolerFile, poolerSettings(m))
		if err == nil {
			_, err = m.Write(usersFile, fmt.Sprintf("%q %q\n", secret.User, m.Secret.Password))
		}
		return err
	},
	Command: func(m *service.Member) (args, env []string) {
		return []string{"--quiet", m.File(poolerFile)}, []string{"LC_ALL=C"}
	},
	Ready: func(ctx context.Context, m *service.Member) error {
		return ask(ctx, m, func(*pgx.Conn) error { return nil })
	},
	Stop: syscall.SIGTERM,
}

// The files of PgBouncer.
const (
	poolerFile = "pgbouncer.ini"
	usersFile  = "users" // the passwords of its users
)

// poolerSettings returns the settings of PgBouncer: the address of the server, and when a client gives its
// connection back.
func poolerSettings(m *service.Member) string {
	_, port, _ := net.SplitHostPort(m.All[0].Address(0))
	lines := []string{"[databases]",
		fmt.Sprintf("postgres = host=127.0.0.1 port=%s dbname=postgres user=%s", port, secret.User),
		"[pgbouncer]", "listen_addr = 127.0.0.1", fmt.Sprintf("listen_port = %d", m.Ports[0]),
		"unix_socket_dir =", "auth_type = scram-sha-256", "auth_file = " + m.File(usersFile),
		"pool_mode = " + m.Values["pooler"], "max_client_conn = 512", "default_pool_size = 64"}
	return strings.Join(lines, "\n") + "\n"
}
