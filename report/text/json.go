package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"turnstile/bench/runs"
	"turnstile/internal/figure"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/results"
)

// A Document is the output of --json for a run.
type Document struct {
	Run     string          `json:"run"`
	Path    string          `json:"path"`
	Verdict check.Outcome   `json:"verdict"` // the worst verdict of its trials
	Record  any             `json:"record"`  // the content of run.yaml
	Trials  []trialDocument `json:"trials"`
	All     together        `json:"all_trials"`
	// Unjudged are the trials that verify cannot judge, since their histories cannot be read.
	Unjudged []unjudgedDocument `json:"unjudged,omitempty"`
	// Changed are the files of a stored run that were changed after it ended.
	Changed []string    `json:"changed,omitempty"`
	Tables  *runs.Audit `json:"tables,omitempty"` // only for verify; nil if the tables agree with the histories
}

type trialDocument struct {
	Trial     int           `json:"trial"`
	Verdict   check.Verdict `json:"verdict"`
	Trouble   string        `json:"trouble,omitempty"`
	Stall     string        `json:"stall,omitempty"`
	Row       Object        `json:"row"`
	Messages  []Object      `json:"messages"`
	Faults    []Object      `json:"faults,omitempty"`    // rows of faults.csv
	Timeline  []Object      `json:"timeline,omitempty"`  // rows of timeline.csv
	Sizes     []Object      `json:"sizes,omitempty"`     // rows of sizes.csv
	Resources []Object      `json:"resources,omitempty"` // rows of resources.csv
	Beliefs   []Object      `json:"beliefs,omitempty"`   // rows of beliefs.csv
}

type unjudgedDocument struct {
	Trial int    `json:"trial"`
	Error string `json:"error"`
}

// JSON prints s as one JSON document.
func JSON(w io.Writer, s *runs.Summary) error {
	d, err := DocumentOf(s)
	if err != nil {
		return err
	}
	return terminal.PrintJSON(w, d)
}

// DocumentOf returns the document that JSON prints. It returns an error if the record cannot be written as
// YAML.
func DocumentOf(s *runs.Summary) (*Document, error) {
	d := &Document{Run: s.Folder.Ref(), Path: s.Folder.Path, Verdict: s.Outcome(), Trials: []trialDocument{},
		All: togetherOf(s), Changed: s.Changed}
	text, err := yaml.Marshal(s.Record)
	if err == nil {
		err = yaml.Unmarshal(text, &d.Record)
	}
	if err != nil {
		return nil, fmt.Errorf("printing the record: %w", err)
	}
	phases := results.PhaseRows(s.Faults)
	for i, row := range s.Rows {
		doc := trialDocument{Trial: row.Trial, Verdict: s.Verdicts[i],
			Trouble: s.Record.Trials[row.Trial-1].Trouble, Stall: s.Verdicts[i].Stall.String(), Row: ObjectOf(row),
			Messages:  objectsOf(s.Messages, row.Trial, func(r *results.MessageRow) int { return r.Trial }),
			Sizes:     objectsOf(s.Sizes, row.Trial, func(r *results.SizeRow) int { return r.Trial }),
			Resources: objectsOf(s.Resources, row.Trial, func(r *results.ResourceRow) int { return r.Trial }),
			Faults:    objectsOf(phases, row.Trial, func(r *results.PhaseRow) int { return r.Trial }),
			Timeline:  objectsOf(s.Timeline, row.Trial, func(r *results.IntervalRow) int { return r.Trial }),
			Beliefs:   objectsOf(s.Beliefs, row.Trial, func(r *results.BeliefRow) int { return r.Trial })}
		d.Trials = append(d.Trials, doc)
	}
	for _, u := range s.Unjudged {
		d.Unjudged = append(d.Unjudged, unjudgedDocument{u.Trial, u.Why.Error()})
	}
	return d, nil
}

// An Object is a row of a table in JSON, by header of the columns. A figure that was not measured is null.
// The headers of figures that are only lower bounds are listed under "at_least".
type Object map[string]any

// ObjectOf returns a row of a table as an Object.
func ObjectOf(row any) Object {
	o := Object{}
	for header, cell := range results.Cells(row) {
		if f, is := cell.(figure.Figure); is {
			o.put(header, f)
		} else {
			o[header] = cell
		}
	}
	return o
}

// objectsOf returns the rows of a trial.
func objectsOf[R any](rows []R, trial int, trialOf func(*R) int) (all []Object) {
	for _, row := range ofTrial(rows, trial, trialOf) {
		all = append(all, ObjectOf(row))
	}
	return all
}

func objectOfFigures(figures map[string]figure.Figure) Object {
	o := Object{}
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		o.put(name, figures[name])
	}
	return o
}

// put adds a figure.
func (o Object) put(name string, f figure.Figure) {
	o[name] = nil
	if x, known := f.Value(); known {
		o[name] = x
	}
	if f.IsBound() {
		bounds, _ := o["at_least"].([]string)
		o["at_least"] = append(bounds, name)
	}
}

// A together has figures over all trials of a run, as in the summary.
type together struct {
	Latencies map[string]Object `json:"latencies"` // by tag in latency.hlog: count, quantiles in microseconds
	Figures   map[string]Object `json:"figures"`   // by column of runs.csv: median, least, most and trials
}

// togetherOf returns the figures of all trials of s together. It leaves out figures that no trial has
// measured.
func togetherOf(s *runs.Summary) together {
	t := together{Latencies: map[string]Object{}, Figures: map[string]Object{}}
	for tag := range s.Latencies {
		if strings.HasSuffix(tag, measure.OpenSuffix) {
			continue // the histogram of the tag without the suffix has these waits too
		}
		all := measure.LatencyOf(s.Latencies, tag)
		figures := map[string]figure.Figure{}
		for _, q := range quantiles {
			figures["us_"+q.column] = all.MicrosAt(q.q)
		}
		t.Latencies[tag] = objectOfFigures(figures)
		t.Latencies[tag]["count"] = all.Count()
	}
	rows := table(s.Rows)
	for _, column := range figureColumns() {
		if of := rows.of(results.Column(column)); of.known > 0 {
			t.Figures[column] = objectOfFigures(map[string]figure.Figure{
				"median": of.median, "least": of.least, "most": of.most})
			t.Figures[column]["trials"] = of.known
		}
	}
	return t
}

// figureColumns returns the columns of runs.csv that hold figures.
func figureColumns() (columns []string) {
	for header, cell := range results.Cells(results.Row{}) {
		if _, is := cell.(figure.Figure); is {
			columns = append(columns, header)
		}
	}
	return columns
}
