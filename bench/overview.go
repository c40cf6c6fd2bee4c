package bench

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"time"

	"turnstile/bench/check"
	"turnstile/results"
)

// An Overview is what a list of runs says of one. Figures are medians of the trials.
type Overview struct {
	Run     string `csv:"run"` // set/run
	Started string `csv:"started"`

	Kind      string            `csv:"kind"`
	Algorithm string            `csv:"algorithm"`
	Options   map[string]string `csv:"*"`
	Nodes     int               `csv:"nodes"`
	Load      string            `csv:"load"`
	Trials    int               `csv:"trials"` // that were judged
	Asked     int               `csv:"trials_asked"`
	Verdict   string            `csv:"verdict"` // of the run; Unfinished; or nothing if that is not known

	EntriesPerS      results.Figure `csv:"entries_per_s"`
	MessagesPerEntry results.Figure `csv:"messages_per_entry"`
	WaitUSP50        results.Figure `csv:"wait_us_p50"`
	WaitUSP99        results.Figure `csv:"wait_us_p99"`
	Elections        results.Figure `csv:"elections"`
	ElectUSP50       results.Figure `csv:"elect_us_p50"`

	Problem string `csv:"problem"` // why some of this is missing, if it is
}

// Unfinished is the verdict, in an overview, of a run that goes on, or whose orchestrator was killed.
const Unfinished = "unfinished"

// ReadOverview reads what the folder of a run says of it. Whatever is damaged is named as the problem, and
// the rest is read all the same.
func ReadOverview(folder *results.Folder) *Overview {
	o := &Overview{Run: folder.Ref()}
	rows, wrongRows := folder.Rows()
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
	o.measure(rows)
	if err := cmp.Or(wrong, wrongRows); err != nil {
		o.Problem = err.Error()
	}
	return o
}

// describe fills in what run.yaml says.
func (o *Overview) describe(r *Record) {
	asked := r.asked()
	o.Started = r.Started.Format(time.RFC3339)
	o.Kind, o.Algorithm, o.Options, o.Nodes = asked.Kind, asked.Algorithm, asked.Options, asked.Nodes
	o.Load, o.Trials, o.Asked = asked.Load, len(r.Trials), r.Options.Trials
	if r.Unfinished() {
		o.Verdict = Unfinished
		return
	}
	worst := check.Valid
	if len(r.Trials) < max(1, r.Options.Trials) {
		worst = check.Inconclusive
	}
	for _, t := range r.Trials {
		worst = max(worst, outcomeOf(t.Verdict))
	}
	o.Verdict = worst.String()
}

// describeAs fills in what the rows of a run say whose run.yaml cannot be read: that of an older Turnstile.
func (o *Overview) describeAs(rows []results.Row, folder *results.Folder) {
	first := &rows[0]
	if info, err := os.Stat(folder.File(results.RowsFile)); err == nil {
		o.Started = info.ModTime().UTC().Format(time.RFC3339)
	}
	o.Kind, o.Algorithm, o.Options, o.Nodes = first.Kind, first.Algorithm, first.Options, first.Nodes
	o.Load, o.Trials = first.Load, len(rows)
	worst := check.Valid
	for i := range rows {
		worst = max(worst, outcomeOf(rows[i].Verdict))
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

// measure fills in the figures.
func (o *Overview) measure(rows []results.Row) {
	median := func(of func(r *results.Row) results.Figure) results.Figure {
		var known []results.Figure
		for i := range rows {
			if f := of(&rows[i]); f.Known() {
				known = append(known, f)
			}
		}
		return results.MedianFigure(known)
	}
	o.EntriesPerS = median(func(r *results.Row) results.Figure { return r.EntriesPerS })
	o.MessagesPerEntry = median(func(r *results.Row) results.Figure { return r.MessagesPerEntry })
	o.WaitUSP50 = median(func(r *results.Row) results.Figure { return r.WaitUSP50 })
	o.WaitUSP99 = median(func(r *results.Row) results.Figure { return r.WaitUSP99 })
	o.Elections = median(func(r *results.Row) results.Figure { return r.Elections })
	o.ElectUSP50 = median(func(r *results.Row) results.Figure { return r.ElectUSP50 })
}
