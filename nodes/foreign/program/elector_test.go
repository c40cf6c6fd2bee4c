package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A candidate notes why it ends.
type candidate struct{ why error }

func (c *candidate) Run(ctx context.Context, _ func(string, uint64)) error {
	<-ctx.Done()
	c.why = context.Cause(ctx)
	return ctx.Err()
}

func (*candidate) Close() error { return nil }

// An elector that is told to leave hears so, and answers once it has ended.
func TestElectorLeaves(t *testing.T) {
	for leaves, why := range map[bool]error{true: ErrLeaves, false: context.Canceled} {
		in, lines := io.Pipe()
		var out strings.Builder
		one, ended := &candidate{}, make(chan error)
		go func() {
			ended <- ServeElector(in, &out, nil,
				func(context.Context, Init) (Elector, error) { return one, nil })
		}()
		say := func(body string) { fmt.Fprintf(lines, `{"src":"c0","dest":"n0","body":{%s}}`+"\n", body) }
		say(`"type":"init","msg_id":1,"node_id":"n0","node_ids":["n0"],"options":{"servers":["here"]}`)
		if leaves {
			say(`"type":"leave","msg_id":2`)
		}
		lines.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if !errors.Is(one.why, why) {
			t.Errorf("leaves %v: it ended because of %v", leaves, one.why)
		}
	}
}
