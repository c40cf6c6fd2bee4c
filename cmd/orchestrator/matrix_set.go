package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"turnstile/bench/experiment"
	"turnstile/internal/english"
	"turnstile/internal/format"
)

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
