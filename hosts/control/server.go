package control

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// A Server receives the requests to a run. While it is open, requests wait until the run answers them; while
// it is closed, they get a fixed reply at once. A nil server receives none.
type Server struct {
	listener *net.UnixListener
	path     string

	waits   atomic.Bool // a request waits for its reply
	mu      sync.Mutex
	open    bool
	closed  Reply // reply to all requests while the server is not open
	waiting []pending
	conns   map[*net.UnixConn]bool // open connections; nil: the run is over
	serving sync.WaitGroup
}

// A pending is a request that waits for its reply.
type pending struct {
	Request
	reply chan Reply // has room for one reply
}

// NewServer creates the socket in the folder of a run, for this user only, and serves it. The server starts
// in the closed state: every request gets the given reply.
func NewServer(folder string, closed Reply) (*Server, error) {
	short, done, err := shorten(folder)
	if err != nil {
		return nil, err
	}
	defer done()
	// The socket gets its final name only once its permissions are set.
	made := filepath.Join(short, "."+SocketFile)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	d := &Server{listener: l, path: filepath.Join(folder, SocketFile), closed: closed,
		conns: map[*net.UnixConn]bool{}}
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, filepath.Join(short, SocketFile))
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(made))
	}
	d.serving.Add(1)
	go d.accept()
	return d, nil
}

func (d *Server) accept() {
	defer d.serving.Done()
	for {
		conn, err := d.listener.AcceptUnix()
		if err != nil {
			return // the listener is closed
		}
		d.mu.Lock()
		over := d.conns == nil
		if over {
			conn.Close()
		} else {
			d.conns[conn] = true
			d.serving.Add(1)
			go d.serve(conn)
		}
		d.mu.Unlock()
	}
}

// serve answers the requests on a connection, until it ends.
func (d *Server) serve(conn *net.UnixConn) {
	defer d.serving.Done()
	defer func() {
		d.mu.Lock()
		delete(d.conns, conn)
		d.mu.Unlock()
		conn.Close()
	}()
	for lines, out := scanner(conn), json.NewEncoder(conn); lines.Scan(); {
		var r Request
		reply := Reply{Wrong: true}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			reply.Refused = "the request cannot be read: " + err.Error()
		} else {
			reply = d.ask(r)
		}
		if out.Encode(reply) != nil {
			return
		}
	}
}

// ask waits for the reply to a request.
func (d *Server) ask(r Request) Reply {
	d.mu.Lock()
	if !d.open {
		defer d.mu.Unlock()
		return d.closed
	}
	v := pending{r, make(chan Reply, 1)}
	d.waiting = append(d.waiting, v)
	d.waits.Store(true)
	d.mu.Unlock()
	return <-v.reply
}

// Open opens the server: requests wait until they are answered.
func (d *Server) Open() {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.open = true
	d.mu.Unlock()
}

// Close closes the server: waiting and later requests get the reply r.
func (d *Server) Close(r Reply) {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.open, d.closed = false, r
	for _, v := range d.waiting {
		v.reply <- r
	}
	d.waiting = nil
	d.waits.Store(false)
	d.mu.Unlock()
}

// Answer calls do for each waiting request and sends the reply, until do returns an error. It is cheap if no
// request waits.
func (d *Server) Answer(do func(*Request) (Reply, error)) error {
	for d != nil && d.waits.Load() {
		d.mu.Lock()
		next := d.waiting[0]
		d.waiting = d.waiting[1:]
		d.waits.Store(len(d.waiting) > 0)
		d.mu.Unlock()
		reply, err := do(&next.Request)
		next.reply <- reply
		if err != nil {
			return err
		}
	}
	return nil
}

// End closes the server with a reply, removes the socket, and returns when all connections have ended.
func (d *Server) End(r Reply) error {
	if d == nil {
		return nil
	}
	err := errors.Join(os.Remove(d.path), d.listener.Close())
	d.Close(r)
	d.mu.Lock()
	for conn := range d.conns {
		conn.CloseRead() // waiting clients still get their reply, if they read it
		conn.SetWriteDeadline(time.Now().Add(time.Second))
	}
	d.conns = nil
	d.mu.Unlock()
	d.serving.Wait()
	return err
}
