package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench/export"
	"turnstile/internal/suggest"
	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/results"
)

const exportHelp = `Write what happened in a run for other programs.

  entries    CSV, a row for each request: when it was due, asked, entered and left, and the faults in force
  shiviz     what each node did, with vector clocks, as ShiViz reads it
  perfetto   Chrome's trace format, with an arrow for each message, as ui.perfetto.dev opens it

` + runHelp + ` The path of a schedule will do too.

Entries are those of all trials, the others are one trial. For these, all messages of a simulated run are
known: it is made again for them. Of a real one only bench --trace keeps all.

Exit status: 0, 2 if the run cannot be read, 64 bad usage.`

const exportExample = `  orchestrator export --to entries >entries.csv
  orchestrator export latest --to perfetto --from 1s --until 1.5s --out run.json
  orchestrator export naive.txt --to shiviz --out naive.log`

// An exportCall is one call of export.
type exportCall struct {
	to          string
	trial       int // 0: all, or the first
	from, until time.Duration
	out         string
}

var exportForms = []string{"entries", "shiviz", "perfetto"}

func (a *app) exportCommand() *cobra.Command {
	c := exportCall{}
	cmd := onStored(&cobra.Command{
		Use:     "export [RUN | SCHEDULE]",
		Short:   "Write what happened in a run for other programs",
		Long:    exportHelp,
		Example: exportExample,
	}, c.check, openSubject, func(ctx context.Context, _ settings, of *subject) error {
		if c.out == "" {
			out := bufio.NewWriterSize(a.stdout, 1<<16)
			return errors.Join(c.export(ctx, out, of), out.Flush())
		}
		return c.exportFile(ctx, of)
	})
	cmd.ValidArgsFunction = completeRun
	f := cmd.Flags()
	f.SortFlags = false
	f.String("results", "results", "`folder` of all result sets")
	f.StringVar(&c.to, "to", "", "what to write: entries, shiviz or perfetto")
	f.IntVar(&c.trial, "trial", 0, "write this trial (default all entries, or the first trial)")
	noZero(f, "trial", "is no trial: they count from 1")
	f.DurationVar(&c.from, "from", 0, "shiviz, perfetto: from this `time` of the run on (default its beginning)")
	f.DurationVar(&c.until, "until", 0, "shiviz, perfetto: until this `time` of the run (default its end)")
	f.StringVar(&c.out, "out", "", "`file` to write (default it is printed)")
	noZero(f, "until", "would be no time at all: leave it out for all until the end")
	forOneCall(cmd, "to", "trial", "from", "until", "out")
	completeWith(cmd, "to", exportForms)
	return cmd
}

// check checks the flags.
func (c *exportCall) check(_ *cobra.Command, s settings) error {
	switch {
	case c.to == "":
		return errors.New("--to: say what to write: entries, shiviz or perfetto")
	case isTime(c.to):
		return fmt.Errorf("--to: %s is a time, and --to says what to write: %s; for the end of the window, "+
			"give --until %s", c.to, strings.Join(exportForms, ", "), c.to)
	case !slices.Contains(exportForms, c.to):
		return fmt.Errorf("--to: there is no %q%s", c.to, suggest.Hint(c.to, exportForms))
	case c.to == "entries" && (s.given("from") || s.given("until")):
		return errors.New("--to entries writes those of whole trials: leave out --from and --until")
	case c.from < 0 || c.until < 0:
		return errors.New("--from and --until: times of a run count from its beginning: write 0s or later")
	case s.given("until") && c.until <= c.from:
		return fmt.Errorf("--until: %v is not after --from, %v", c.until, c.from)
	}
	return checkPicture("out", c.out)
}

// isTime reports whether a text is a length of time.
func isTime(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil
}

// exportFile writes a file, whole or not at all.
func (c *exportCall) exportFile(ctx context.Context, of *subject) error {
	var wrong error // of the run, not of the file
	err := results.WriteFile(c.out, func(w io.Writer) error {
		wrong = c.export(ctx, w, of)
		return wrong
	})
	if wrong == nil && err != nil {
		return failure{err, unwritten}
	}
	return wrong
}

// export writes what a call asks for.
func (c *exportCall) export(ctx context.Context, w io.Writer, of *subject) error {
	switch {
	case of.schedule != nil:
		return c.exportSchedule(w, of)
	case c.to == "entries":
		return c.exportEntries(ctx, w, of.folder)
	}
	past, err := openPast(of.folder, max(1, c.trial))
	if err != nil {
		return err
	}
	var fold *spacetime.Fold
	err = past.ReadMessages(ctx, func(h history.Header) history.Fold {
		fold = spacetime.New(h, past.Stack, c.window())
		return fold
	})
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	return c.write(w, &fold.Extract, past.Fault)
}

// mostClocks is how many messages times nodes vector clocks are written of: they take some 500 MB.
const mostClocks = 1 << 26

// window returns the window that the flags ask for.
func (c *exportCall) window() section.Window {
	w := section.Window{From: int64(c.from), To: int64(c.until)}
	if c.until == 0 {
		w.To = math.MaxInt64
	}
	return w
}

// write writes an extract.
func (c *exportCall) write(w io.Writer, x *spacetime.Extract, fault func(uint32) string) error {
	switch from := max(0, x.Window.From); {
	case len(x.Messages) == 0 && c.to == "shiviz":
		return errors.New("no messages are known of that time, without which there is no order of what nodes " +
			"did: bench --trace keeps all")
	case x.TooMany || c.to == "shiviz" && len(x.Messages)*x.Stack.Total() > mostClocks:
		return fmt.Errorf("%d messages and %d entries are too many: choose a shorter time by --from and --until",
			len(x.Messages), len(x.Sections))
	case x.Complete > from || x.Until < min(x.End, x.Window.To):
		until := ""
		if x.Until < x.End {
			until = fmt.Sprintf(" --until %v", time.Duration(x.Until))
		}
		return fmt.Errorf("not all messages of that time are known, since only bench --trace keeps them: "+
			"these are: --from %v%s", time.Duration(max(0, x.Complete)), until)
	case c.to == "shiviz":
		return export.ShiViz(w, x)
	}
	return export.Perfetto(w, x, fault)
}

// exportEntries writes the entries of a run.
func (c *exportCall) exportEntries(ctx context.Context, w io.Writer, folder *results.Folder) error {
	first, last := c.trial, c.trial
	if c.trial == 0 {
		first, last = 1, max(1, len(folder.Histories()))
	}
	entries := export.NewEntries(w)
	for trial := first; trial <= last; trial++ {
		past, err := openPast(folder, trial)
		if err != nil {
			return err
		}
		err = past.Read(ctx, func(h history.Header) history.Fold {
			return entries.Of(trial, h, past.Config.Capacity())
		})
		if err != nil {
			return errors.Join(failure{err, check.Inconclusive.ExitCode()}, entries.Flush())
		}
	}
	return entries.Flush()
}

// exportSchedule writes what happens when a schedule is played.
func (c *exportCall) exportSchedule(w io.Writer, of *subject) error {
	played, err := replay.Play(of.schedule)
	if err != nil {
		return fmt.Errorf("%s: %w", of.path, err)
	}
	header := played.History.Header()
	if c.to == "entries" {
		entries := export.NewEntries(w)
		played.History.Run(entries.Of(1, header, of.schedule.Config.Capacity()))
		return entries.Flush()
	}
	fold := spacetime.New(header, played.Stack, c.window())
	played.History.Run(fold)
	return c.write(w, &fold.Extract, func(uint32) string { return "" })
}
