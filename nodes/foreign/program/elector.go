package program

import (
	"context"
	"io"
)

// An Elector is a client of an election service, at one node. It stands for election all the time.
type Elector interface {
	// Run stands for election until the context ends, and calls follow each time that the node's leader
	// changes: with the name of a node, as in n0, or an empty name, and the term, which rises with each
	// leader. An error ends the program, and so the run.
	Run(ctx context.Context, follow func(leader string, term uint64)) error
	Close() error
}

// ServeElector runs an elector until in ends. If init names servers, it calls open with the setting of init.
// It then answers init, with the error of open if there is one.
func ServeElector(in io.Reader, out io.Writer, declaration any,
	open func(context.Context, Init) (Elector, error)) error {
	return serve(in, out, declaration, func(ctx context.Context, c *Conn) (server, error) {
		s := &electorServer{conn: c}
		var err error
		if len(c.Init.Options.Servers) > 0 {
			s.elector, err = open(ctx, c.Init)
		}
		return s, err
	})
}

// An electorServer serves one elector.
type electorServer struct {
	conn    *Conn
	elector Elector // nil: init named no servers
}

// take refuses all lines: an elector starts elections itself.
func (s *electorServer) take(l Line) {
	s.conn.refuse(l, Unsupported, "elections start by themselves")
}

// work runs the elector.
func (s *electorServer) work(ctx context.Context) {
	if s.elector == nil {
		return
	}
	defer s.elector.Close()
	err := s.elector.Run(ctx, func(leader string, term uint64) {
		body := map[string]any{"type": "elected", "leader": nil, "term": term}
		if leader != "" {
			body["leader"] = leader
		}
		s.conn.Say(Client, body)
	})
	if err != nil && ctx.Err() == nil {
		s.conn.Say(Client, map[string]any{"type": "error", "code": Crash, "text": err.Error()})
	}
}
