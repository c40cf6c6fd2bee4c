package play

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"turnstile/nodes/replay"
)

// A walk chooses steps as a run would take them: each message, timer and client gets a time at which it is
// due when it is first seen, and the earliest comes next.
type walk struct {
	dice *rand.Rand
	now  time.Duration
	due  map[string]time.Duration // by what may happen
}

func newWalk() *walk {
	return &walk{dice: rand.New(rand.NewPCG(1, 1)), due: map[string]time.Duration{}}
}

// Times of a walk, on average.
const (
	walkLatency  = time.Millisecond
	walkHold     = 3 * time.Millisecond
	walkThink    = 10 * time.Millisecond
	walkSuspects = 5 * time.Millisecond
)

// Next takes a step that the session chooses, if one can be taken: by drawn times (latency) or any (random).
// It takes no faults.
func (s *Session) Next(by string) error {
	s.stage.Start()
	steps := s.natural()
	if len(steps) == 0 || s.stage.Found() != nil {
		return nil
	}
	switch by {
	case "random":
		return s.add(steps[s.walk.dice.IntN(len(steps))])
	case "latency", "":
		return s.add(s.walk.earliest(s, steps))
	}
	return fmt.Errorf("steps are drawn by latency or random, and not by %q", by)
}

// natural returns the steps that can be taken and are no faults. Nodes suspect only nodes that are down, and
// campaign only if nothing else can happen and not all agree on a leader.
func (s *Session) natural() (steps []replay.Step) {
	for _, step := range s.stage.Enabled() {
		switch step.What {
		case replay.StepDeliver, replay.StepRelease, replay.StepTimeout, replay.StepTick, replay.StepTrust,
			replay.StepRequest:
			steps = append(steps, step)
		case replay.StepSuspect:
			if !s.stage.Nodes[step.Peer].Process.Up() {
				steps = append(steps, step)
			}
		}
	}
	if len(steps) > 0 || !s.stage.Disagree() {
		return steps
	}
	for _, step := range s.stage.Enabled() {
		if step.What == replay.StepCampaign {
			steps = append(steps, step)
		}
	}
	return steps
}

// earliest returns the step that is due first, and goes on to its time.
func (w *walk) earliest(s *Session, steps []replay.Step) (next replay.Step) {
	least := time.Duration(math.MaxInt64)
	for _, step := range steps {
		key, after := w.keyOf(s, step)
		due, known := w.due[key]
		if !known {
			due = w.now + after
			w.due[key] = due
		}
		if due < least {
			next, least = step, due
		}
	}
	key, _ := w.keyOf(s, next)
	delete(w.due, key)
	w.now = max(w.now, least)
	return next
}

// keyOf names what a step stands for, so that it keeps its time while other steps are taken, and draws how
// long it takes.
func (w *walk) keyOf(s *Session, step replay.Step) (key string, after time.Duration) {
	draw := func(mean time.Duration) time.Duration {
		return mean/5 + time.Duration(w.dice.ExpFloat64()*float64(mean)*0.8)
	}
	switch step.What {
	case replay.StepDeliver:
		return fmt.Sprintf("message %d", s.stage.Find(step).Number), draw(walkLatency)
	case replay.StepTimeout:
		gen, least := s.stage.Due(step)
		return fmt.Sprintf("%v, %d", step, gen), least + draw(walkLatency)
	case replay.StepRelease:
		return fmt.Sprintf("%v, %d", step, s.entries(step)), draw(walkHold)
	case replay.StepRequest:
		return fmt.Sprintf("%v, %d", step, s.entries(step)), draw(walkThink)
	case replay.StepTick:
		return fmt.Sprintf("tick at %v", w.now), s.schedule.Timing.Tick
	}
	return step.String(), draw(walkSuspects)
}

// entries returns how many requests the client of a step has made.
func (s *Session) entries(step replay.Step) uint32 {
	lab := &s.stage.Lab
	return lab.Client(step.Node, lab.Resource(step.Instance)).Count
}
