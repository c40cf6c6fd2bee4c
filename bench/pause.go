package bench

import (
	"fmt"
	"time"

	"turnstile/bench/cluster"
	"turnstile/nodes/history"
)

// longestPause is how long a process may stand still, or not answer, before the run is ended.
func (o *Options) longestPause() time.Duration { return max(10*time.Second, 20*o.Patience) }

// oversleep is how much later than planned the orchestrator may wake up before that is put on record.
const oversleep = time.Second

// pauses follow which processes of a trial stand still, as after SIGSTOP, and put it on record. Nobody can
// tell what the others would have done in the meantime.
type pauses struct {
	turns     map[*cluster.Process]uint32
	since     map[*cluster.Process]int64 // of those that stand still
	disturbed bool                       // something stood still or went on, and nobody has been told
	looked    int64                      // when that was last looked for
	changes   uint64                     // that the kernel had told of then
}

// beginPauses takes note of how often the processes that carry the messages have stood still in trials before
// this one.
func (t *trial) beginPauses() {
	t.pauses = pauses{turns: map[*cluster.Process]uint32{}, since: map[*cluster.Process]int64{},
		changes: cluster.NoticeStops()}
	for _, p := range t.transport.processes() {
		t.pauses.turns[p] = p.Turns()
	}
}

// followPauses notices what has been stopped or continued. It is an error if that goes on for too long.
func (t *trial) followPauses(now int64) error {
	p := &t.pauses
	if now-p.looked < int64(tick) {
		return nil
	}
	p.looked = now
	if changes := cluster.NoticeStops(); changes != p.changes {
		p.changes = changes
		for id, process := range t.processes {
			if t.lives[id].down {
				continue
			}
			if err := t.followPause(process, uint32(id), now); err != nil {
				return err
			}
		}
		for name, process := range t.transport.named() {
			if err := t.followPause(process, name, now); err != nil {
				return err
			}
		}
	}
	for process, since := range p.since {
		p.disturbed = true
		if took := time.Duration(now - since); took > t.longestPause() {
			return fmt.Errorf("%s has been stopped for %v, as by SIGSTOP, and the run was ended: a process may "+
				"stand still for %v (20 times --patience, and 10s at least)", process.Name, took.Round(time.Second),
				t.longestPause())
		}
	}
	return nil
}

// followPause records what has happened to one process.
func (t *trial) followPause(process *cluster.Process, name uint32, now int64) error {
	p := &t.pauses
	was, is := p.turns[process], process.Turns()
	for turn := was + 1; turn <= is; turn++ {
		p.disturbed = true
		if err := t.journal.Pause(now, name, turn%2 == 1); err != nil {
			return err
		}
	}
	p.turns[process] = is
	switch _, stands := p.since[process]; {
	case is%2 == 0:
		delete(p.since, process)
	case !stands || is > was:
		p.since[process] = now
	}
	return nil
}

// endPause takes note that a process has ended, which may have stood still.
func (t *trial) endPause(p *cluster.Process, name uint32) error {
	if _, stands := t.pauses.since[p]; !stands {
		return nil
	}
	delete(t.pauses.since, p)
	return t.journal.Pause(t.now(), name, false)
}

// overslept records that the orchestrator was to wake up at one time and did so much later: it was stopped,
// or the machine had no time for it.
func (t *trial) overslept(planned, now int64) error {
	if now-planned < int64(oversleep) {
		return nil
	}
	t.pauses.disturbed = true
	if err := t.journal.Pause(planned, history.Orchestrator, true); err != nil {
		return err
	}
	return t.journal.Pause(now, history.Orchestrator, false)
}

// takeDisturbed reports whether something stood still since it was last called, or still does.
func (p *pauses) takeDisturbed() bool {
	was := p.disturbed
	p.disturbed = false
	return was
}
