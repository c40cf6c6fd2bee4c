// Package commands is the command line of the orchestrator: the flags, the work and the output of each
// command.
package commands

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
	"time"

	"github.com/spf13/cobra"

	"turnstile/algorithms/catalog"
	"turnstile/hosts/cluster"
	"turnstile/internal/input"
	"turnstile/internal/proc"
	"turnstile/internal/terminal"
	"turnstile/internal/unavailable"
	"turnstile/judge/check"
)

// Main runs the command that the arguments of the program name, and returns its exit status. The program
// knows the algorithms of table. node is the program of a node with its arguments; nil: the file named node
// beside this program.
func Main(table catalog.Table, node []string) int {
	if err := cluster.CheckStart(); err != nil {
		fmt.Fprintf(os.Stderr, "orchestrator: %v\n", err)
		return usage
	}
	if err := checkOwnOptions(table); err != nil {
		fmt.Fprintf(os.Stderr, "orchestrator: %v\n", err)
		return usage
	}
	defer proc.RemoveAllTemp()
	return run(interruptible(), program{table, node}, os.Args[1:], os.Stdout, os.Stderr)
}

// checkOwnOptions returns an error if an algorithm that the user has added has an option with the name of a
// flag of some command.
func checkOwnOptions(table catalog.Table) error {
	var all []*cobra.Command
	for _, algo := range table.Algorithms() {
		if !table.Own(algo) {
			continue
		}
		if all == nil {
			all = (&app{stdout: &output{Writer: io.Discard}, stderr: io.Discard}).root().Commands()
		}
		for _, o := range algo.Options {
			for _, cmd := range all {
				if f := cmd.Flags().Lookup(o.Name); f != nil && !isOption(f) {
					return fmt.Errorf("the algorithm %s has the option %q, which is a flag of %s: take another name",
						algo.Name, o.Name, cmd.Name())
				}
			}
		}
	}
	return nil
}

// sameRequest is the time within which several signals count as one. Otherwise timeout(1) would end the
// program at once: it signals the program, and then its process group.
const sameRequest = 200 * time.Millisecond

// interruptible returns a context that ends with the first SIGINT, SIGTERM or SIGHUP. A second signal ends
// the program at once.
func interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	asked := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup makes the program ignore SIGHUP
		asked = append(asked, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, asked...)
	go func() {
		<-signals
		cancel()
		same := time.Now().Add(sameRequest)
		second := (<-signals).(syscall.Signal)
		for time.Now().Before(same) {
			second = (<-signals).(syscall.Signal)
		}
		signal.Reset(second)
		syscall.Kill(os.Getpid(), second)
		time.Sleep(100 * time.Millisecond)
		os.Exit(bySignal + int(second)) // reached only if this program was started to ignore the signal
	}()
	return ctx
}

// run runs the command that args name, and returns its exit status.
func run(ctx context.Context, p program, args []string, stdout, stderr io.Writer) int {
	shown, wrong := &terminal.Plain{To: stdout}, &terminal.Plain{To: stderr}
	out := &output{Writer: shown}
	status := runTo(ctx, p, args, out, wrong)
	shown.Flush()
	wrong.Flush()
	if out.err == nil || errors.Is(out.err, syscall.EPIPE) { // a reader such as head may close the pipe
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

// Unwrap returns the underlying writer, so that terminal.Is can look at it.
func (o *output) Unwrap() io.Writer { return o.Writer }

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	o.err = cmp.Or(o.err, err)
	return n, err
}

func runTo(ctx context.Context, p program, args []string, stdout *output, stderr io.Writer) int {
	a := &app{program: p, stdout: stdout, stderr: stderr}
	root := a.root()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plainUsages(root)
	}
	args, err := variablesToFlags(root, args)
	root.SetArgs(args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err != nil && (stdout.err == nil || !errors.Is(err, stdout.err)) { // the caller prints errors of stdout
		fmt.Fprintf(stderr, "orchestrator: %s\n", strings.TrimSpace(err.Error()))
	}
	a.checkDisk(err)
	var f failure
	switch {
	case a.unwritten:
		return unwritten
	case err == nil:
		return a.status
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || !errors.As(err, &f)):
		return check.Inconclusive.ExitCode()
	case unavailable.Is(err):
		return unreached
	case errors.As(err, &f):
		return f.status
	case errors.Is(err, input.ErrInterrupted):
		return check.Inconclusive.ExitCode()
	}
	return usage
}
