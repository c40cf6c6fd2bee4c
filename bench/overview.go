package bench

import (
	"cmp"
	"errors"
	"io/fs"
	"time"

	"turnstile/internal/figure"
	"turnstile/judge/check"
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
	rows, wrongRows := folder.Rows()
	o := &Overview{Run: folder.Ref(), Row: results.Medians(rows)}
	if len(rows) == 1 {
		o.Trial = figure.Count(1)
	}
	var record Record
	wrong := folder.ReadYAML(&record)
	if wrong == nil {
		o.describe(&record)
		if errors.Is(wrongRows, fs.ErrNotExist) && len(record.Trials) == 0 {
			wrongRows = nil // it has not come so far
		}
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
		outcome := outcomeOf(t.Verdict)
		if outcome > worst || outcome == worst && o.Reason == "" {
			o.Reason = t.Reason
		}
		worst = max(worst, outcome)
	}
	o.Verdict = worst.String()
}

// outcomeOf reads the verdict of a trial; one that is missing or unknown is inconclusive.
func outcomeOf(verdict string) check.Outcome {
	outcome := check.Inconclusive
	if err := outcome.UnmarshalText([]byte(verdict)); err != nil {
		return check.Inconclusive
	}
	return outcome
}
