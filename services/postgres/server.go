package postgres

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"turnstile/bench/service"
	"turnstile/internal/secret"
)

// servers defines how PostgreSQL is started.
var servers = service.Servers{Count: count, Ports: 1, InTurn: true,
	Program: "postgres", Package: "postgresql-15",
	Folders:     []string{"/usr/lib/postgresql/*/bin"},
	VersionArgs: []string{"--version"}, Version: regexp.MustCompile(`\(PostgreSQL\) (\d\S*)`),
	Needs:   func(program string) []string { return []string{beside(program, "initdb")} },
	Prepare: prepare, Command: command, Ready: ready, Leader: service.First(primary), Promote: promote,
	Settings: []service.Setting{
		{Name: "fsync=off with durable=off", Default: "on, as with durable=on", Why: "to tell what the disk costs"},
		{Name: "scram-sha-256 for all connections, with a password", Default: "trust, by initdb",
			Why: service.Strangers},
		{Name: "max_connections=256", Default: "100", Why: "each client has one"}},
	Stop: syscall.SIGINT, // makes the server end connections; SIGTERM would make it wait for clients
	Of: func(v service.Values, number int) *service.Servers {
		if number == 1 && v["pooler"] != off {
			return &pooler
		}
		return nil
	},
}

// count returns the number of servers: one, plus a standby or a pooler.
func count(v service.Values) int {
	if v.On("standby") || v["pooler"] != off {
		return 2
	}
	return 1
}

// askLimit is how long a server may take to answer a request about its state.
const askLimit = time.Second

// beside returns the path of another program in the folder of the server's program.
func beside(program, name string) string {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return filepath.Join(filepath.Dir(program), name)
}

// address returns the connection string for servers, host:port separated by commas. The password may be
// empty.
func address(at, password string) string {
	user := strings.TrimSuffix(secret.User+":"+password, ":")
	return "postgres://" + user + "@" + at + "/postgres?sslmode=disable"
}

// data returns the folder of the database.
func data(m *service.Member) string { return m.File("data") }

func command(m *service.Member) (args, env []string) {
	settings := []string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=256"}
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
	args = []string{"-D", data(m), "-p", fmt.Sprint(m.Ports[0])}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args, []string{"LC_ALL=C"}
}
