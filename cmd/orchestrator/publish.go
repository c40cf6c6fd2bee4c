package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"turnstile/bench/publish"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

const publishHelp = `Make a folder of a set, to give it away, and an archive of the folder: the tables of all
runs, each joined to one; the record, verdicts and histograms of each run; the report; what went wrong, as
plans; README.md, CITATION.cff, and SHA256SUMS, which has the digest of every file. docs/publishing.md lists
the files. verify checks such a folder or archive.

Histories stay behind unless --histories is given: then only their digests are in the folder. What is there
already is replaced with --force alone, and only if it is a published set.

SET is the name or the path of a set, or one run, as SET/RUN. Runs that are unfinished or cannot be read are
named, and left out.

Exit status: 0 made, 2 nothing can be read, 64 bad usage, 74 if it could not be written.`

const publishExample = `  orchestrator publish lan
  orchestrator publish lan --to public/lan-2026 --histories
  orchestrator verify published/lan.tar.gz`

// publishFolder is where published sets are unless a user says otherwise.
const publishFolder = "published"

// A publishCall is one call of publish.
type publishCall struct {
	publish.Options
	root string
}

func (a *app) publishCommand() *cobra.Command {
	var c publishCall
	cmd := &cobra.Command{
		Use:               "publish SET",
		Short:             "Make a folder and an archive of a set, to give it away",
		Long:              publishHelp,
		Example:           publishExample,
		ValidArgsFunction: completeRunOrSet,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := settingsOf(cmd); err != nil {
				return err
			}
			return a.publish(cmd.Context(), &c, args)
		},
	}
	cmd.Flags().StringVar(&c.To, "to", "", "the `folder` to make (default published/SET), with the archive "+
		"beside it")
	cmd.Flags().BoolVar(&c.Histories, "histories", false, "the histories come along")
	cmd.Flags().BoolVar(&c.Force, "force", false, "replace a published set that is there")
	cmd.Flags().StringVar(&c.root, "results", "results", "`folder` of all result sets")
	forOneCall(cmd, "to", "histories", "force")
	return cmd
}

// publish publishes what the arguments name.
func (a *app) publish(ctx context.Context, c *publishCall, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one set to publish, as in publish lan, and there are %d names; runs lists what "+
			"there is", len(args))
	}
	set, name, err := published(c.root, args[0])
	if err != nil {
		return err
	}
	c.Name, c.To = name, cmp.Or(c.To, filepath.Join(publishFolder, name))
	p, err := publish.Make(ctx, set, c.Options)
	for _, what := range p.LeftOut {
		fmt.Fprintf(a.stderr, "orchestrator: not published as it should be: %s\n", what)
	}
	for _, what := range p.Warnings {
		fmt.Fprintf(a.stderr, "orchestrator: warning: %s\n", what)
	}
	switch {
	case errors.Is(err, publish.ErrNothing):
		return failure{fmt.Errorf("%s: %w", args[0], err), check.Inconclusive.ExitCode()}
	case err != nil && ctx.Err() != nil:
		return failure{errors.New("interrupted: nothing was published"), check.Inconclusive.ExitCode()}
	case errors.As(err, new(publish.TakenError)):
		return err
	case err != nil:
		return failure{err, unwritten}
	}
	made := "made"
	if p.Same {
		made = "there already, with the same content"
	}
	fmt.Fprintf(a.stdout, "%s: %s, %s, %s\n%s: %s\n", terminal.FromHere(p.Folder),
		english.Count(p.Runs, "run", "runs"), english.Count(p.Files, "file", "files"), made,
		terminal.FromHere(p.Archive), size(p.Bytes))
	return nil
}

// published returns the set that a name stands for, or one with a single run, and what it is published as.
func published(root, ref string) (*results.Set, string, error) {
	if run, err := results.Open(root, ref); err == nil {
		return &results.Set{Path: run.Path, Runs: []*results.Folder{run}}, run.Name(), nil
	}
	set := results.OpenSet(root, ref)
	if set == nil {
		_, err := results.Open(root, ref)
		return nil, "", err
	}
	if results.IsPublished(set.Path) {
		return nil, "", fmt.Errorf("%s was published already: give it away as it is", ref)
	}
	path, err := filepath.Abs(set.Path)
	return set, filepath.Base(path), err
}
