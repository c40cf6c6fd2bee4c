// Package control lets other processes of the same user talk to a running run, over a Unix socket in its
// folder: they inject faults, heal them, or list them. Requests and replies are lines of JSON, and each
// request is answered before the next is read.
//
// A killed run leaves its socket behind, with nobody serving it (see ErrGone).
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

// Kinds of requests.
const (
	Inject = "inject" // inject all faults of the request, or no fault
	Heal   = "heal"   // heal one fault before its time
	List   = "list"   // only reply, with the faults of the trial
)

// A Request is a request to a run.
type Request struct {
	Do     string        `json:"do"`
	Faults []chaos.Fault `json:"faults,omitempty"` // for Inject: faults as in a plan, with times relative to now
	Number int           `json:"number,omitempty"` // for Heal: number of the fault
}

// A Reply is the answer to a request.
type Reply struct {
	Trial   int              `json:"trial,omitempty"`   // number of the current or last trial; 0: no trial yet
	Faults  []chaos.Progress `json:"faults,omitempty"`  // all faults of the trial
	Numbers []int            `json:"numbers,omitempty"` // for Inject: numbers of the injected faults
	Refused string           `json:"refused,omitempty"` // why nothing was done; empty: it was done
	// Later is set if the same request may succeed soon, and Wrong if it never will in this run.
	Later bool `json:"later,omitempty"`
	Wrong bool `json:"wrong,omitempty"`
}

var (
	// ErrNone is the error for a run without a socket: it is over, or its file system has no sockets.
	ErrNone = errors.New("it has no socket")
	// ErrGone is the error for a run whose socket nobody serves: it was killed.
	ErrGone = errors.New("nobody serves its socket")
)

// longest is the maximum size of a request or a reply, in bytes.
const longest = 4 << 20

// A Client sends requests to a run.
type Client struct {
	conn  *net.UnixConn
	lines *bufio.Scanner
}

// Dial connects to the run in a folder. It returns ErrNone or ErrGone if nobody serves it.
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

// Ask sends a request, and waits for the reply.
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

// shorten returns a short path of a folder, valid until done is called. The path of a socket is limited to
// 108 bytes, and that of a folder may be longer.
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
