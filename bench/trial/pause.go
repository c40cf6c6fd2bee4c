package trial

import (
	"fmt"
	"iter"
	"time"

	"golang.org/x/sys/unix"

	"turnstile/bench/cluster"
	"turnstile/nodes/history"
)

// oversleep is how much later than planned the orchestrator may wake up before that is put on record.
const oversleep = time.Second

// pauses follow which processes of a trial stand still, as after SIGSTOP, and put it on record. Nobody can
// tell what the others would have done in the meantime.
type pauses struct {
	*journal
	longest   time.Duration // that a process may stand still
	turns     map[cluster.Process]uint32
	since     map[cluster.Process]int64 // of those that stand still
	disturbed bool                      // something stood still or went on, and nobody has been told
	looked    int64                     // when that was last looked for
	changes   uint64                    // that were noticed then
	notice    func() uint64             // how many there have been, of all processes of the run
}

// newPauses takes note of how often the processes that carry the messages have stood still in trials before
// this one.
func newPauses(j *journal, longest time.Duration, notice func() uint64, carriers []cluster.Process) *pauses {
	p := &pauses{journal: j, longest: longest, turns: map[cluster.Process]uint32{},
		since: map[cluster.Process]int64{}, changes: notice(), notice: notice}
	for _, carrier := range carriers {
		p.turns[carrier] = carrier.Turns()
	}
	return p
}

// follow notices which of the processes that are up have been stopped or continued. They have their names in
// histories. It is an error if that goes on for too long.
func (p *pauses) follow(now int64, up iter.Seq2[uint32, cluster.Process]) error {
	if now-p.looked < int64(tick) {
		return nil
	}
	p.looked = now
	if changes := p.notice(); changes != p.changes {
		p.changes = changes
		for name, process := range up {
			if err := p.followOne(process, name, now); err != nil {
				return err
			}
		}
	}
	for process, since := range p.since {
		p.disturbed = true
		if took := time.Duration(now - since); took > p.longest {
			return fmt.Errorf("%s has been stopped for %v, as by SIGSTOP, and the run was ended: a process may "+
				"stand still for %v (20 times --patience, and 10s at least)", process.Name(),
				took.Round(time.Second), p.longest)
		}
	}
	return nil
}

// followOne records what has happened to one process.
func (p *pauses) followOne(process cluster.Process, name uint32, now int64) error {
	was, is := p.turns[process], process.Turns()
	for turn := was + 1; turn <= is; turn++ {
		p.disturbed = true
		if err := p.Pause(now, name, turn%2 == 1); err != nil {
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

// end takes note that a process has ended, which may have stood still.
func (p *pauses) end(process cluster.Process, name uint32) error {
	if _, stands := p.since[process]; !stands {
		return nil
	}
	delete(p.since, process)
	return p.Pause(p.now(), name, false)
}

// overslept records that the orchestrator was to wake up at one time and did so much later: it was stopped,
// or the machine had no time for it.
func (p *pauses) overslept(planned, now int64) error {
	if now-planned < int64(oversleep) {
		return nil
	}
	p.disturbed = true
	if err := p.Pause(planned, history.Orchestrator, true); err != nil {
		return err
	}
	return p.Pause(now, history.Orchestrator, false)
}

// takeDisturbed reports whether something stood still since it was last called, or still does.
func (p *pauses) takeDisturbed() bool {
	was := p.disturbed
	p.disturbed = false
	return was
}

// nap sleeps for a time that is too short for the runtime's timers, which round it up to a millisecond. It
// blocks a thread.
func nap(d time.Duration) {
	t := unix.NsecToTimeval(int64(d))
	unix.Select(0, nil, nil, nil, &t)
}
