package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/nats-io/nats.go"

	"turnstile/internal/broker"
	"turnstile/internal/jsonseq"
)

// Piped is the configuration of an agent that a run has started, on the agent's standard input. When the
// input ends, the agent ends.
type Piped struct {
	URL     string   `json:"url"`
	Token   string   `json:"token"`
	Name    string   `json:"name"`
	Folder  string   `json:"folder"`
	Version string   `json:"version"`
	Node    []string `json:"node"` // the node program, with its arguments
}

// Up is what an agent that a run has started prints once it can be found, in a frame of package jsonseq.
type Up struct {
	Up bool `json:"up"`
}

// ServePiped serves a host as a process of a run. Configuration from in completes the options.
func ServePiped(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	input := json.NewDecoder(in)
	var p Piped
	if err := input.Decode(&p); err != nil {
		return fmt.Errorf("reading what the agent is to do: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, in)
		cancel()
	}()
	conn, err := nats.Connect(p.URL, nats.Token(p.Token), nats.NoReconnect(), nats.Timeout(joinLimit),
		nats.Name("host "+p.Name))
	if err != nil {
		return fmt.Errorf("reaching the control plane: %w", err)
	}
	defer conn.Close()
	o.Programs[NodeProgram] = p.Node
	o.Name, o.Folder, o.Version, o.Address, o.Local = p.Name, p.Folder, p.Version, broker.Loopback, true
	return Serve(ctx, conn, o, func() {
		if b, err := jsonseq.Encode(Up{true}); err == nil {
			out.Write(b)
		}
	})
}
