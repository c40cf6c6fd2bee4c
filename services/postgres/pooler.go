package postgres

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"turnstile/bench/service"
)

// pooler defines how PgBouncer is started. Clients connect only to it, without a password.
var pooler = service.Servers{Program: "pgbouncer", Package: "pgbouncer", Folders: []string{"/usr/sbin"},
	VersionArgs: []string{"--version"}, Version: regexp.MustCompile(`PgBouncer (\d\S*)`),
	Prepare: func(_ context.Context, m *service.Member) error {
		return os.WriteFile(poolerFile(m), []byte(poolerSettings(m)), 0o600)
	},
	Command: func(m *service.Member) (args, env []string) {
		return []string{"--quiet", poolerFile(m)}, []string{"LC_ALL=C"}
	},
	Ready: func(ctx context.Context, m *service.Member) error {
		return ask(ctx, m, func(*pgx.Conn) error { return nil })
	},
	Stop: syscall.SIGTERM,
}

// poolerFile returns the path of the settings file of PgBouncer.
func poolerFile(m *service.Member) string { return filepath.Join(m.Dir, "pgbouncer.ini") }

// poolerSettings returns the settings of PgBouncer: the address of the server, and when a client gives its
// connection back.
func poolerSettings(m *service.Member) string {
	_, port, _ := net.SplitHostPort(m.All[0].Address(0))
	lines := []string{"[databases]",
		fmt.Sprintf("postgres = host=127.0.0.1 port=%s dbname=postgres user=%s", port, user),
		"[pgbouncer]", "listen_addr = 127.0.0.1", fmt.Sprintf("listen_port = %d", m.Ports[0]),
		"unix_socket_dir =", "auth_type = any", "pool_mode = " + m.Values["pooler"], "max_client_conn = 512",
		"default_pool_size = 64"}
	return strings.Join(lines, "\n") + "\n"
}
