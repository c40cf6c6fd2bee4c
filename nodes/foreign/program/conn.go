// Package program is for foreign programs in Go: processes that exchange lines of JSON with the testbed, as
// docs/foreign.md describes. A client of a lock or election service implements [Lock] or [Elector] and calls
// [ServeLock] or [ServeElector]; any other program reads and writes lines by a [Conn].
package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"turnstile/internal/plainjson"
	"turnstile/internal/secret"
)

// The testbed and its services, as Src and Dest of a [Line] name them.
const (
	Client = "c0"
	Timer  = "timer"
	Disk   = "disk"
)

// Error codes of bodies of the type error.
const (
	Unknown     = 0    // it is unknown whether the request was carried out
	Unsupported = 10   // the program does not support the request
	Unavailable = 11   // not now: the testbed will try again
	Crash       = 13   // the program cannot go on
	LockLost    = 1000 // the answer to a release: the lock was lost earlier
	GaveUp      = 1001 // the answer to a cancelled request: the client has given up
)

// A Line is a line to the program.
type Line struct {
	Src  string          `json:"src"`
	Dest string          `json:"dest"`
	Body json.RawMessage `json:"body"`
	Head `json:"-"`
}

// A Head has the common fields of bodies.
type Head struct {
	Type      string          `json:"type"`
	MsgID     uint64          `json:"msg_id"`
	InReplyTo uint64          `json:"in_reply_to"`
	ID        json.RawMessage `json:"id"` // the id of a timer
}

// An Init is the content of init: which node the program is, and its options.
type Init struct {
	Name    string   `json:"node_id"` // n0 for the first node
	Names   []string `json:"node_ids"`
	Seed    uint64   `json:"seed"`
	Options Options  `json:"options"`
	// Secret is the content of the folder Options.Secrets.
	Secret secret.Secret `json:"-"`
}

// Options are the options in init.
type Options struct {
	Incarnation uint32 `json:"incarnation"` // how often the node has restarted
	// Servers are the addresses of the servers of the run's service, as this node reaches them: host:port.
	Servers []string `json:"servers"`
	// Prefix begins all names that the program creates in a service.
	Prefix string `json:"prefix"`
	// Secrets is the folder with what the servers demand of their clients; empty: they demand nothing.
	Secrets string `json:"secrets"`
}

// A Conn is the program's connection to the testbed. Its methods except Read may be called by any goroutine.
type Conn struct {
	Init    Init
	in      *bufio.Scanner
	mu      sync.Mutex
	out     io.Writer
	written error
}

// longest is how many bytes a line may have.
const longest = 1 << 20

// Open reads init, answers it, and sends the declaration unless that is nil. Encoded as JSON, the declaration
// must have the form in docs/foreign.md.
func Open(in io.Reader, out io.Writer, declaration any) (*Conn, error) {
	c, init, err := hear(in, out)
	if err != nil {
		return nil, err
	}
	return c, c.accept(init, declaration)
}

// hear reads init.
func hear(in io.Reader, out io.Writer) (*Conn, Line, error) {
	c := &Conn{in: bufio.NewScanner(in), out: out}
	c.in.Buffer(nil, longest)
	l, err := c.Read()
	if err != nil {
		return nil, l, fmt.Errorf("reading init: %w", err)
	}
	if l.Type != "init" {
		return nil, l, fmt.Errorf("the first line is %q: it has to be init", l.Type)
	}
	if err := json.Unmarshal(l.Body, &c.Init); err != nil {
		return nil, l, fmt.Errorf("reading init: %w", err)
	}
	return c, l, nil
}

// accept answers init, and sends the declaration unless that is nil.
func (c *Conn) accept(init Line, declaration any) error {
	c.Answer(init, "init_ok", nil)
	if declaration == nil {
		return c.Err()
	}
	b, err := json.Marshal(declaration)
	if err != nil {
		return err
	}
	body := map[string]any{}
	if err := json.Unmarshal(b, &body); err != nil {
		return err
	}
	body["type"] = "declare"
	c.Say(Client, body)
	return c.Err()
}

// Read returns the next line, or io.EOF at the end of the input: then the program must end.
func (c *Conn) Read() (l Line, err error) {
	if !c.in.Scan() {
		return l, errors.Join(c.in.Err(), io.EOF)
	}
	if l, is := plain(c.in.Bytes()); is {
		return l, nil
	}
	if err := json.Unmarshal(c.in.Bytes(), &l); err != nil {
		return l, fmt.Errorf("reading %q: %w", c.in.Text(), err)
	}
	return l, json.Unmarshal(l.Body, &l.Head)
}

// plain reads a line of the testbed with only a type and a msg_id. It reports whether the line has this form.
func plain(text []byte) (l Line, is bool) {
	s := plainjson.Scan{Text: text}
	read := s.Object(func(key string) bool {
		switch key {
		case "src":
			l.Src = string(s.Word())
		case "dest":
			l.Dest = string(s.Word())
		case "body":
			from := s.At
			l.Head = Head{}
			if !s.Object(func(key string) bool { return l.head(&s, key) }) {
				return false
			}
			l.Body = bytes.Clone(text[from:s.At])
		default:
			return false
		}
		return !s.Failed
	})
	return l, read && s.At == len(text) && l.Body != nil
}

// head reads the value of a key of a body.
func (l *Line) head(s *plainjson.Scan, key string) bool {
	switch key {
	case "type":
		l.Type = string(s.Word())
	case "msg_id":
		l.MsgID = s.Number()
	default:
		return false
	}
	return !s.Failed
}

// Say writes a line to the testbed, a service or a node. Err returns the first error.
func (c *Conn) Say(dest string, body map[string]any) {
	c.write(json.Marshal(map[string]any{"src": c.Init.Name, "dest": dest, "body": body}))
}

// entered says that a request of the testbed is granted.
func (c *Conn) entered(to Line, fence uint64) {
	b := append(c.answer("entered", to), `,"fence":`...)
	c.write(append(strconv.AppendUint(b, fence, 10), "}}"...), nil)
}

// released says that the lock is released.
func (c *Conn) released(to Line) { c.write(append(c.answer("release_ok", to), "}}"...), nil) }

// answer begins an answer to the testbed. The most frequent answers are made without encoding/json.
func (c *Conn) answer(typ string, to Line) []byte {
	b := append([]byte(`{"src":"`), c.Init.Name...)
	b = append(append(b, `","dest":"`+Client+`","body":{"type":"`...), typ...)
	return strconv.AppendUint(append(b, `","in_reply_to":`...), to.MsgID, 10)
}

// write writes a line, unless encoding it failed with err.
func (c *Conn) write(line []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		_, err = c.out.Write(append(line, '\n'))
	}
	if c.written == nil {
		c.written = err
	}
}

// Answer answers a line. The body of the answer has the type typ, and the further keys in more.
func (c *Conn) Answer(to Line, typ string, more map[string]any) {
	body := map[string]any{"type": typ, "in_reply_to": to.MsgID}
	for key, value := range more {
		body[key] = value
	}
	c.Say(to.Src, body)
}

// Err returns the first error of writing a line.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// A server answers the testbed for one client of a service.
type server interface {
	// work runs until the context ends.
	work(ctx context.Context)
	// take handles a line of the testbed, while work runs.
	take(l Line)
}

// serve opens a server, answers init, and gives the server each line until in ends. If open fails, its
// error is the answer to init.
func serve(in io.Reader, out io.Writer, declaration any,
	open func(context.Context, *Conn) (server, error)) error {
	c, init, err := hear(in, out)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.Init.Secret, err = secret.Read(c.Init.Options.Secrets)
	var s server
	if err == nil {
		s, err = open(ctx, c)
	}
	if err != nil {
		c.refuse(init, Crash, err.Error())
		return err
	}
	if err := c.accept(init, declaration); err != nil {
		return err
	}
	var work sync.WaitGroup
	work.Go(func() { s.work(ctx) })
	for {
		l, err := c.Read()
		if err != nil {
			cancel()
			work.Wait()
			if errors.Is(err, io.EOF) {
				err = c.Err()
			}
			return err
		}
		s.take(l)
	}
}

// refuse answers a line with an error.
func (c *Conn) refuse(l Line, code int, text string) {
	c.Answer(l, "error", map[string]any{"code": code, "text": text})
}

// SetTimer makes a line of type timer with this id come after a time drawn from least to most. It replaces a
// running timer with the same id.
func (c *Conn) SetTimer(id string, least, most time.Duration) {
	c.Say(Timer, map[string]any{"type": "set", "id": id, "min_ms": milliseconds(least),
		"max_ms": milliseconds(most)})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Store keeps a value, encoded as JSON, under a key. It is durable before later messages are sent, and
// survives a kill.
func (c *Conn) Store(key string, value any) {
	c.Say(Disk, map[string]any{"type": "write", "key": key, "value": value})
}

// Load asks for the value of a key. The answer is a line from [Disk] of the type read_ok with the value in
// its body, or of the type error without one. It comes once the run has begun.
func (c *Conn) Load(key string) {
	c.Say(Disk, map[string]any{"type": "read", "key": key, "msg_id": 1})
}
