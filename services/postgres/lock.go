package postgres

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// A lock is one node's client of the service.
type lock struct {
	session
	key    int64  // key of the advisory lock
	fences string // quoted name of the sequence of fence numbers
	watch  *watch // nil: the lock is not held, or its connection is not watched
}

// open creates the client of a node.
func open(ctx context.Context, s program.Init, v service.Values) (*lock, error) {
	name := s.Options.Prefix + "lock"
	h := fnv.New64a()
	h.Write([]byte(name))
	l := &lock{key: int64(h.Sum64()), fences: pgx.Identifier{name}.Sanitize()}
	makes := ""
	if v.On("fence") {
		makes = sequence(l.fences)
	}
	return l, l.open(ctx, s, v, makes)
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

// fence returns the next number of the sequence.
func (l *lock) fence(ctx context.Context) (n uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.values.Duration("timeout"))
	defer cancel()
	err = l.conn.QueryRow(ctx, "select "+next(l.fences)).Scan(&n)
	return n, l.unmade(err)
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
	return l.session.Close()
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
