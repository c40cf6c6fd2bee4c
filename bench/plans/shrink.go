package plans

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/ddmin"
	"turnstile/internal/english"
	"turnstile/judge/check"
	"turnstile/nodes/sim"
)

// A Failure is how a run failed: the worst finding of its verdict.
type Failure struct {
	Check   string
	Outcome check.Outcome
	Outside bool // an assumption of the algorithm was broken before the failure
}

// failureOf returns how a run failed.
func failureOf(v *check.Verdict) Failure {
	worst := v.Worst()
	return Failure{worst.Check, worst.Outcome, worst.OutsideModel}
}

// Shrunk is the result of shrinking a plan.
type Shrunk struct {
	Failure Failure
	Reason  string        // the reason of the verdict under the shrunken plan
	Steps   []string      // the evidence of that verdict
	Faults  []chaos.Fault // each takes place once, and has a seed
	From    int           // how many faults the plan had
	Tries   int           // number of runs made
}

// mostTries is how many runs shrinking a plan may take.
const mostTries = 2000

// Shrink returns faults of a simulated run that suffice to make it fail in the same way, shortened and
// simplified. Each fault has its own seed, so its random draws do not depend on the other faults. Shrink
// returns nil if the run is valid.
func Shrink(ctx context.Context, j *bench.Job) (*Shrunk, error) {
	verdict, faults, err := verdictOf(ctx, j)
	if err != nil || verdict.Outcome == check.Valid {
		return nil, err
	}
	s := shrinker{ctx: ctx, job: j}
	s.Failure, s.From = failureOf(verdict), len(faults)
	s.keep(faults, verdict)
	for i := range s.Faults {
		s.Faults[i].Hit = nil // without the other faults, this fault may hit other victims
	}
	s.Faults = ddmin.Reduce(s.Faults, 1, s.fails)
	Shorten(s.Faults, time.Millisecond, s.fails)
	if s.err == nil {
		s.err = ctx.Err()
	}
	return &s.Shrunk, s.err
}

// verdictOf makes a simulated run, and returns its verdict and the faults that took place, one for each
// repetition. A panic of a machine is a violation.
func verdictOf(ctx context.Context, j *bench.Job) (*check.Verdict, []chaos.Fault, error) {
	t, err := bench.Simulate(ctx, j)
	var p *sim.Panic
	switch {
	case errors.As(err, &p):
		f := check.Finding{Check: "panic", Outcome: check.Violated, Says: p.Error()}
		faults, err := j.FaultsAsked(1, j.Seed)
		return &check.Verdict{Outcome: check.Violated, Reason: f.Says, Findings: []check.Finding{f}}, faults, err
	case err != nil:
		return nil, nil, err
	}
	return &t.Verdict, t.Faults, nil
}

// A shrinker shrinks a plan.
type shrinker struct {
	Shrunk
	ctx context.Context
	job *bench.Job
	err error // error of a run that could not be made
}

// fails reports whether the run fails in the same way under some faults, and keeps the faults if so.
func (s *shrinker) fails(faults []chaos.Fault) bool {
	if s.err != nil || s.ctx.Err() != nil || s.Tries >= mostTries {
		return false
	}
	s.Tries++
	j, err := s.job.Under(faults)
	var v *check.Verdict
	if err == nil {
		v, _, err = verdictOf(s.ctx, j)
	}
	if err != nil {
		if s.ctx.Err() == nil {
			s.err = fmt.Errorf("shrinking: %w", err)
		}
		return false
	}
	if v.Outcome == check.Valid || failureOf(v) != s.Failure {
		return false
	}
	s.keep(faults, v)
	return true
}

// keep takes faults under which the run fails, and its verdict.
func (s *shrinker) keep(faults []chaos.Fault, v *check.Verdict) {
	s.Faults, s.Reason, s.Steps = faults, v.Reason, v.Worst().Witness
}

// Shorten shortens and simplifies faults while a run with them still fails, but makes none shorter than
// shortest. fails makes a run, and keeps the faults if it fails.
func Shorten(faults []chaos.Fault, shortest time.Duration, fails func([]chaos.Fault) bool) {
	change := func(i int, change func(*chaos.Fault) bool) bool {
		changed := slices.Clone(faults)
		if !change(&changed[i]) || !fails(changed) {
			return false
		}
		faults = changed
		return true
	}
	for i := range faults {
		change(i, func(f *chaos.Fault) bool {
			if !effect.Forgets(f.Effect) {
				return false
			}
			f.Effect = effect.Remembering(f.Effect)
			return true
		})
		for change(i, func(f *chaos.Fault) bool {
			f.For = (f.For / 2).Truncate(time.Millisecond)
			return f.For >= shortest
		}) {
		}
	}
}

// File returns the shrunken plan as the text of a file, with lines as comments above it.
func (s *Shrunk) File(lines ...string) (string, error) {
	var b bytes.Buffer
	for _, line := range lines {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	if len(s.Faults) == 0 {
		b.WriteString("# It fails without any fault.\n")
		return b.String(), nil
	}
	about := fmt.Sprintf("What is left of a plan of %s: %s.", english.Count(s.From, "fault", "faults"),
		s.Reason)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(chaos.Plan{About: about, Faults: s.Faults})
	return b.String(), err
}

// ShrunkFile shrinks the plan of a simulated run that failed. It returns the steps of the failure under that
// plan, and the plan as a file that says how to repeat the run with a program; nothing if the run is valid.
func ShrunkFile(ctx context.Context, j *bench.Job, program string) (steps []string, file string, err error) {
	s, err := Shrink(ctx, j)
	if err != nil || s == nil {
		return nil, "", err
	}
	file, err = s.File(
		fmt.Sprintf("Shrunk from %s to %d by %s.", english.Count(s.From, "fault", "faults"), len(s.Faults),
			english.Count(s.Tries, "run", "runs")),
		"Save this as shrunk.yaml, and run:",
		program+" "+strings.Join(bench.Words(j.Spec, &j.Options, false, "./shrunk.yaml"), " "))
	return s.Steps, file, err
}
