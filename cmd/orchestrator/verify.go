package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/results"
)

const verifyHelp = `Judge a run again by the histories that it stored, and print the verdict with what each
check found.

` + runHelp + `

A run whose orchestrator was killed can be judged too: its histories are then the logs of its nodes, as
they left them. A simulated run has no logs: only its trials that had ended can be judged.

Exit status: as of bench, by the verdict found now; 2 if a history cannot be read.`

const verifyExample = `  orchestrator verify
  orchestrator verify --benchstat latest >new.txt; benchstat old.txt new.txt
  orchestrator verify bench/20260131-140509-ricart-agrawala-n32
  orchestrator verify --json results/latest`

func (a *app) verifyCommand() *cobra.Command {
	var asJSON, asBenchmark bool
	cmd := onRun(&cobra.Command{
		Use:     "verify [RUN]",
		Short:   "Judge a stored run again",
		Long:    verifyHelp,
		Example: verifyExample,
	}, func(cmd *cobra.Command, s settings) error {
		return s.either(cmd, "json", "benchstat")
	}, func(ctx context.Context, _ settings, folder *results.Folder) error {
		return a.verify(ctx, folder, asJSON, asBenchmark)
	})
	cmd.Flags().String("results", "results", "`folder` of all result sets")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document instead")
	cmd.Flags().BoolVar(&asBenchmark, "benchstat", false, "print Go benchmark lines instead, a line per trial")
	return cmd
}

func (a *app) verify(ctx context.Context, folder *results.Folder, asJSON, asBenchmark bool) error {
	var stored bench.Record
	if err := folder.ReadYAML(&stored); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = withoutRecord(folder, err)
		}
		return failure{err, check.Inconclusive.ExitCode()}
	}
	r, err := bench.Reopen(ctx, folder)
	if errors.Is(err, bench.ErrNotJudged) {
		err = fmt.Errorf("%w; what is stored has not changed", err)
	}
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	s := r.Summary()
	a.status = s.Outcome().ExitCode()
	switch {
	case asJSON:
		return writeJSON(a.stdout, s)
	case asBenchmark:
		return results.GoBench(a.stdout, s.Rows)
	}
	newReport(a.stdout).stored(s)
	for i, t := range r.Trials {
		fmt.Fprintf(a.stdout, "\n%s%s\n", s.VerdictText(i), compare(stored, i, t))
	}
	return nil
}

// withoutRecord is the error of a run that lacks its run.yaml.
func withoutRecord(folder *results.Folder, err error) error {
	return fmt.Errorf("%s cannot be shown, judged or made again, since nothing says how it was made: %w; "+
		"what is left of it: its files, and orchestrator runs", folder.Ref(), err)
}

// compare says whether the verdict of a trial is the stored one.
func compare(stored bench.Record, index int, t *bench.Trial) string {
	now := t.Verdict.Outcome.String()
	was := ""
	if index < len(stored.Trials) {
		was = stored.Trials[index].Verdict
	}
	switch was {
	case "":
		if index < len(stored.Trials) {
			return "no verdict was stored: nobody had judged the trial to its end"
		}
		return "no verdict was stored: " + orchestratorGone
	case now:
		return "the stored verdict is the same"
	}
	return fmt.Sprintf("THE STORED VERDICT DIFFERS: it is %s", was)
}
