package bench

import (
	"context"
	"errors"
	"fmt"

	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes/history"
	"turnstile/nodes/stall"
	"turnstile/results"
)

// A Past is a trial of a stored run, whose events and messages are to be read.
type Past struct {
	*Job
	Folder *results.Folder
	Trial  int
	run    *Run
}

// A NoTrial is the error of a trial that a run does not have.
type NoTrial struct{ error }

// OpenPast opens a trial of the run in a folder.
func OpenPast(folder *results.Folder, trial int) (*Past, error) {
	record, err := ReadRecord(folder)
	if err != nil {
		return nil, err
	}
	r := &Run{Folder: folder, Record: *record}
	if r.Job, err = record.job(folder); err != nil {
		return nil, err
	}
	if err := r.checkKinds(); err != nil {
		return nil, err
	}
	if count := len(folder.Histories()); trial < 1 || trial > count {
		return nil, NoTrial{fmt.Errorf("there is no trial %d: run %s has histories of trials 1 to %d", trial,
			folder.Ref(), count)}
	}
	return &Past{r.Job, folder, trial, r}, nil
}

// Fault says what the fault of a number was.
func (p *Past) Fault(number uint32) string { return faultIn(p.run.faults(p.Trial))(int(number)) }

// Read gives the history of the trial, with the messages that are stored, to the fold that is made for it.
func (p *Past) Read(ctx context.Context, fold func(h history.Header) history.Fold) error {
	return p.read(ctx, p.stored, fold)
}

// ReadMessages is Read with all messages that are known. Of a simulated trial they all are: if they are not
// stored, it is simulated again. It is an error if another history comes of that.
func (p *Past) ReadMessages(ctx context.Context, fold func(h history.Header) history.Fold) error {
	if !p.Simulated || p.Trace {
		return p.Read(ctx, fold)
	}
	return p.read(ctx, p.again, fold)
}

// Extract returns what happened in a window of the trial; with messages, as ReadMessages has them.
func (p *Past) Extract(ctx context.Context, w section.Window, messages bool) (*spacetime.Extract, error) {
	read := p.Read
	if messages {
		read = p.ReadMessages
	}
	var fold *spacetime.Fold
	err := read(ctx, func(h history.Header) history.Fold {
		fold = spacetime.New(h, p.Stack, w)
		return fold
	})
	if err != nil {
		return nil, err
	}
	return &fold.Extract, nil
}

// read gives the history of the trial to the fold that is made for it, as from gives it.
func (p *Past) read(ctx context.Context, from func(context.Context, *history.Reader, history.Fold) error,
	fold func(h history.Header) history.Fold) error {
	h, err := p.Folder.History(p.Trial)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := p.run.checkOrigin(p.Trial, h.Header); err != nil {
		return err
	}
	return from(ctx, h, fold(h.Header))
}

// stored gives a history as it is stored to a fold.
func (p *Past) stored(ctx context.Context, h *history.Reader, fold history.Fold) error {
	return h.RunContext(ctx, fold)
}

// again simulates the trial again, and gives that to a fold.
func (p *Past) again(ctx context.Context, h *history.Reader, fold history.Fold) error {
	if p.Trial > len(p.run.Record.Trials) {
		return errors.New("the run ended before this trial did: make it again")
	}
	j := *p.Job
	j.Trace, j.Seed = true, p.run.Record.Trials[p.Trial-1].Seed
	same := &sameAs{stored: h}
	if _, err := Simulate(ctx, &j, same, fold); err != nil {
		return err
	}
	if same.differs {
		return errors.New("its messages are not stored, and another Turnstile has made it, with which it went " +
			"otherwise: make it again, with --trace")
	}
	return nil
}

// A sameAs compares the events of a run with those that are stored of it.
type sameAs struct {
	stored  *history.Reader
	differs bool
}

// Add implements history.Fold.
func (s *sameAs) Add(e history.Event) {
	var was history.Event
	if s.differs {
		return
	}
	more, err := s.stored.Next(&was)
	s.differs = err != nil || !more || was != e
}

// Close implements history.Fold.
func (s *sameAs) Close([]*history.NodeLog) {
	if more, err := s.stored.Next(new(history.Event)); more || err != nil {
		s.differs = true
	}
}

// Stall returns the report of the stall of the trial; none: it did not stall.
func (p *Past) Stall() stall.Reports { return stallsOf(p.Folder)[p.Trial] }

// stallsOf returns the reports of stalls of a stored run, by trial. Nothing is known of them if the verdicts
// cannot be read.
func stallsOf(folder *results.Folder) map[int]stall.Reports {
	var verdicts []check.Verdict
	stalls := map[int]stall.Reports{}
	if folder.ReadVerdicts(&verdicts) == nil {
		for i, v := range verdicts {
			stalls[i+1] = v.Stall
		}
	}
	return stalls
}
