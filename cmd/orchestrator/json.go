package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/results"
)

// A document is what --json prints of a run.
type document struct {
	Run     string          `json:"run"`
	Path    string          `json:"path"`
	Verdict check.Outcome   `json:"verdict"` // the worst of its trials
	Record  any             `json:"record"`  // run.yaml
	Trials  []trialDocument `json:"trials"`
	All     together        `json:"all_trials"`
	// Unjudged are, of verify, the trials that cannot be judged, since their histories cannot be read.
	Unjudged []unjudgedDocument `json:"unjudged,omitempty"`
	// Changed are those files of a stored run that were changed after it was over.
	Changed []string     `json:"changed,omitempty"`
	Tables  *bench.Audit `json:"tables,omitempty"` // of verify: where they differ from the histories, if they do
}

type trialDocument struct {
	Trial    int           `json:"trial"`
	Verdict  check.Verdict `json:"verdict"`
	Trouble  string        `json:"trouble,omitempty"`
	Stall    string        `json:"stall,omitempty"`
	Row      object        `json:"row"`
	Messages []object      `json:"messages"`
	Faults   []object      `json:"faults,omitempty"`   // faults.csv
	Timeline []object      `json:"timeline,omitempty"` // timeline.csv
	Beliefs  []object      `json:"beliefs,omitempty"`  // beliefs.csv
}

type unjudgedDocument struct {
	Trial int    `json:"trial"`
	Error string `json:"error"`
}

// writeJSON prints s as one JSON document.
func writeJSON(w io.Writer, s *bench.Summary) error {
	d, err := documentOf(s)
	if err != nil {
		return err
	}
	return printJSON(w, d)
}

func documentOf(s *bench.Summary) (*document, error) {
	d := &document{Run: s.Folder.Ref(), Path: s.Folder.Path, Verdict: s.Outcome(), Trials: []trialDocument{},
		All: togetherOf(s), Changed: s.Changed}
	text, err := yaml.Marshal(s.Record)
	if err == nil {
		err = yaml.Unmarshal(text, &d.Record)
	}
	if err != nil {
		return nil, fmt.Errorf("printing the record: %w", err)
	}
	for i, row := range s.Rows {
		doc := trialDocument{Trial: row.Trial, Verdict: s.Verdicts[i],
			Trouble: s.Record.Trials[row.Trial-1].Trouble, Stall: s.Stalls[i], Row: objectOf(row)}
		for _, m := range s.Messages {
			if m.Trial == row.Trial {
				doc.Messages = append(doc.Messages, objectOf(m))
			}
		}
		for _, f := range s.Faults {
			if f.Trial == row.Trial {
				doc.Faults = append(doc.Faults, objectOf(f))
			}
		}
		for _, interval := range s.Timeline {
			if interval.Trial == row.Trial {
				doc.Timeline = append(doc.Timeline, objectOf(interval))
			}
		}
		for _, b := range s.Beliefs {
			if b.Trial == row.Trial {
				doc.Beliefs = append(doc.Beliefs, objectOf(b))
			}
		}
		d.Trials = append(d.Trials, doc)
	}
	for _, u := range s.Unjudged {
		d.Unjudged = append(d.Unjudged, unjudgedDocument{u.Trial, u.Why.Error()})
	}
	return d, nil
}

func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// An object is a row of a table as JSON has it: by header, null for what was not measured. Of figures
// that are lower bounds only, the headers are listed under "at_least".
type object map[string]any

func objectOf(row any) object {
	o := object{}
	for header, cell := range results.Cells(row) {
		if f, is := cell.(results.Figure); is {
			o.put(header, f)
		} else {
			o[header] = cell
		}
	}
	return o
}

func objectOfFigures(figures map[string]results.Figure) object {
	o := object{}
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		o.put(name, figures[name])
	}
	return o
}

// put adds a figure.
func (o object) put(name string, f results.Figure) {
	o[name] = nil
	if x, known := f.Value(); known {
		o[name] = x
	}
	if f.IsBound() {
		bounds, _ := o["at_least"].([]string)
		o["at_least"] = append(bounds, name)
	}
}
