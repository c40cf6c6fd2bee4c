// Package node is the process of one node of a run. The orchestrator starts it, describes its role as JSON on
// its standard input, and ends it by closing this input.
package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"turnstile/algorithms/catalog"
	"turnstile/chaos"
	"turnstile/nodes/host"
)

// The exit statuses.
const (
	ok       = 0
	failed   = 1
	orphaned = 3  // the orchestrator has ended
	usage    = 64 // wrong usage, as in sysexits.h
)

// A role is what a node process is to do.
type role struct {
	Node     *host.Config     `json:"node"`
	Machines []catalog.Part   `json:"machines"`
	Chaos    chaos.NodeFaults `json:"chaos"`
}

// Main carries out the role that the standard input describes, with the algorithms of a table, and returns
// the exit status.
func Main(known catalog.Table, args []string) int {
	return run(known, args, os.Stdin, os.Stdout, os.Stderr)
}

func run(known catalog.Table, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintln(stderr, "node: the orchestrator starts this program and tells it by a pipe what to do; "+
			"to run a benchmark, type: orchestrator bench --help")
		return usage
	}
	input := json.NewDecoder(stdin)
	var r role
	if err := input.Decode(&r); err != nil {
		fmt.Fprintf(stderr, "node: reading what to do: %v\n", err)
		return usage
	}
	orders, err := host.OrdersAfter(input, stdin, func() { os.Exit(orphaned) })
	if err == nil {
		err = r.run(known, orders, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "node: %v\n", err)
		return failed
	}
	return ok
}

func (r *role) run(known catalog.Table, orders io.Reader, stdout io.Writer) error {
	if r.Node == nil {
		return errors.New("told to do nothing")
	}
	stack, err := known.Assemble(r.Machines)
	if err != nil {
		return err
	}
	site, err := r.Chaos.Open(stack, r.Node.Seed)
	if err != nil {
		return err
	}
	r.Node.Shaper, r.Node.Watcher, r.Node.Faults = site.Shaper, site.Watcher, site
	return host.Run(*r.Node, stack.Stack, orders, stdout)
}
