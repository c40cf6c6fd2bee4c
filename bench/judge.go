package bench

import (
	"errors"
	"fmt"
	"strings"

	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/bench/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// costUnder returns what an algorithm that costs c was published to cost under a load.
func costUnder(l workload.Load, c nodes.Cost) nodes.Range {
	switch l {
	case workload.Saturated:
		return c.Saturated
	case workload.One:
		return c.One
	case workload.Sequential:
		return c.Sequential
	}
	return c.Any
}

// setting tells the checks what they must know of a run.
func setting(o Options, spec *nodes.Spec) check.Setting {
	cost := published(o, spec)
	return check.Setting{
		Config: o.Config, Algorithm: o.Algorithm, Codec: spec.Codec(), Cost: cost, CostKnown: known(cost),
		Identities: spec.Identities, Circulates: spec.Circulates, Open: o.Workload.Load == workload.Open,
		Expected: o.Entries, Safe: spec.Safe, Live: spec.Live,
	}
}

// A judgement folds the history of a trial into its measures and its verdict.
type judgement struct {
	*section.Fold
	measures *measure.Fold
	checks   *check.Fold
}

// judgementOf returns a fold for a trial whose history has such a header.
func judgementOf(h history.Header, load workload.Load, s check.Setting) judgement {
	sections := check.Sections(h, s)
	return judgement{sections, measure.New(sections, load), check.New(sections, s)}
}

// Rows returns the rows of runs.csv, one for each trial.
func (r *Run) Rows() (rows []results.Row) {
	for _, t := range r.Trials {
		rows = append(rows, r.row(t))
	}
	return rows
}

// save writes all files of the run but its histories.
func (r *Run) save() error {
	var messages []results.MessageRow
	var intervals []results.Interval
	var text string
	for _, t := range r.Trials {
		for _, m := range t.Measures.MessageRows(r.Spec.Codec()) {
			m.Run, m.Trial = r.Folder.Name(), t.Number
			messages = append(messages, m)
		}
		intervals = append(intervals, t.Measures.Interval(t.Number, r.Record.Trials[t.Number-1].Started))
		text += t.VerdictText()
	}
	return errors.Join(
		r.Folder.WriteYAML(r.Record),
		r.Folder.WriteRows(r.Rows()),
		r.Folder.WriteMessages(messages),
		r.Folder.WriteLatencies(intervals),
		r.Folder.WriteText("verdict.txt", text),
	)
}

// VerdictText prints the verdict of a trial with what each check found and the witness, for people.
func (t *Trial) VerdictText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "trial %d: %s: %s\n", t.Number, t.Verdict.Outcome, t.Verdict.Reason)
	for _, f := range t.Verdict.Findings {
		fmt.Fprintf(&b, "  %-12s %-13s %s\n", f.Outcome, f.Check, f.Says)
		for _, line := range f.Witness {
			fmt.Fprintf(&b, "      %s\n", line)
		}
	}
	if t.Stall != "" {
		fmt.Fprint(&b, t.Stall)
	}
	return b.String()
}
