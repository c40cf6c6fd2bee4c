// Orchestrator runs distributed algorithms, in real processes over NATS, simulated and explored, and judges
// what happened.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// usage is the exit status for wrong usage, as in sysexits.h. Those of verdicts are
// check.Outcome's.
const usage = 64

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command that args name, and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return a.status
	}
	fmt.Fprintf(stderr, "orchestrator: %s\n", strings.TrimSpace(err.Error()))
	var f failure
	if errors.As(err, &f) {
		return f.status
	}
	return usage
}

// A failure is an error that the user did not cause, with its exit status.
type failure struct {
	error
	status int
}

func (f failure) Unwrap() error { return f.error }
