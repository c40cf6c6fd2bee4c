package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

const cleanHelp = `Remove the remains of unfinished runs: runs whose orchestrator was killed, and runs that a
sweep has set aside to make them again, in folders whose names begin with a dot. It lists them with their
sizes, and then asks, unless --yes is given.

It never removes a run that is finished, is still going on, or may be either, and it follows no links.

SET is the name of a set; without it, all sets are searched.

Exit status: 0 removed, or nothing to remove; 2 nothing was removed, since the answer was no, or there was no
terminal to ask at and no --yes; 64 bad usage; 74 if something could not be removed.`

const cleanExample = `  orchestrator runs clean
  orchestrator runs clean lan --yes`

// A cleanCall is one call of runs clean.
type cleanCall struct {
	root string
	yes  bool
}

func cleanCommand() Command {
	c := &cleanCall{}
	return Command{
		Name:    "clean [SET]",
		Short:   "Remove the remains of unfinished runs",
		Help:    cleanHelp,
		Example: cleanExample,
		Options: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&c.root, "results", "results", "`folder` of all result sets")
			cmd.Flags().BoolVar(&c.yes, "yes", false, "remove without asking")
			forOneCall(cmd, "yes")
		},
		Args: atMostOne,
		Run:  c.run,
	}
}

// sets returns the names of the sets to search.
func (c *cleanCall) sets(named []string) (sets []string, err error) {
	inside, err := os.ReadDir(c.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--results: %w", err)
	}
	for _, entry := range inside {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			sets = append(sets, entry.Name())
		}
	}
	if len(named) == 0 {
		return sets, nil
	}
	if err := results.CheckNames(c.root, named[0]); err != nil {
		return nil, err
	}
	if !slices.Contains(sets, named[0]) {
		return nil, fmt.Errorf("there is no set %q below %s; there are: %s", named[0], c.root,
			strings.Join(sets, ", "))
	}
	return named, nil
}

// run lists the remains of runs, and removes them after a yes.
func (c *cleanCall) run(ctx context.Context, a *app) error {
	sets, err := c.sets(a.args)
	if err != nil {
		return err
	}
	left, spared := runs.Leftovers(c.root, sets)
	for _, ref := range slices.Sorted(maps.Keys(spared)) {
		fmt.Fprintf(a.stderr, "%s is kept: %s\n", ref, spared[ref])
	}
	if len(left) == 0 {
		fmt.Fprintf(a.stdout, "nothing to remove below %s\n", c.root)
		return nil
	}
	var sum size
	for _, l := range left {
		fmt.Fprintf(a.stdout, "%8s  %s  %s\n", size(l.Bytes), l.Ref(), l.Why)
		sum += size(l.Bytes)
	}
	what := fmt.Sprintf("%s, %s", english.Count(len(left), "folder", "folders"), sum)
	if !c.yes {
		if !terminal.Asks(a.stdin) || !terminal.Is(a.stdout) {
			fmt.Fprintf(a.stderr, "nothing was removed: there is no terminal to ask at; --yes removes %s\n", what)
			a.status = check.Inconclusive.ExitCode()
			return nil
		}
		fmt.Fprintf(a.stdout, "Remove %s? [y/N] ", what)
		if !yes(ctx, a.stdin) {
			fmt.Fprintln(a.stderr, "nothing was removed")
			a.status = check.Inconclusive.ExitCode()
			return nil
		}
	}
	return c.remove(a, left)
}

// yes reads a line, and reports whether it is y or yes.
func yes(ctx context.Context, in io.Reader) bool {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(in).ReadString('\n')
		line <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case text := <-line:
		return text == "y" || text == "yes"
	case <-ctx.Done():
		return false
	}
}

// remove removes the remains of runs.
func (c *cleanCall) remove(a *app, left []runs.Leftover) error {
	var (
		errs    []error
		removed int
		bytes   size
	)
	for _, l := range left {
		if err := l.Remove(c.root); err != nil {
			errs = append(errs, err)
			continue
		}
		removed, bytes = removed+1, bytes+size(l.Bytes)
	}
	fmt.Fprintf(a.stdout, "removed %s, %s\n", english.Count(removed, "folder", "folders"), bytes)
	errs = append(errs, pointLatest(c.root))
	if err := errors.Join(errs...); err != nil {
		return failure{err, unwritten}
	}
	return nil
}

// pointLatest repairs the link to the newest run if that run was removed.
func pointLatest(root string) error {
	link := filepath.Join(root, results.LatestLink)
	if _, err := os.Lstat(link); err != nil {
		return nil
	}
	if _, err := os.Stat(link); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if runs := results.Runs(root); len(runs) > 0 {
		return results.SetLatest(root, runs[0])
	}
	return os.Remove(link)
}
