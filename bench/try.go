package bench

import (
	"context"
	"errors"
	"fmt"

	"turnstile/chaos"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/nodes/history"
)

// A Tried is what came of a trial that was made alone.
type Tried struct {
	Verdict  check.Verdict
	Measures *measure.Measures
	Faults   []chaos.Fault     // as TrialRecord has them
	Rows     []measure.OfFault // what the faults did
	Folder   string            // of a run of processes

	Led       *leadership.Fold // of a simulated run about leaders
	simulated *simulatedTrial
}

// Try makes a run that has one trial. Of one on virtual time nothing is stored. An error says why it could
// not be made as it was to be; what there is of a run of processes comes with it.
func Try(ctx context.Context, j *Job, s Setup) (*Tried, error) {
	if !j.Simulated {
		return j.tryReal(ctx, s)
	}
	t, err := Simulate(ctx, j)
	if err != nil {
		return nil, err
	}
	t.simulated.lead()
	if faults := t.simulated.judgement.faults; faults != nil {
		t.Rows = faults.Rows(faultIn(t.Faults), t.Measures.Leaders)
	}
	return t, nil
}

// Simulate makes a trial on virtual time, of which nothing is stored. Its history goes to folds as well. The
// figures about leaders, and what the faults did, are left out: they take longer than a short trial.
func Simulate(ctx context.Context, j *Job, folds ...history.Fold) (*Tried, error) {
	got, err := j.simulated(ctx, 0, j.Seed, history.Header{Nodes: j.total()}, folds...)
	if err == nil {
		err = got.result.Cut
	}
	if err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	return &Tried{Verdict: got.checks.Verdict(), Measures: &got.measures.Measures, Faults: got.faults,
		Led: got.checks.Leaders(), simulated: got}, nil
}

// tryReal is Try of a run of processes.
func (j *Job) tryReal(ctx context.Context, s Setup) (*Tried, error) {
	r, err := Make(ctx, j, s)
	if r == nil {
		return nil, err
	}
	t := &Tried{Folder: r.Folder.Ref()}
	if len(r.Trials) == 0 {
		return t, errors.Join(err, errors.New("it has no trial"))
	}
	one := r.Trials[0]
	t.Verdict, t.Measures, t.Faults = one.Verdict, one.Measures, r.Record.Trials[0].Faults
	for i := range one.Faults {
		t.Rows = append(t.Rows, one.Faults[i].OfFault)
	}
	if err == nil && one.Trouble != "" {
		err = errors.New(one.Trouble)
	}
	return t, err
}
