package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"turnstile/bench/service"
	"turnstile/internal/secret"
	"turnstile/nodes/foreign/program"
)

// A lock is one node's client of the service.
type lock struct {
	config *pgx.ConnConfig
	values service.Values
	key    int64  // key of the advisory lock
	fences string // quoted name of the sequence of fence numbers
	made   bool   // whether the sequence was created
	conn   *pgx.Conn
	watch  *watch // nil: the lock is not held, or its connection is not watched
}

// open creates the client of a node. It connects to the server, unless the node is restarted: then the server
// may be out of reach for a while.
func open(ctx context.Context, s program.Init, v service.Values) (*lock, error) {
	config, err := configOf(s, v)
	if err != nil {
		return nil, err
	}
	name := s.Options.Prefix + "lock"
	h := fnv.New64a()
	h.Write([]byte(name))
	l := &lock{config: config, values: v, key: int64(h.Sum64()), fences: pgx.Identifier{name}.Sanitize()}
	if s.Options.Incarnation == 0 {
		err = l.reach(ctx, s)
	}
	return l, err
}

// reach connects for the first time. The error names the servers, on one line.
func (l *lock) reach(ctx context.Context, s program.Init) error {
	at := strings.Join(s.Options.Servers, ", ")
	if err := l.connect(ctx); err != nil {
		return fmt.Errorf("%s does not answer as PostgreSQL does to the user %s %s: %s", at, secret.User,
			s.Secret.With(), strings.Join(strings.Fields(err.Error()), " "))
	}
	version, major, minor := l.conn.PgConn().ParameterStatus("server_version"), 0, 0
	fmt.Sscanf(version, "%d.%d", &major, &minor) // "16beta1" has no minor version
	if major < 9 || major == 9 && minor < leastOf9 {
		return fmt.Errorf("the server at %s is of version %s: take one of 9.%d or later", at, version, leastOf9)
	}
	return nil
}

// leastOf9 is the first minor version of version 9 with all that clients need: "create sequence if not
// exists".
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
	config.ConnectTimeout = v.Duration("timeout")
	if v["pooler"] != off {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	return config, nil
}

// Acquire implements program.Lock.
func (l *lock) Acquire(ctx context.Context) (g program.Grant, err error) {
	if err := l.connect(ctx); err != nil {
		return g, serious(err)
	}
	waits, cancel := context.WithTimeout(ctx, l.values.Duration("wait"))
	_, err = l.conn.Exec(waits, "select pg_advisory_lock($1)", l.key)
	late := waits.Err() != nil
	cancel()
	switch {
	case err != nil && ctx.Err() == nil && late:
		return g, program.ErrRefused
	case err != nil:
		return g, serious(err)
	}
	if l.values.On("fence") {
		if g.Fence, err = l.fence(ctx); err != nil {
			l.fail(ctx)
			return g, err
		}
	}
	if how := l.values["watch"]; how != off {
		l.watch = startWatch(l.conn, how == "ping", l.values.Duration("every"))
		g.Lost = l.watch.lost
	}
	return g, nil
}

// connect connects, unless the connection is open.
func (l *lock) connect(ctx context.Context) (err error) {
	if l.conn != nil && !l.conn.IsClosed() {
		return l.ready(ctx)
	}
	if l.conn, err = pgx.ConnectConfig(ctx, l.config); err != nil {
		return err
	}
	return l.ready(ctx)
}

// ready makes the sequence of fence numbers if it is needed.
func (l *lock) ready(ctx context.Context) error {
	if l.values.On("fence") && !l.made {
		return l.make(ctx)
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
)

// fence returns the next number of the sequence.
func (l *lock) fence(ctx context.Context) (n uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.values.Duration("timeout"))
	defer cancel()
	err = l.conn.QueryRow(ctx, fmt.Sprintf("select nextval('%s')", strings.ReplaceAll(l.fences, "'",
		"''"))).Scan(&n)
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == undefinedTable { // the server has lost the sequence
		l.made = false
	}
	return n, err
}

// make creates the sequence. Other clients may try at the same time; one of them succeeds.
func (l *lock) make(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.values.Duration("timeout"))
	defer cancel()
	_, err := l.conn.Exec(ctx, "create sequence if not exists "+l.fences)
	var said *pgconn.PgError
	if errors.As(err, &said) && (said.Code == uniqueViolation || said.Code == duplicateTable) {
		err = nil
	}
	if err != nil {
		l.drop(ctx)
		return err
	}
	l.made = true
	return nil
}

// drop closes the connection.
func (l *lock) drop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	l.conn.Close(ctx)
}

// fail closes the connection after a query that failed, unless the option failed is kept. That releases the
// lock.
func (l *lock) fail(ctx context.Context) {
	if !l.values.Keeps() {
		l.drop(ctx)
	}
}

// Release implements program.Lock.
func (l *lock) Release(ctx context.Context) error {
	if l.watch != nil {
		l.watch.end()
		l.watch = nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.values.Duration("timeout"))
	defer cancel()
	freed := false
	err := l.conn.QueryRow(ctx, "select pg_advisory_unlock($1)", l.key).Scan(&freed)
	switch {
	case err != nil:
		l.fail(ctx)
		return errors.Join(program.ErrLost, err)
	case !freed:
		return program.ErrLost
	}
	return nil
}

// Close implements program.Lock.
func (l *lock) Close() error {
	if l.watch != nil {
		l.watch.end()
	}
	if l.conn != nil && !l.conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return l.conn.Close(ctx)
	}
	return nil
}

// A watch checks whether a connection is alive while the connection is not used for anything else.
type watch struct {
	lost   chan struct{} // closed when the connection is lost
	cancel context.CancelFunc
	done   chan struct{}
}

func startWatch(c *pgx.Conn, pings bool, every time.Duration) *watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{lost: make(chan struct{}), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			if err := look(ctx, c, pings, every); err != nil && ctx.Err() == nil {
				close(w.lost)
				return
			}
		}
	}()
	return w
}

// look waits for the end of the connection. If pings is set, it waits only for the time every, and then sends
// a ping. It returns the error of the connection, or of the context.
func look(ctx context.Context, c *pgx.Conn, pings bool, every time.Duration) error {
	if !pings {
		return c.PgConn().WaitForNotification(ctx)
	}
	idle, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	if err := c.PgConn().WaitForNotification(idle); err != nil && c.IsClosed() {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// A running ping must not be cancelled when the watch ends: that would close the connection.
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), every)
	defer stop()
	return c.Ping(limited)
}

// end ends the watch. It returns when the connection can be used for something else.
func (w *watch) end() {
	w.cancel()
	<-w.done
}
