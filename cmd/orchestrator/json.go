package main

import (
	"encoding/json"
	"fmt"
	"io"

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
}

type trialDocument struct {
	Trial    int           `json:"trial"`
	Verdict  check.Verdict `json:"verdict"`
	Trouble  string        `json:"trouble,omitempty"`
	Stall    string        `json:"stall,omitempty"`
	Row      object        `json:"row"`
	Messages []object      `json:"messages"`
}

// writeJSON prints r as one JSON document.
func writeJSON(w io.Writer, r *bench.Run) error {
	d := document{Run: r.Folder.Ref(), Path: r.Folder.Path, Verdict: r.Outcome(), Trials: []trialDocument{}}
	text, err := yaml.Marshal(r.Record)
	if err == nil {
		err = yaml.Unmarshal(text, &d.Record)
	}
	if err != nil {
		return fmt.Errorf("printing the record: %w", err)
	}
	rows := r.Rows()
	for i, t := range r.Trials {
		doc := trialDocument{Trial: t.Number, Verdict: t.Verdict, Trouble: t.Trouble, Stall: t.Stall,
			Row: objectOf(rows[i])}
		for _, m := range t.Measures.MessageRows(r.Spec.Codec()) {
			doc.Messages = append(doc.Messages, objectOf(m))
		}
		d.Trials = append(d.Trials, doc)
	}
	return printJSON(w, d)
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
	var bounds []string
	for header, cell := range results.Cells(row) {
		o[header] = cell
		if f, ok := cell.(results.Figure); ok {
			o[header] = nil
			if x, known := f.Value(); known {
				o[header] = x
			}
			if f.IsBound() {
				bounds = append(bounds, header)
			}
		}
	}
	if bounds != nil {
		o["at_least"] = bounds
	}
	return o
}
