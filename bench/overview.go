package bench

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"time"

	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/nodes/catalog"
	"turnstile/results"
)

// An Overview is what a list of runs says of one: a row as in runs.csv, whose figures are medians of the
// trials, and whose verdict is that of the run: results.Unfinished, or nothing if it is not known.
type Overview struct {
	Run     string        `csv:"run"` // set/run
	Started string        `csv:"started"`
	Trial   figure.Figure `csv:"trial"` // unknown of several
	results.Row
	Trials      int    `csv:"trials"` // that were judged
	TrialsAsked int    `csv:"trials_asked"`
	Problem     string `csv:"problem"` // why some of this is missing, if it is
}

// ReadOverview reads what the folder of a run says of it. Whatever is damaged is named as the problem, and
// the rest is read all the same.
func ReadOverview(folder *results.Folder) *Overview {
	rows, wrongRows := folder.Rows(catalog.OptionNames()...)
	o := &Overview{Run: folder.Ref(), Row: results.Medians(rows)}
	if len(rows) == 1 {
		o.Trial = figure.Count(1)
	}
	var record Record
	wrong := folder.ReadYAML(&record)
	if wrong == nil {
		wrong = record.checkFormat(folder)
	}
	switch {
	case wrong == nil:
		o.describe(&record)
		if errors.Is(wrongRows, fs.ErrNotExist) && len(record.Trials) == 0 {
			wrongRows = nil // it has not come so far
		}
	case len(rows) > 0:
		o.describeAs(rows, folder)
	}
	switch err := cmp.Or(wrong, wrongRows); {
	case err != nil:
		o.Problem = err.Error()
	case record.hasChanged(folder, results.RowsFile):
		o.Problem = results.RowsFile + " was changed after it was written: verify names what differs"
	}
	return o
}

// describe fills in what run.yaml says.
func (o *Overview) describe(r *Record) {
	o.Started, o.Asked = r.Started.Format(time.RFC3339), r.asked()
	o.Version, o.Seed = r.Versions["turnstile"], r.Options.Seed
	o.Trials, o.TrialsAsked = len(r.Trials), r.Options.Trials
	if r.Unfinished() {
		o.Verdict = results.Unfinished
		return
	}
	worst := check.Valid
	if len(r.Trials) < max(1, r.Options.Trials) {
		worst = check.Inconclusive
	}
	for _, t := range r.Trials {
		worst = o.worse(worst, t.Verdict, t.Reason)
	}
	o.Verdict = worst.String()
}

// describeAs fills in what the rows of a run say whose run.yaml cannot be read: that of an older Turnstile.
func (o *Overview) describeAs(rows []results.Row, folder *results.Folder) {
	first := &rows[0]
	if info, err := os.Stat(folder.File(results.RowsFile)); err == nil {
		o.Started = info.ModTime().UTC().Format(time.RFC3339)
	}
	o.Asked, o.Version, o.Seed, o.Trials = first.Asked, first.Version, first.Seed, len(rows)
	worst := check.Valid
	for i := range rows {
		worst = o.worse(worst, rows[i].Verdict, rows[i].Reason)
	}
	o.Verdict = worst.String()
}

// worse returns the worse of an outcome and the verdict of a trial, whose reason it keeps if that is the
// verdict.
func (o *Overview) worse(worst check.Outcome, verdict, reason string) check.Outcome {
	outcome := outcomeOf(verdict)
	if outcome > worst || outcome == worst && o.Reason == "" {
		o.Reason = reason
	}
	return max(worst, outcome)
}

// outcomeOf reads the verdict of a trial; one that is missing or unknown is inconclusive.
func outcomeOf(verdict string) check.Outcome {
	outcome := check.Inconclusive
	if err := outcome.UnmarshalText([]byte(verdict)); err != nil {
		return check.Inconclusive
	}
	return outcome
}
