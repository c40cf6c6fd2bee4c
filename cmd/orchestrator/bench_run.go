package main

import (
	"context"
	"fmt"
	"time"

	"turnstile/bench"
	"turnstile/bench/report"
	"turnstile/internal/english"
	"turnstile/results"
)

// bench makes the run that c asks for, shows its progress, and reports on it. It returns no run if none
// began.
func (a *app) bench(ctx context.Context, c *benchCall) (*bench.Run, error) {
	r, err := a.begin(ctx, c)
	if r == nil {
		return nil, err
	}
	if err := a.tell(c, r, err); err != nil {
		return r, err
	}
	a.judgeRequired(c, r)
	return r, nil
}

// begin makes the run that c asks for, and shows its progress.
func (a *app) begin(ctx context.Context, c *benchCall) (*bench.Run, error) {
	equip(&c.setup)
	c.setup.Control, c.setup.ControlKey = c.control.url, c.control.key
	out := report.New(a.stdout)
	bar := a.newBar(c.noProgress, c.takes())
	begun := false
	c.setup.Progress = func(p bench.Progress) {
		if !begun && !c.json {
			out.Header(&c.Job, results.ThisMachine())
		}
		begun = true
		bar.show(p.Done, progressText(p, c.Trials))
	}
	c.setup.OnTrial = func(t *bench.Trial) {
		bar.clear()
		if !c.json && c.Trials > 1 {
			out.Trial(&t.Row, 1)
		}
	}
	r, err := bench.Make(ctx, &c.Job, c.setup)
	a.checkDisk(err)
	bar.clear()
	if r != nil && !begun && !c.json {
		out.Header(&c.Job, results.ThisMachine())
	}
	return r, err
}

// takes returns how long the run takes at least, as far as that is known before: real time passes as asked.
func (c *benchCall) takes() time.Duration {
	if c.Simulated || c.Entries > 0 {
		return 0
	}
	return time.Duration(c.Trials) * (c.Warmup + c.Duration)
}

// tell reports on a run that ended with err, which may be nil.
func (a *app) tell(c *benchCall, r *bench.Run, err error) error {
	if c.json {
		if err := report.JSON(a.stdout, r.Summary()); err != nil {
			return failure{err, exitStatus(r, err)}
		}
	} else {
		report.New(a.stdout).Summary(r.Summary())
	}
	a.status = exitStatus(r, err)
	if err != nil && !told(r, err) {
		fmt.Fprintf(a.stderr, "orchestrator: %v\n", err)
	}
	return nil
}

// progressText says in one line how far a run of so many trials has come.
func progressText(p bench.Progress, trials int) string {
	text := p.Phase
	if trials > 1 {
		text = fmt.Sprintf("trial %d of %d: %s", p.Trial, trials, p.Phase)
	}
	if p.Entries > 0 {
		text += fmt.Sprintf(", %s entries", english.Thousands(float64(p.Entries)))
	}
	if p.PerSecond > 0 {
		text += fmt.Sprintf(", %s/s", english.Thousands(p.PerSecond))
	}
	return text
}

// told reports whether the trials of r say already what err says.
func told(r *bench.Run, err error) bool {
	n := len(r.Trials)
	return n > 0 && r.Trials[n-1].Trouble == err.Error()
}
