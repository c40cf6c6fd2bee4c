package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"turnstile/bench/service"
	"turnstile/internal/secret"
	"turnstile/nodes/foreign/program"
)

// A session is the connection of one node's client. It is made anew once it is closed.
type session struct {
	config *pgx.ConnConfig
	values service.Values
	makes  string // statements that make what the client needs; empty: it needs nothing
	made   bool   // it was made
	conn   *pgx.Conn
	within time.Duration // how long it may take to make what the client needs
}

// firstLimit is the least time that the first connection may take: the faults of a run begin later.
const firstLimit = 5 * time.Second

// open connects to the server, unless the node is restarted: then the server may be out of reach for a while.
func (c *session) open(ctx context.Context, s program.Init, v service.Values, makes string) (err error) {
	c.values, c.makes = v, makes
	if c.config, err = configOf(s, v); err != nil {
		return err
	}
	timeout := v.Duration("timeout")
	if s.Options.Incarnation == 0 {
		c.allow(max(timeout, firstLimit))
		err = c.reach(ctx, s)
	}
	c.allow(timeout)
	return err
}

// allow sets how long it may take to connect, and to make what the client needs.
func (c *session) allow(limit time.Duration) { c.config.ConnectTimeout, c.within = limit, limit }

// reach connects for the first time. The error names the servers, on one line.
func (c *session) reach(ctx context.Context, s program.Init) error {
	at := strings.Join(s.Options.Servers, ", ")
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("%s does not answer as PostgreSQL does to the user %s %s: %s", at, secret.User,
			s.Secret.With(), strings.Join(strings.Fields(err.Error()), " "))
	}
	version, major, minor := c.conn.PgConn().ParameterStatus("server_version"), 0, 0
	fmt.Sscanf(version, "%d.%d", &major, &minor) // "16beta1" has no minor version
	if major < 9 || major == 9 && minor < leastOf9 {
		return fmt.Errorf("the server at %s is of version %s: take one of 9.%d or later", at, version, leastOf9)
	}
	return nil
}

// leastOf9 is the first minor version of version 9 with all that clients need: "create sequence if not
// exists" and "on conflict".
const leastOf9 = 5

// configOf returns how a client connects: with a standby, to the server that takes writes; with PgBouncer, to
// PgBouncer, which is the last server, and which does not keep prepared statements.
func configOf(s program.Init, v service.Values) (*pgx.ConnConfig, error) {
	servers := s.Options.Servers
	at := servers[0]
	if v.On("standby") {
		at = strings.Join(servers, ",")
	} else if v["pooler"] != off {
		at = servers[len(servers)-1]
	}
	text := address(at, s.Secret.Password)
	if v.On("standby") {
		text += "&target_session_attrs=read-write"
	}
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = s.Name // for expire
	if v["pooler"] != off {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	return config, nil
}

// connect connects, unless the connection is open, and makes what the client needs.
func (c *session) connect(ctx context.Context) (err error) {
	if c.conn == nil || c.conn.IsClosed() {
		if c.conn, err = pgx.ConnectConfig(ctx, c.config); err != nil {
			return err
		}
	}
	if c.makes != "" && !c.made {
		return c.make(ctx)
	}
	return nil
}

// serious makes an error end the program if the error would occur again. Codes that begin with 28 are for
// clients that are not authorized.
func serious(err error) error {
	var said *pgconn.PgError
	if errors.As(err, &said) && (strings.HasPrefix(said.Code, "28") || said.Code == undefinedFunction) {
		return program.Fatal{Err: err}
	}
	return err
}

// Codes of errors.
const (
	undefinedTable    = "42P01"
	undefinedFunction = "42883"
	uniqueViolation   = "23505"
	duplicateTable    = "42P07"
	duplicateObject   = "42710"
)

// sequence returns the statement that makes a sequence, and next the expression for its next number.
func sequence(name string) string { return "create sequence if not exists " + name }

func next(name string) string {
	return fmt.Sprintf("nextval('%s')", strings.ReplaceAll(name, "'", "''"))
}

// make makes what the client needs. Other clients may try at the same time; one of them succeeds.
func (c *session) make(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	_, err := c.conn.Exec(ctx, c.makes)
	var said *pgconn.PgError
	if errors.As(err, &said) && slices.Contains([]string{uniqueViolation, duplicateTable, duplicateObject},
		said.Code) {
		err = nil
	}
	if err != nil {
		c.drop(ctx)
		return err
	}
	c.made = true
	return nil
}

// unmade has the client make again what it needs if an error says that the server has lost it.
func (c *session) unmade(err error) error {
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == undefinedTable {
		c.made = false
	}
	return err
}

// drop closes the connection.
func (c *session) drop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c.conn.Close(ctx)
}

// Close implements program.Lock.
func (c *session) Close() error {
	if c.conn != nil && !c.conn.IsClosed() {
		c.drop(context.Background())
	}
	return nil
}
