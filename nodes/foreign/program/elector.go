package program

import (
	"context"
	"errors"
	"io"
	"sync"
)

// An Elector is a client of an election service: that of one node. It stands for election all the time.
type Elector interface {
	// Run stands for election until the context ends, and reports whom the node follows each time that this
	// changes: the name of a node, as in n0, and the term, which rises with each leader; the empty name if it
	// follows nobody. An error ends the program, and so the run.
	Run(ctx context.Context, follow func(leader string, term uint64)) error
	Close() error
}

// ServeElector speaks for an elector until in ends. Open is called with the setting of init, if that names
// servers, and init is answered once it has returned: by its error, if there is one.
func ServeElector(in io.Reader, out io.Writer, declaration any,
	open func(context.Context, Setting) (Elector, error)) error {
	c, init, err := hear(in, out)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var e Elector
	if len(c.Setting.Options.Servers) > 0 {
		if e, err = open(ctx, c.Setting); err != nil {
			c.Answer(init, "error", map[string]any{"code": Crash, "text": err.Error()})
			return err
		}
	}
	if err := c.accept(init, declaration); err != nil {
		return err
	}
	var all sync.WaitGroup
	if e != nil {
		all.Go(func() { c.elect(ctx, e) })
	}
	for {
		l, err := c.Read()
		if err != nil {
			cancel()
			all.Wait()
			if errors.Is(err, io.EOF) {
				err = c.Err()
			}
			return err
		}
		// It starts elections itself.
		c.Answer(l, "error", map[string]any{"code": Unsupported, "text": "elections start by themselves"})
	}
}

// elect runs an elector.
func (c *Conn) elect(ctx context.Context, e Elector) {
	defer e.Close()
	err := e.Run(ctx, func(leader string, term uint64) {
		body := map[string]any{"type": "elected", "leader": nil, "term": term}
		if leader != "" {
			body["leader"] = leader
		}
		c.Say(Client, body)
	})
	if err != nil && ctx.Err() == nil {
		c.Say(Client, map[string]any{"type": "error", "code": Crash, "text": err.Error()})
	}
}
