package postgres

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// A nodeClock reads the clock of a node, which faults set. It is between a client and its node: beside the
// lines of the client, it exchanges lines of its own.
type nodeClock struct {
	in    *bufio.Reader
	rest  []byte // of a line for the client
	read  chan reading
	asked uint64

	mu  sync.Mutex // is held while out is written
	out io.Writer
}

// A reading is the answer to a line that asked for the time.
type reading struct {
	To uint64  `json:"in_reply_to"`
	MS float64 `json:"ms"` // since 1970
}

func newNodeClock(in io.Reader, out io.Writer) *nodeClock {
	return &nodeClock{in: bufio.NewReader(in), out: out, read: make(chan reading, 1)}
}

// Read implements io.Reader: it reads the lines for the client.
func (c *nodeClock) Read(b []byte) (int, error) {
	for len(c.rest) == 0 {
		line, err := c.in.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		if !bytes.HasPrefix(line, []byte(`{"src":"timer"`)) {
			c.rest = line
			break
		}
		var l struct{ Body reading }
		if err := json.Unmarshal(line, &l); err != nil {
			return 0, err
		}
		c.read <- l.Body
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Write implements io.Writer. Each call writes whole lines.
func (c *nodeClock) Write(lines []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(lines)
}

// now returns the time by the clock of the node with a name. One goroutine at a time may call it.
func (c *nodeClock) now(ctx context.Context, node string) (time.Time, error) {
	c.asked++
	_, err := fmt.Fprintf(c, `{"src":%q,"dest":"timer","body":{"type":"read","msg_id":%d}}`+"\n", node, c.asked)
	for err == nil {
		select {
		case r := <-c.read:
			if r.To == c.asked {
				return time.UnixMicro(int64(math.Round(r.MS * 1000))), nil
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return time.Time{}, err
}
