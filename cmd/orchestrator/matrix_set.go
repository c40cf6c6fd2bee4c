package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"turnstile/bench/experiment"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/judge/check"
)

// A matrixOfSet is a matrix whose runs are those of a sweep.
type matrixOfSet interface {
	Resolve() error
	Takes(context.Context) experiment.Length
	Judge(context.Context) error
}

// makeMatrix makes the runs of a matrix that its set lacks, and judges all. interrupted says that some
// are left.
func (a *app) makeMatrix(ctx context.Context, m matrixOfSet, s *experiment.Sweep,
	noProgress bool) (interrupted, err error) {
	if err := m.Resolve(); err != nil {
		return nil, err
	}
	if len(s.Cells) > 0 {
		interrupted = a.makeSet(ctx, s, m.Takes, noProgress)
		if interrupted != nil && !errors.Is(interrupted, context.Canceled) {
			return nil, interrupted
		}
	}
	return interrupted, m.Judge(context.WithoutCancel(ctx))
}

// A notRun is a case of a matrix of services that cannot be run: of which service, and why.
type notRun struct {
	service string
	err     error
}

// tellNotRun says which of so many cases cannot be run, each reason once. It is an error if none can.
func (a *app) tellNotRun(out []notRun, cases int) error {
	var all []string
	for _, x := range out {
		all = append(all, fmt.Sprintf("%s: %v", x.service, x.err))
	}
	if all = distinct(all); len(out) == cases {
		return fmt.Errorf("nothing of this can be run: %s", strings.Join(all, "; "))
	}
	for _, why := range all {
		fmt.Fprintf(a.stdout, "not run  %s\n", why)
	}
	return nil
}

// tellTable says where the table of a matrix is, or why it could not be written, and whether runs are left.
func (a *app) tellTable(path string, wrong, interrupted error) error {
	if wrong != nil {
		return failure{wrong, unwritten}
	}
	fmt.Fprintf(a.stdout, "The table is %s.\n", path)
	if interrupted != nil {
		fmt.Fprintln(a.stdout, "interrupted: the same command goes on with the runs that are left")
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// makeSet makes the runs of a matrix of services that its set does not have.
func (a *app) makeSet(ctx context.Context, m *experiment.Sweep,
	takes func(context.Context) experiment.Length, noProgress bool) error {
	before, left, err := m.Prepare()
	if err != nil {
		return unreadable(err)
	}
	fmt.Fprintf(a.stdout, "%s, %d of them in the set", english.Count(before+left, "run", "runs"), before)
	if left == 0 {
		fmt.Fprintln(a.stdout)
		return nil
	}
	length := takes(ctx)
	fmt.Fprintf(a.stdout, "; %d to make take about %s\n", left, format.Duration(length.High.Round(time.Second)))
	unlock, err := m.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, _, err = m.Prepare(); err != nil { // another may have made some meanwhile
		return unreadable(err)
	}
	bar := a.newBarFrom(noProgress, firstLine(length.Low))
	m.Progress = func(done, all int, r *experiment.Result) {
		a.checkDisk(r.Err)
		bar.show(float64(done)/float64(all), fmt.Sprintf("run %d of %d", done, all))
	}
	runs, err := m.Make(ctx)
	bar.clear()
	for _, r := range runs {
		if r.Err != nil {
			fmt.Fprintf(a.stdout, "TROUBLE  %s: %v\n", r.Config.Options["service"], r.Err)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return failure{err, unwritten}
	}
	return err
}
