package program

import (
	"context"
	"errors"
	"io"
	"sync"
)

// A server answers the testbed for one client of a service.
type server interface {
	// work runs until the context ends.
	work(ctx context.Context)
	// take takes a line of the testbed, while work runs.
	take(l Line)
}

// serve opens a server, answers init, and gives the server each line until in ends. If open returns an error,
// that is the answer to init.
func serve(in io.Reader, out io.Writer, declaration any,
	open func(context.Context, *Conn) (server, error)) error {
	c, init, err := hear(in, out)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := open(ctx, c)
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
