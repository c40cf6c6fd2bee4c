package study

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/bench/plans"
	"turnstile/bench/service"
	"turnstile/chaos"
)

// huntLease is the scale for the times of faults and holds if servers grant no time.
const huntLease = time.Second

// drawTries is how often options and faults are drawn anew if the service refuses them.
const drawTries = 20

// draw draws the plan with a number, from 0: the services take turns. The plan depends only on the seed, the
// number, the services and the options that they declare.
func (h *Hunt) draw(ctx context.Context, number int) (*ServiceLine, *bench.Job, error) {
	d := plans.NewDraws(h.Seed, number)
	var failed error
	for range drawTries {
		l := &ServiceLine{Service: h.Services[number%len(h.Services)]}
		l.Nodes = pick(&d, 1, 2, 2, 3, 3, 3, 4, 5, 6)
		l.With = drawWords(&d, h.Draws(l.Service), h.Known != nil)
		subject, err := h.Subject(ctx, l.Service, l.With, l.Nodes)
		if err == nil {
			studyOf(subject.Spec).drawLoad(l, &d, subject)
			if h.Client != "" && l.Hold > subject.lease() && d.Below(4) > 0 { // else such holds hide all else
				l.Hold = subject.lease() / 2
			}
			l.drawFaults(&d, subject)
			var j *bench.Job
			if j, err = l.Job(subject, d.Bits()>>32); err == nil {
				return l, j, nil
			}
		}
		if failed = err; ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	return nil, nil, fmt.Errorf("seed %d, plan %d: none of %d draws is valid: %w", h.Seed, number, drawTries,
		failed)
}

func pick[V any](d *plans.Draws, values ...V) V { return values[d.Below(len(values))] }

// drawWords draws options, such as ttl=3s. Some plans draw most options, and others leave most at their
// defaults. Only if ignores is set, some clients ignore that their lock is lost: what they break then is no
// unknown failure of a service.
func drawWords(d *plans.Draws, options []service.Draw, ignores bool) (words []string) {
	const quarters = 4
	most := 1 + d.Below(quarters)
	for _, o := range options {
		if d.Below(quarters) >= most || o.Name == service.ObeyOption && !ignores {
			continue
		}
		if value := pick(d, o.Values...); value != o.Default {
			words = append(words, o.Name+"="+value)
		}
	}
	return words
}

// lease is the time that servers grant, or huntLease.
func (s *ServiceSubject) lease() time.Duration { return cmp.Or(s.Granted, huntLease) }

// drawLoad draws the load of a lock. Clients hold the lock for no longer than the documentation allows.
func (l *ServiceLine) drawLoad(d *plans.Draws, s *ServiceSubject) {
	lease := s.lease()
	holds := []time.Duration{0, time.Millisecond, 10 * time.Millisecond, lease / 8, lease / 4, lease * 6 / 10,
		lease * 99 / 100, lease * 11 / 10, lease * 3 / 2, lease * 2}
	l.Hold = pick(d, slices.DeleteFunc(holds, func(hold time.Duration) bool {
		return s.Holds > 0 && hold > s.Holds*6/10 || hold*time.Duration(l.Nodes) > longestRound
	})...).Truncate(time.Millisecond)
	l.Demands = d.Below(4) == 0 && s.Spec.Fenced
	if s.Spec.Cancels && d.Below(4) == 0 {
		l.CancelAfter = pick(d, lease/8, lease/2, lease*11/10).Truncate(time.Millisecond)
	}
	if d.Below(3) == 0 {
		l.Think = pick(d, 5*time.Millisecond, 50*time.Millisecond, lease/2, lease)
	}
}

// longestRound is how long all clients together may be inside once each, which a run waits for at its end.
const longestRound = 8 * time.Second

// huntSlack is added to the time that a run is measured after its last fault: to a lease, after which another
// client enters.
const huntSlack = 700 * time.Millisecond

// longestDrawn is longer than a drawn run.
const longestDrawn = 5 * time.Minute

// drawFaults draws the faults, and has the run measured until they are over, and what they leave behind too.
// Some runs go on, until no fault explains a failure any more.
func (l *ServiceLine) drawFaults(d *plans.Draws, s *ServiceSubject) {
	scene := &chaos.Scene{Spec: s.Spec, Config: s.Config, Measured: longestDrawn, Servers: s.Servers}
	if d.Below(8) == 0 && scene.HasMinority() { // do clients enter while one server is down?
		l.Hold, l.Think, l.CancelAfter, l.Duration = 10*time.Millisecond, 0, 0, scene.MinorityRun()
		scene.Measured = l.Duration
		l.Faults = chaos.MinorityPlan(scene, d.Bits()).Faults
		return
	}
	of := studyOf(s.Spec)
	pace := chaos.Pace{Lease: s.lease(), Each: l.Hold + l.Think/time.Duration(l.Nodes),
		Calm: of.needsCalm || d.Below(4) == 0}
	l.Faults = chaos.ServerPlan(scene, pace, d.Bits()).Faults
	l.Duration = pace.Over(l.Faults) + huntSlack + s.lease()
	if pace.Calm {
		l.Duration += s.Spec.GraceOf(s.Config)
	}
}

// loadText describes the load of a drawn run, and how long it is measured.
func (l *ServiceLine) loadText() string {
	text := fmt.Sprintf("%d nodes, hold %v, think %v", l.Nodes, l.Hold, l.Think)
	if l.Demands {
		text += ", fence numbers demanded"
	}
	if l.CancelAfter > 0 {
		text += fmt.Sprintf(", cancelled after %v", l.CancelAfter)
	}
	return fmt.Sprintf("%s, for %v", text, l.Duration)
}
