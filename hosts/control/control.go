// Package control is the way into a run that is on: a Unix socket in the folder of the run, by which other
// processes of the same user ask the run to inject faults, to heal them, or what has become of them. Requests
// and replies are JSON, one on a line, and each request is answered before the next is read.
//
// A run that has been killed leaves its socket behind, which nobody serves (see ErrGone).
package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"turnstile/chaos"
)

// SocketFile is the name of the socket in the folder of a run.
const SocketFile = "control.sock"

// What a request asks for.
const (
	Inject = "inject" // all of its faults, or none
	Heal   = "heal"   // one fault, before its time
	List   = "list"   // nothing but the reply
)

// A Request is what a process asks of a run.
type Request struct {
	Do     string        `json:"do"`
	Faults []chaos.Fault `json:"faults,omitempty"` // Inject: as in a plan, but their times count from now
	Number int           `json:"number,omitempty"` // Heal: of the fault
}

// A Reply says what became of a request.
type Reply struct {
	Trial   int              `json:"trial,omitempty"`   // that is on, or was last; 0: none yet
	Faults  []chaos.Progress `json:"faults,omitempty"`  // of the trial
	Numbers []int            `json:"numbers,omitempty"` // Inject: of the faults that were injected
	Refused string           `json:"refused,omitempty"` // why nothing was done; empty: it was
	// Later says that the same request may be carried out soon, and Wrong that it never will in this run.
	Later bool `json:"later,omitempty"`
	Wrong bool `json:"wrong,omitempty"`
}

var (
	// ErrNone says that a run has no socket: it is over, or its folder is in a file system without sockets.
	ErrNone = errors.New("it has no socket")
	// ErrGone says that nobody serves the socket of a run: it was killed.
	ErrGone = errors.New("nobody serves its socket")
)

// longest is how many bytes a request or a reply may have.
const longest = 4 << 20

// A Client asks a run.
type Client struct {
	conn  *net.UnixConn
	lines *bufio.Scanner
}

// Dial connects to the run in a folder. The error is ErrNone or ErrGone if there is nobody to ask.
func Dial(folder string) (*Client, error) {
	short, done, err := shorten(folder)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(short, SocketFile), Net: "unix"})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNone
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrGone
	case err != nil:
		return nil, err
	}
	return &Client{conn, scanner(conn)}, nil
}

// Ask asks the run, and waits for its reply.
func (c *Client) Ask(ctx context.Context, r Request) (Reply, error) {
	stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var reply Reply
	err := json.NewEncoder(c.conn).Encode(r)
	if err == nil && !c.lines.Scan() {
		err = errors.Join(ErrGone, c.lines.Err())
	}
	if err == nil {
		err = json.Unmarshal(c.lines.Bytes(), &reply)
	}
	switch {
	case ctx.Err() != nil:
		return Reply{}, ctx.Err()
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return Reply{}, ErrGone
	}
	return reply, err
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

func scanner(conn *net.UnixConn) *bufio.Scanner {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, longest)
	return lines
}

// shorten returns another path of a folder, which holds until done is called. A socket's path has 108 bytes
// at most, and that of a folder may be longer.
func shorten(folder string) (short string, done func(), err error) {
	if runtime.GOOS != "linux" {
		return folder, func() {}, nil
	}
	dir, err := os.Open(folder)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), func() { dir.Close() }, nil
}
