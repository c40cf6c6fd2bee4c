package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"turnstile/bench/publish"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

const publishHelp = `Make a folder of a set, to give it away, and an archive of it: the files of each run,
their tables joined, the report if the set has one, README.md and SHA256SUMS. docs/sets.md lists them.

SET is the name or the path of a set, or one run, as SET/RUN. A set with an unfinished or a damaged run is
not published, nor is one with a credential, or with a path of this machine in a command.

Exit status: 0 made, 2 the set cannot be published, 64 bad usage, 74 if it could not be written.`

// A publishCall is one call of publish.
type publishCall struct {
	known
	root, to  string
	histories bool
}

func publishCommand(k known) Command {
	c := &publishCall{known: k}
	return Command{
		Name:     "publish SET",
		Short:    "Make a folder and an archive of a set, to give it away",
		Help:     publishHelp,
		Example:  "  orchestrator runs publish lan --to public/lan-2026 --histories",
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRunOrSet,
		Run:      onStored(&c.root, openVerifiable, c.run),
	}
}

func (c *publishCall) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.to, "to", "", "the `folder` to make")
	cmd.Flags().BoolVar(&c.histories, "histories", false, "the histories come along")
	cmd.Flags().StringVar(&c.root, "results", "results", "`folder` of all result sets")
	forOneCall(cmd, "to", "histories")
}

// run publishes a set, or one of a single run, as a folder; if that has no name, by the name of the set.
func (c *publishCall) run(ctx context.Context, a *app, of verifiable) error {
	set := of.set
	if of.published != "" {
		return fmt.Errorf("%s was published already: give it away as it is", of.published)
	} else if set == nil {
		set = &results.Set{Path: of.run.Path, Runs: []*results.Folder{of.run}}
	}
	if c.to == "" {
		return fmt.Errorf("where to is not said: name the folder to make, as in --to ../%s",
			filepath.Base(set.Path))
	}
	to := filepath.Clean(c.to)
	for _, path := range []string{to, to + results.ArchiveSuffix} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is there: remove it, or name another folder with --to", path)
		}
	}
	switch err := publish.Make(ctx, c.Table, set, to, c.histories); {
	case err != nil && ctx.Err() != nil:
		return failure{errors.New("interrupted: nothing was published"), check.Inconclusive.ExitCode()}
	case errors.As(err, new(*fs.PathError)):
		return failure{err, unwritten}
	case err != nil:
		return failure{err, check.Inconclusive.ExitCode()}
	}
	fmt.Fprintf(a.stdout, "%s and its archive were made\n", terminal.FromHere(to))
	return nil
}
