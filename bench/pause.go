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
}

// followPauses notices what has been stopped or continued. It is an error if that goes on for too long.
func (t *trial) followPauses(now int64) error {
	p := &t.pauses
	if now-p.looked < int64(tick) {
		return nil
	}
	p.looked = now
	if cluster.NoticeStops() {
		if p.turns == nil {
			p.turns, p.since = map[*cluster.Process]uint32{}, map[*cluster.Process]int64{}
		}
		for id, process := range t.processes {
			if err := t.followPause(process, uint32(id), now); err != nil {
				return err
			}
		}
		if broker := t.endpoint.process; broker != nil {
			if err := t.followPause(broker, history.Broker, now); err != nil {
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
