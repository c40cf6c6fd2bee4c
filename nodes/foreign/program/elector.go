package program

import (
	"context"
	"io"
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
	return serve(in, out, declaration, func(ctx context.Context, c *Conn) (server, error) {
		s := &electorServer{conn: c}
		var err error
		if len(c.Setting.Options.Servers) > 0 {
			s.elector, err = open(ctx, c.Setting)
		}
		return s, err
	})
}

// An electorServer speaks for one elector; nil: no servers were named.
type electorServer struct {
	conn    *Conn
	elector Elector
}

// take refuses all: an elector starts elections itself.
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
