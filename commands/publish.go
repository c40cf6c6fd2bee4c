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

const publishHelp = `Make a folder of a set for publication, and an archive of it: the files of each run,
their joined tables, the report if the set has one, README.md and SHA256SUMS. docs/sets.md lists them.

--tables makes the joined tables alone, with the report and README.md made from them, small enough for a
repository; verify checks them, and makes simulated runs again. Of a set with tables alone it makes the report
and README.md again.

SET is the name or the path of a set, or one run, as SET/RUN. It refuses a set with an unfinished or a damaged
run, with a credential, or with a path of this machine in a command. The source of an algorithm that
Turnstile lacks is published, too: call it in the folder of its module.

Exit status: 0 made, 2 the set cannot be published, 64 bad usage, 74 if it could not be written.`

// A publishCall is one call of publish.
type publishCall struct {
	known
	root, to  string
	histories bool
	tables    bool
}

func publishCommand(k known) Command {
	c := &publishCall{known: k}
	return Command{
		Name:     "publish SET",
		Short:    "Make a folder and an archive of a set for publication",
		Help:     publishHelp,
		Example:  "  orchestrator runs publish lan --to public/lan-2026 --histories",
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRunOrSet,
		Ends:     true,
		Run:      onStored(&c.root, c.open, c.run),
	}
}

func (c *publishCall) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.to, "to", "", "the `folder` to make")
	cmd.Flags().BoolVar(&c.histories, "histories", false, "include the histories")
	cmd.Flags().StringVar(&c.root, "results", "results", "`folder` of all result sets")
	cmd.Flags().BoolVar(&c.tables, "tables", false, "only the joined tables and the report, without an archive")
	forOneCall(cmd, "to", "histories", "tables")
}

// open finds what to publish: for --tables also a set that has the table of a study alone.
func (c *publishCall) open(root, ref string) (verifiable, error) {
	v, err := openVerifiable(root, ref)
	if path := results.PathOfStudy(root, ref); err != nil && c.tables && path != "" {
		return verifiable{set: &results.Set{Path: path}}, nil
	}
	return v, err
}

// run publishes a set, or a single run as a set of its own.
func (c *publishCall) run(ctx context.Context, a *app, of verifiable) error {
	set := of.set
	if of.published != "" || set != nil && set.Joined && !c.tables {
		return fmt.Errorf("%s was published already: pass it on as it is", a.args[0])
	} else if set == nil {
		set = &results.Set{Path: of.run.Path, Runs: []*results.Folder{of.run}}
	}
	if c.to == "" {
		return fmt.Errorf("--to is missing: name the folder to make, as in --to ../%s",
			filepath.Base(set.Path))
	}
	if c.tables && c.histories {
		return errors.New("--tables has no histories: leave out --histories")
	}
	to := filepath.Clean(c.to)
	for _, path := range []string{to, to + results.ArchiveSuffix} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists: remove it, or name another folder with --to", path)
		}
	}
	stop := context.AfterFunc(ctx, func() { // removing many files takes seconds
		fmt.Fprintln(a.stderr, "orchestrator: interrupted: what was made is removed")
	})
	defer stop()
	sources, err := c.sourcesOf(set)
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	made := func() error { return publish.Make(ctx, c.Table, set, to, sources, c.histories) }
	if c.tables {
		made = func() error { return c.makeTables(ctx, set, to, sources) }
	}
	switch err := made(); {
	case err != nil && ctx.Err() != nil:
		return failure{errors.New("interrupted: nothing was published"), check.Inconclusive.ExitCode()}
	case errors.As(err, new(*fs.PathError)):
		return failure{err, unwritten}
	case err != nil:
		return failure{err, check.Inconclusive.ExitCode()}
	}
	if c.tables {
		fmt.Fprintf(a.stdout, "%s was made\n", terminal.FromHere(to))
		return nil
	}
	fmt.Fprintf(a.stdout, "%s and its archive were made\n", terminal.FromHere(to))
	return nil
}

// makeTables makes the folder of a set with joined tables, and removes it if that fails.
func (c *publishCall) makeTables(ctx context.Context, set *results.Set, to string,
	sources map[string][]byte) error {
	err := publish.MakeTables(ctx, set, to, sources)
	if err == nil {
		var tables *results.Set
		if tables, err = results.OpenJoined(to); err == nil {
			_, err = c.writePage(tables, to)
		}
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(to))
	}
	return err
}
