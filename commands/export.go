package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/suggest"
	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
	"turnstile/report/export"
)

const exportHelp = `Write the events of a run for other programs.

  entries    CSV, a row for each request: when it was due, asked, entered and left, and the faults in force
  shiviz     the events of each node, with vector clocks, for ShiViz
  perfetto   Chrome's trace format, with an arrow for each message, for ui.perfetto.dev

` + runHelp + ` It may also be the path of a schedule.

entries writes all trials, the others one. These need all messages: a simulated run is made again for them,
and of a real run only bench --trace keeps them.

Exit status: 0, 2 if the run cannot be read, 64 bad usage.`

const exportExample = `  orchestrator runs export --to entries >entries.csv
  orchestrator runs export latest --to perfetto --from 1s --until 1.5s >run.json`

// An exportCall is one call of export.
type exportCall struct {
	known
	root        string
	to          string
	trial       int // number of the trial; 0: all trials, or the first
	from, until time.Duration
}

func exportCommand(k known) Command {
	c := &exportCall{known: k}
	return Command{
		Name:     "export [RUN | SCHEDULE]",
		Short:    "Write the events of a run for other programs",
		Help:     exportHelp,
		Example:  exportExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRun,
		Check:    c.check,
		Run:      onStored(&c.root, c.openSubject, c.run),
	}
}

func (c *exportCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.to, "to", "", "what to write: entries, shiviz or perfetto")
	f.IntVar(&c.trial, "trial", 0, "write only this trial (default all for --to entries, otherwise the first)")
	noZero(f, "trial", "is not a trial: they count from 1")
	f.DurationVar(&c.from, "from", 0, "from this `time` of the run on (default its beginning)")
	f.DurationVar(&c.until, "until", 0, "until this `time` of the run (default its end)")
	noZero(f, "until", "would write nothing: leave it out for all until the end")
	forOneCall(cmd, "to", "trial", "from", "until")
	completeWith(cmd, "to", exportForms)
}

// check checks the flags.
func (c *exportCall) check(settings) error {
	switch {
	case c.to == "":
		return errors.New("--to: say what to write: entries, shiviz or perfetto")
	case !slices.Contains(exportForms, c.to):
		return fmt.Errorf("--to: there is no %q%s", c.to, suggest.Hint(c.to, exportForms))
	case c.from < 0 || c.until != 0 && c.until <= c.from:
		return errors.New("--from and --until: write times from 0s, counted from the beginning of the run, and " +
			"--until later than --from")
	}
	return nil
}

// run writes the run or schedule in the form that --to names.
func (c *exportCall) run(ctx context.Context, a *app, of *subject) error {
	w := a.stdout
	first := max(1, c.trial)
	last := first
	if c.to == "entries" {
		io.WriteString(w, export.EntryColumns) // w remembers an error
		if of.folder != nil && c.trial == 0 {
			last = max(1, len(of.folder.Histories()))
		}
	}
	for trial := first; trial <= last; trial++ {
		x, fault, err := c.extract(ctx, of, trial)
		if err != nil {
			return err
		}
		switch c.to {
		case "entries":
			err = export.Entries(w, trial, x)
		case "shiviz":
			err = export.ShiViz(w, x)
		default:
			err = export.Perfetto(w, x, fault)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// extract returns the events of a trial, and a function that names its faults. It is an error if the events
// are too many, or not all of their messages are known.
func (c *exportCall) extract(ctx context.Context, of *subject, trial int) (x *spacetime.Extract,
	fault func(uint32) string, err error) {
	w := section.Window{From: int64(c.from), To: cmp.Or(int64(c.until), math.MaxInt64)}
	if of.schedule != nil {
		played, err := replay.Play(of.schedule)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", of.path, err)
		}
		fold := spacetime.New(played.History.Header(), played.Stack, w)
		played.History.Run(fold)
		x, fault = &fold.Extract, func(uint32) string { return "" }
	} else {
		past, err := c.openPast(of.folder, trial)
		if err != nil {
			return nil, nil, err
		}
		if err := c.checkSize(ctx, past); err != nil {
			return nil, nil, err
		}
		if x, err = past.Extract(ctx, w, c.to != "entries"); err != nil {
			return nil, nil, failure{err, check.Inconclusive.ExitCode()}
		}
		fault = past.Fault
	}
	switch {
	case x.TooMany || len(x.Messages) > mostMessages(c.to, x.Stack),
		c.to == "shiviz" && len(x.Events) >= spacetime.MostEvents:
		err = c.tooMany(x.Stack, "more")
	case c.to != "entries" && (x.Complete > max(0, w.From) || x.Until < min(x.End, w.To)):
		err = fmt.Errorf("not all messages of that time are known, since only bench --trace keeps them: "+
			"these are: --from %v --until %v", time.Duration(max(0, x.Complete)), time.Duration(min(x.Until, x.End)))
	}
	return x, fault, err
}

// mostMessages returns how many messages can be written in a form.
func mostMessages(form string, stack *algorithm.Stack) int {
	if form != "shiviz" {
		return spacetime.MostMessages
	}
	const mostClocks = 1 << 26 // messages times nodes: vector clocks take up to 500 MB
	return min(spacetime.MostMessages, mostClocks/stack.Total())
}

// checkSize returns an error if a whole trial is too large to be written. It counts before anything is
// gathered. For a part of a trial, and for a trial of which few messages are kept, this is known only later.
func (c *exportCall) checkSize(ctx context.Context, past *runs.Past) error {
	if c.from > 0 || c.until > 0 {
		return nil
	}
	messages, requests, err := past.Size(ctx)
	all := c.to != "entries" && (past.Simulated || past.Trace)
	switch {
	case err != nil:
		return failure{err, check.Inconclusive.ExitCode()}
	case requests > spacetime.MostSections, all && messages > uint64(mostMessages(c.to, past.Stack)):
		return c.tooMany(past.Stack, fmt.Sprintf("%s and %s", english.Count(messages, "message", "messages"),
			english.Count(requests, "request", "requests")))
	}
	return nil
}

// tooMany is the error of a trial, or a part of one, with too many messages or requests.
func (c *exportCall) tooMany(stack *algorithm.Stack, has string) error {
	most := english.Count(spacetime.MostSections, "request", "requests")
	if c.to != "entries" {
		most = english.Count(mostMessages(c.to, stack), "message", "messages") + " and " + most
	}
	return fmt.Errorf("--to %s writes at most %s, and there are %s: choose a shorter time by --from and --until",
		c.to, most, has)
}
