package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/ddmin"
)

// huntRepeats is how often a plan is run that may show a finding: real runs are not determined.
const huntRepeats = 3

// shrinkAll shrinks one finding of each service and check that was not shrunk yet.
func (h *Hunt) shrinkAll(ctx context.Context) error {
	seen := map[string]bool{}
	for _, number := range slices.Sorted(maps.Keys(h.Done)) {
		if one := h.Done[number]; one.Shrunk != nil {
			seen[one.Service+one.About] = true
		}
	}
	for _, number := range slices.Sorted(maps.Keys(h.Done)) {
		one := h.Done[number]
		key := one.Service + one.About
		if one.Class != HuntFinding || seen[key] || one.Command == "" {
			continue
		}
		seen[key] = true
		l, _, err := h.draw(ctx, number)
		if err != nil {
			return err
		}
		s := &huntShrinker{hunt: h, ctx: ctx, of: one, line: *l, try: h.try}
		if err := s.shrink(); err != nil {
			return err
		}
		told := *one
		told.Shrunk, told.Shown = s.best, s.shown
		h.keep(&told)
	}
	return nil
}

// A huntShrinker shrinks the plan of a finding.
type huntShrinker struct {
	hunt  *Hunt
	ctx   context.Context
	of    *Hunted
	line  ServiceLine // the smallest that shows it
	try   func(ctx context.Context, name string, l *ServiceLine, j *bench.Job) *Hunted
	best  *Hunted // its run
	shown string
	tries int
}

func (s *huntShrinker) shrink() error {
	count := 0
	for range huntRepeats {
		if s.once(&s.line) {
			count++
		}
	}
	s.shown = fmt.Sprintf("%d of %d runs of the whole plan show it again", count, huntRepeats)
	if count > 0 {
		ddmin.Reduce(s.line.Faults, 1, func(faults []chaos.Fault) bool {
			l := s.line
			l.Faults = slices.Clone(faults)
			return s.shows(&l)
		})
		s.simplify()
	}
	return s.ctx.Err()
}

// simplify leaves out options, and makes loads and faults simpler.
func (s *huntShrinker) simplify() {
	for _, word := range slices.Clone(s.line.With) {
		l := s.line
		l.With = slices.DeleteFunc(slices.Clone(l.With), func(w string) bool { return w == word })
		s.shows(&l)
	}
	for _, change := range []func(*ServiceLine){func(l *ServiceLine) { l.Demands = false },
		func(l *ServiceLine) { l.Think = 0 }, func(l *ServiceLine) { l.Nodes = 2 },
		func(l *ServiceLine) { l.Hold = time.Millisecond },
		func(l *ServiceLine) { l.Duration = (l.Duration / 2).Truncate(time.Millisecond) }} {
		l := s.line
		if change(&l); fmt.Sprint(l) != fmt.Sprint(s.line) {
			s.shows(&l)
		}
	}
	for i := range s.line.Faults {
		l := s.line
		l.Faults = slices.Clone(l.Faults)
		if f := &l.Faults[i]; f.For > 10*time.Millisecond {
			f.For = (f.For / 2).Truncate(time.Millisecond)
			s.shows(&l)
		}
	}
}

// shows reports whether one of a few runs of a line shows the finding, and keeps the line if one does.
func (s *huntShrinker) shows(l *ServiceLine) bool {
	for range huntRepeats {
		if s.once(l) {
			return true
		}
	}
	return false
}

// once reports whether a run shows the finding. Of the runs that do, the latest is kept.
func (s *huntShrinker) once(l *ServiceLine) bool {
	if s.tries >= s.hunt.Tries || s.ctx.Err() != nil {
		return false
	}
	s.tries++
	subject, err := s.hunt.Subject(s.ctx, l.Service, l.With, l.Nodes)
	if err != nil {
		return false
	}
	j, err := l.Job(subject, chance.Dice(s.hunt.Seed).Of(chance.ForCampaign, s.tries).Bits(chance.Roll{})>>32)
	if err != nil {
		return false
	}
	one := s.try(s.ctx, fmt.Sprintf("plan-%04d-shrunk-%02d", s.of.Plan, s.tries), l, j)
	if one.Class != HuntFinding || one.About != s.of.About {
		return false
	}
	one.Plan = s.of.Plan
	s.line, s.best = *l, one
	return true
}
