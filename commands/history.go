package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"turnstile/bench/runs"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/results"
)

const historyHelp = `Print the events of a run, one to a line, in the order of time, as CSV or as lines
of JSON.

docs/measures.md explains the columns. Cells that a kind of event does not use are empty; JSON leaves
them out. The events are printed as they are read, so a history may be larger than memory.

` + runHelp + `

Exit status: 0, 2 if a history cannot be read to its end, 64 bad usage.`

const historyExample = `  orchestrator runs history | head
  orchestrator runs history --format jsonl --trial 2 latest
  orchestrator runs history >events.csv; duckdb -c "SELECT event, count(*) FROM 'events.csv' GROUP BY event"`

// A historyCall is one call of history.
type historyCall struct {
	root   string
	format string
	trial  int   // number of the trial to print; 0: all
	nodes  []int // nodes whose events are printed; empty: all
}

func historyCommand() Command {
	c := &historyCall{}
	return Command{
		Name:     "history [RUN]",
		Short:    "Print the events of a stored run as CSV or JSON lines",
		Help:     historyHelp,
		Example:  historyExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRun,
		Check: func(settings) error {
			if c.format != "csv" && c.format != "jsonl" {
				return fmt.Errorf("--format: there is no %q: write csv or jsonl", c.format)
			}
			return nil
		},
		Run: onStored(&c.root, results.Open, c.run),
	}
}

func (c *historyCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.format, "format", "csv", "csv or jsonl (JSON, an object to a line)")
	f.IntVar(&c.trial, "trial", 0, "print only the events of this trial (default all)")
	noZero(f, "trial", "is not a trial: they count from 1; leave it out for all")
	f.IntSliceVar(&c.nodes, "node", nil,
		"print only the events of this `node`; the orchestrator is -1 (default all)")
	forOneCall(cmd, "format", "trial", "node")
	completeWith(cmd, "format", []string{"csv", "jsonl"})
}

// run prints the histories of a run, as far as they can be read.
func (c *historyCall) run(ctx context.Context, a *app, folder *results.Folder) error {
	count := len(folder.Histories())
	first, last := 1, count
	switch {
	case count == 0:
		return failure{fmt.Errorf("%s has no history", folder.Path), check.Inconclusive.ExitCode()}
	case c.trial != 0:
		first, last = c.trial, c.trial
	}
	if first < 1 || last > count {
		return fmt.Errorf("--trial: there is no trial %d: run %s has histories of trials 1 to %d", c.trial,
			folder.Ref(), count)
	}
	if err := checkNodes(folder, first, c.nodes); err != nil {
		return err
	}
	var record runs.Record
	if err := folder.ReadYAML(&record); err != nil { // without the record, only names of messages are missing
		fmt.Fprintf(a.stderr, "orchestrator: message kinds are printed as numbers, since run.yaml cannot be read: "+
			"%v\n", err)
	}
	out := bufio.NewWriterSize(a.stdout, 1<<16)
	events := results.NewEventWriter(out, c.format == "jsonl", record.Kinds)
	for trial := first; trial <= last; trial++ {
		if err := knowTexts(ctx, events, folder, trial, &record); err != nil {
			return failure{err, check.Inconclusive.ExitCode()}
		}
		if err := printHistory(ctx, events, folder, trial, c.nodes); err != nil {
			out.Flush() // prints the events before the damage
			return failure{err, check.Inconclusive.ExitCode()}
		}
	}
	return out.Flush()
}

// checkNodes returns an error for a node that the history of a trial does not have.
func checkNodes(folder *results.Folder, trial int, ids []int) error {
	h, err := folder.History(trial)
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	defer h.Close()
	for _, id := range ids {
		if id < int(nodes.None) || id >= h.Nodes {
			return fmt.Errorf("--node: there is no node %d: there are 0 to %d, and the orchestrator, -1", id,
				h.Nodes-1)
		}
	}
	return nil
}

// knowTexts gives the writer the texts that a foreign program has sent. A history has them after all events.
func knowTexts(ctx context.Context, to *results.EventWriter, folder *results.Folder, trial int,
	record *runs.Record) error {
	to.Says = nil
	if !foreign.Speaks(record.Options.Config) {
		return nil
	}
	h, err := folder.History(trial)
	if err != nil {
		return err
	}
	defer h.Close()
	var logs logsFold
	if h.RunContext(ctx, &logs) == nil { // a damaged history is printed without texts, up to the damage
		to.Says = history.Texts(logs)
	}
	return nil
}

// A logsFold keeps the logs of nodes, which have the texts besides the events.
type logsFold []*history.NodeLog

func (f *logsFold) Add(history.Event) {}

func (f *logsFold) Close(logs []*history.NodeLog) { *f = logs }

// printHistory prints the events of a trial: only those at the nodes in of, unless of is empty.
func printHistory(ctx context.Context, to *results.EventWriter, folder *results.Folder, trial int,
	of []int) error {
	h, err := folder.History(trial)
	if err != nil {
		return err
	}
	defer h.Close()
	const between = 1 << 12 // events between two checks of ctx
	var e history.Event
	for count := 0; ; count++ {
		if count%between == 0 && ctx.Err() != nil {
			return errors.New("interrupted")
		}
		more, err := h.Next(&e)
		if err != nil || !more {
			return err
		}
		if len(of) > 0 && !slices.Contains(of, int(e.Node)) {
			continue
		}
		if err := to.Write(trial, &e); err != nil {
			return err
		}
	}
}
