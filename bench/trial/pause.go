package trial

import (
	"fmt"
	"iter"
	"time"

	"golang.org/x/sys/unix"

	"turnstile/hosts/cluster"
	"turnstile/nodes/history"
)

// oversleep is how late the orchestrator may wake up before the delay is recorded as a pause.
const oversleep = time.Second

// pauses track which processes of a trial are suspended, such as by SIGSTOP, and record when each of them is
// suspended and resumed.
type pauses struct {
	*journal
	longest   time.Duration // how long a process may be suspended
	turns     map[cluster.Process]uint32
	since     map[cluster.Process]int64 // when the suspended processes were suspended
	disturbed bool                      // a process was suspended or resumed since the last takeDisturbed call
	looked    int64                     // when notice was last called
	changes   uint64                    // what notice returned when it was last called
	notice    func() uint64             // counts suspensions and resumptions in the run
}

// newPauses returns the pauses of a trial. It ignores earlier pauses of the carriers, which are processes
// that outlive a trial.
func newPauses(j *journal, longest time.Duration, notice func() uint64, carriers []cluster.Process) *pauses {
	p := &pauses{journal: j, longest: longest, turns: map[cluster.Process]uint32{},
		since: map[cluster.Process]int64{}, changes: notice(), notice: notice}
	for _, carrier := range carriers {
		p.turns[carrier] = carrier.Turns()
	}
	return p
}

// follow records which of the processes that are up were suspended or resumed. Up yields them by their names
// in histories. It returns an error if a process is suspended for too long.
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
			return fmt.Errorf("%s has been stopped for %v, as by SIGSTOP, so the run was ended: a process may "+
				"stand still for %v (20 times --patience, and 10s at least)", process.Name(),
				took.Round(time.Second), p.longest)
		}
	}
	return nil
}

// followOne records the pauses of one process.
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

// end records that a process has ended; if it was suspended, its pause ends too.
func (p *pauses) end(process cluster.Process, name uint32) error {
	if _, stands := p.since[process]; !stands {
		return nil
	}
	delete(p.since, process)
	return p.Pause(p.now(), name, false)
}

// overslept records a pause of the orchestrator if it woke up much later than planned: it was stopped, or the
// machine was overloaded.
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

// takeDisturbed reports whether anything was suspended or resumed since the last call.
func (p *pauses) takeDisturbed() bool {
	was := p.disturbed
	p.disturbed = false
	return was
}

// nap sleeps for less than a millisecond, to which the runtime's timers round up. It blocks a thread.
func nap(d time.Duration) {
	t := unix.NsecToTimeval(int64(d))
	unix.Select(0, nil, nil, nil, &t)
}
