// Orchestrator runs distributed algorithms, in real processes over NATS, simulated and explored, and judges
// what happened.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// usage is the exit status for wrong usage, as in sysexits.h. Those of verdicts are
// check.Outcome's.
const usage = 64

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// unwritten is the exit status if standard output could not be written, as in sysexits.h, whatever the
// verdict is.
const unwritten = 74

// run runs the command that args name, and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	status := runTo(ctx, args, out, stderr)
	if out.err == nil || errors.Is(out.err, syscall.EPIPE) { // who closes a pipe has seen enough
		return status
	}
	fmt.Fprintf(stderr, "orchestrator: the output could not be written: %v\n", out.err)
	return unwritten
}

// An output remembers the first error of writing to it.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	o.err = cmp.Or(o.err, err)
	return n, err
}

func runTo(ctx context.Context, args []string, stdout *output, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := a.root()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plainUsages(root)
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return a.status
	}
	if stdout.err == nil || !errors.Is(err, stdout.err) { // run says that
		fmt.Fprintf(stderr, "orchestrator: %s\n", strings.TrimSpace(err.Error()))
	}
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
