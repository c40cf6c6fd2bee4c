package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/internal/proc"
	"turnstile/nodes/history"
)

// A Repetition compares the histories of a simulated run with those of the same run made again.
type Repetition struct {
	Events      uint64   `json:"events"`            // how many events are equal
	Differences []string `json:"differences"`       // where a history of a trial differs first
	Unknown     string   `json:"unknown,omitempty"` // why the run, or a trial of it, was not compared
}

// Again makes a reopened simulated run again, from its record and in a temporary folder.
func (r *Run) Again(ctx context.Context, known catalog.Table) *Repetition {
	all := &Repetition{Differences: []string{}}
	if err := all.repeat(ctx, known, r); err != nil {
		all.Unknown = err.Error()
	}
	return all
}

// repeat makes the run again, and compares the trials. It returns an error if not all could be compared.
func (p *Repetition) repeat(ctx context.Context, known catalog.Table, r *Run) error {
	if !r.Record.Simulated {
		return errors.New("it is a run of processes, and those never repeat every event")
	}
	j, err := bench.Resolve(known, r.Record.Options, r.Spec, true)
	if err != nil {
		return err
	}
	root, err := proc.TempDir("again")
	if err != nil {
		return err
	}
	defer proc.RemoveTemp(root)
	again, made := Make(ctx, j, Setup{Results: root, Set: "again"})
	if again == nil || ctx.Err() != nil {
		return cmp.Or(made, ctx.Err())
	}
	for i, t := range r.Record.Trials {
		if t.Interrupted() {
			return fmt.Errorf("trial %d was interrupted", i+1)
		}
		if err := p.compare(i+1, r, again); err != nil {
			return errors.Join(fmt.Errorf("trial %d: %w", i+1, err), made)
		}
	}
	return nil
}

// compare compares the histories of a trial.
func (p *Repetition) compare(trial int, of, again *Run) error {
	var both [2]*history.Reader
	for i, r := range []*Run{of, again} {
		var err error
		if both[i], err = r.Folder.History(trial); err != nil {
			return err
		}
		defer both[i].Close()
	}
	says, same, err := both[0].Difference(both[1])
	if p.Events += same; says != "" {
		p.Differences = append(p.Differences, fmt.Sprintf("trial %d: %s", trial, says))
	}
	return err
}
