package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// A Lock is a client of a lock service, at one node.
type Lock interface {
	// Acquire waits until the client holds the lock. It returns [ErrRefused] if the service does not let
	// clients wait and the testbed should try again, and [Fatal] if the program cannot go on. After any other
	// error, which is written to the standard error, the testbed tries again too. The context ends when the
	// client gives up: Acquire then returns soon, and no place of the client stays in a queue of the service. It
	// may still return a grant.
	Acquire(ctx context.Context) (Grant, error)
	// Release releases the lock. It returns [ErrLost] if the lock was lost before. It is called after each
	// Acquire that returned a grant, also if its Lost was closed.
	Release(ctx context.Context) error
	// Close ends the client. It need not release the lock.
	Close() error
}

// A Grant is a granted lock.
type Grant struct {
	Fence uint64 // the fencing token; 0: the service has none
	// Lost is closed when the client library reports that the lock is lost; nil: it never does.
	Lost <-chan struct{}
}

var (
	// ErrRefused says that the lock was refused, and the testbed should try again.
	ErrRefused = errors.New("the lock was refused")
	// ErrLost says that the lock was lost before it was released.
	ErrLost = errors.New("the lock was lost before")
)

// A Fatal is an error that ends the program, and so the run.
type Fatal struct{ Err error }

func (f Fatal) Error() string { return f.Err.Error() }
func (f Fatal) Unwrap() error { return f.Err }

// ServeLock runs a lock until in ends. If init names servers, it calls open with the setting of init. It
// then answers init, with the error of open if there is one. If the client library reports that the lock is
// lost, the testbed is told, and the client leaves at once if obeys is set, and otherwise when it is done.
func ServeLock(in io.Reader, out io.Writer, declaration any, obeys bool,
	open func(context.Context, Init) (Lock, error)) error {
	return serve(in, out, declaration, func(ctx context.Context, c *Conn) (server, error) {
		s := &lockServer{conn: c, obeys: obeys, lines: make(chan order, 16),
			revoked: make(chan chan struct{}), failed: errors.New("no servers were named")}
		s.life, s.stop = context.WithCancel(ctx)
		if len(c.Init.Options.Servers) == 0 {
			return s, nil
		}
		s.lock, s.failed = open(s.life, c.Init)
		return s, s.failed
	})
}

// A lockServer serves one lock. One goroutine makes all calls, one after the other.
type lockServer struct {
	conn   *Conn
	lock   Lock
	obeys  bool
	life   context.Context // ends with the program, or departLimit after the client was told to leave
	stop   context.CancelFunc
	lines  chan order
	failed error // why the program cannot go on
	latest order // the latest request that was read

	held bool // Acquire has granted, and Release was not called yet
	// left is closed when the client of the latest grant has left.
	left chan struct{}
	// revoked carries the value of left for a lost grant whose client has to leave.
	revoked chan chan struct{}
}

// An order is a line of the testbed and, for a request, the context of its Acquire.
type order struct {
	Line
	ctx    context.Context
	cancel context.CancelFunc
}

// departLimit is how long a client that leaves tries to give up what it has, for example without a server.
// After that its session ends like that of a process that ends.
const departLimit = 5 * time.Second

// take passes on a request or release, and ends the Acquire of a cancelled request.
func (s *lockServer) take(l Line) {
	o := order{Line: l}
	switch l.Type {
	case "cancel", "leave":
		if s.latest.cancel != nil && (s.latest.MsgID == l.InReplyTo || l.Type == "leave") {
			s.latest.cancel()
		}
		if l.Type == "cancel" {
			return
		}
		time.AfterFunc(departLimit, s.stop)
	case "request":
		o.ctx, o.cancel = context.WithCancel(s.life)
		s.latest = o
	}
	s.lines <- o
}

// work serves the requests and releases of the testbed.
func (s *lockServer) work(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case o := <-s.lines:
			s.handle(ctx, o)
		case left := <-s.revoked:
			s.leave(ctx, left)
		}
	}
	if s.lock != nil {
		s.lock.Close()
	}
}

func (s *lockServer) handle(ctx context.Context, o order) {
	switch l := o.Line; {
	case l.Type == "leave":
		s.depart(l)
	case l.Type != "request" && l.Type != "release":
		s.conn.refuse(l, Unsupported, "this program grants a lock")
	case s.failed != nil:
		s.conn.refuse(l, Crash, fmt.Sprintf("it cannot use the service: %v", s.failed))
	case l.Type == "request":
		s.acquire(ctx, o)
	default:
		s.release(ctx, l)
	}
}

// depart gives up the lock and ends the client.
func (s *lockServer) depart(l Line) {
	if err := s.giveBack(s.life); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
	}
	if s.lock != nil {
		s.lock.Close()
	}
	s.lock, s.failed = nil, errors.New("it has left")
	s.conn.Answer(l, "leave_ok", nil)
}

// acquire acquires the lock for a request.
func (s *lockServer) acquire(ctx context.Context, o order) {
	s.giveBack(ctx) // a lost lock is still held if revoked has not been read yet
	l := o.Line
	g, err := s.lock.Acquire(o.ctx)
	gaveUp := o.ctx.Err() != nil
	o.cancel()
	var fatal Fatal
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return
	case errors.As(err, &fatal):
		s.failed = err
		s.conn.refuse(l, Crash, err.Error())
		return
	case gaveUp:
		s.conn.refuse(l, GaveUp, err.Error())
		return
	case errors.Is(err, ErrRefused):
		s.conn.refuse(l, Unavailable, err.Error())
		return
	default:
		fmt.Fprintln(os.Stderr, "acquire:", err)
		s.conn.refuse(l, Unknown, err.Error())
		return
	}
	s.held, s.left = true, make(chan struct{})
	s.conn.entered(l, g.Fence)
	if g.Lost != nil {
		go s.warn(ctx, l, g.Lost, s.left)
	}
}

// warn tells the testbed when the client library reports that the lock is lost.
func (s *lockServer) warn(ctx context.Context, l Line, lost <-chan struct{}, left chan struct{}) {
	select {
	case <-left:
		return
	case <-lost:
	}
	select {
	case <-left:
		return
	default:
		s.conn.Answer(l, "revoked", map[string]any{"stays": !s.obeys})
	}
	if !s.obeys {
		return
	}
	select {
	case <-left:
	case <-ctx.Done():
	case s.revoked <- left:
	}
}

// leave releases a lost lock after its client has left. The service may still hold the lock for that client,
// for instance after a reconnection, and then no other client could enter.
func (s *lockServer) leave(ctx context.Context, left chan struct{}) {
	if s.left != left {
		return
	}
	if err := s.giveBack(ctx); err != nil && !errors.Is(err, ErrLost) {
		fmt.Fprintln(os.Stderr, "release:", err)
	}
}

// release releases the lock, and answers. The next request comes after the answer.
func (s *lockServer) release(ctx context.Context, l Line) {
	if err := s.giveBack(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		s.conn.refuse(l, LockLost, err.Error())
		return
	}
	s.conn.released(l)
}

// giveBack releases the lock, if it is held.
func (s *lockServer) giveBack(ctx context.Context) error {
	if !s.held {
		return nil
	}
	s.held = false
	close(s.left)
	return s.lock.Release(ctx)
}
