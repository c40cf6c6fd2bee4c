package program

import (
	"context"
	"errors"
	"io"
)

// An Elector is a client of an election service, at one node. It stands for election all the time.
type Elector interface {
	// Run stands for election until the context ends, and calls follow each time that the node's leader
	// changes: with the name of a node, as in n0, or an empty name, and the term, which rises with each
	// leader. An error ends the program, and so the run. If the cause of the end of the context is [ErrLeaves],
	// Run first gives up leadership and candidacy, as its library has it.
	Run(ctx context.Context, follow func(leader string, term uint64)) error
	Close() error
}

// ErrLeaves is the cause that ends the context of Run if the client is to stop in order.
var ErrLeaves = errors.New("the client leaves")

// ServeElector runs an elector until in ends. If init names servers, it calls open with the setting of init.
// It then answers init, with the error of open if there is one.
func ServeElector(in io.Reader, out io.Writer, declaration any,
	open func(context.Context, Init) (Elector, error)) error {
	return serve(in, out, declaration, func(ctx context.Context, c *Conn) (server, error) {
		s := &electorServer{conn: c, ended: make(chan struct{})}
		s.stands, s.stop = context.WithCancelCause(ctx)
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
	stands  context.Context
	stop    context.CancelCauseFunc
	ended   chan struct{} // closed when the elector has ended
}

// take has the elector leave. It refuses all other lines: an elector starts elections itself.
func (s *electorServer) take(l Line) {
	if l.Type != "leave" {
		s.conn.refuse(l, Unsupported, "elections start by themselves")
		return
	}
	s.stop(ErrLeaves)
	go func() {
		<-s.ended
		s.conn.Answer(l, "leave_ok", nil)
	}()
}

// work runs the elector.
func (s *electorServer) work(context.Context) {
	defer close(s.ended)
	if s.elector == nil {
		return
	}
	defer s.elector.Close()
	err := s.elector.Run(s.stands, func(leader string, term uint64) {
		body := map[string]any{"type": "elected", "leader": nil, "term": term}
		if leader != "" {
			body["leader"] = leader
		}
		s.conn.Say(Client, body)
	})
	if err != nil && s.stands.Err() == nil {
		s.conn.Say(Client, map[string]any{"type": "error", "code": Crash, "text": err.Error()})
	}
}
