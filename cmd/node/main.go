// Node is one process of a run. The orchestrator starts it, describes its part as JSON on its standard
// input, and ends it by closing that.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"turnstile/bench/bare"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes/host"
	"turnstile/nodes/mutex"
)

// The exit statuses.
const (
	ok       = 0
	failed   = 1
	orphaned = 3  // the orchestrator is gone
	usage    = 64 // as in sysexits.h
)

// A part is what a node process is to do: one of the two.
type part struct {
	Node    *host.Config  `json:"node"`
	Network chaos.Network `json:"network"` // what links do to the messages that the node receives
	Bare    *bare.Config  `json:"bare"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintln(stderr, "node: the orchestrator starts this program and tells it by a pipe what to do; "+
			"to run a benchmark, type: orchestrator bench --help")
		return usage
	}
	input := json.NewDecoder(stdin)
	var p part
	if err := input.Decode(&p); err != nil {
		fmt.Fprintf(stderr, "node: reading what to do: %v\n", err)
		return usage
	}
	go func() {
		io.Copy(io.Discard, stdin) // ends when the orchestrator does, however that happens
		os.Exit(orphaned)
	}()
	if err := p.run(stdout); err != nil {
		fmt.Fprintf(stderr, "node: %v\n", err)
		return failed
	}
	return ok
}

func (p *part) run(stdout io.Writer) error {
	switch {
	case p.Bare != nil:
		return bare.Run(*p.Bare, stdout)
	case p.Node != nil:
		spec, err := mutex.Find(p.Node.Algorithm)
		if err != nil {
			return err
		}
		p.Node.Shaper = p.Network.Shaper(chance.Dice(p.Node.Seed))
		return host.Run(*p.Node, host.Algorithm{Machine: spec.Machine(p.Node.Machines, p.Node.Node),
			Codec: spec.Codec(), Circulates: spec.Circulates})
	}
	return errors.New("told to do nothing")
}
