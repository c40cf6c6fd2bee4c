package service

import (
	"errors"
	"syscall"

	"turnstile/internal/proc"
)

// signal sends a signal to a member, and to the processes that it has started: they may have left its group.
func (m *Member) signal(s syscall.Signal) error {
	err := m.process.Signal(s)
	for _, pid := range m.descendants() {
		syscall.Kill(pid, s) // fails only if it has ended
	}
	return err
}

func (m *Member) descendants() []int { return proc.Descendants(m.process.Pid()) }

// stop has a member stand still. Processes that it has started would stay so if this process were killed: a
// guard ends them then.
func (m *Member) stop() error {
	if err := m.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if all := m.descendants(); len(all) > 0 && m.guard == nil {
		guard, err := proc.GuardProcesses(all)
		if err != nil {
			return errors.Join(err, m.signal(syscall.SIGCONT))
		}
		m.guard = guard
	}
	return nil
}

// resume has a member go on.
func (m *Member) resume() error {
	err := m.signal(syscall.SIGCONT)
	m.dismissGuard()
	return err
}

// kill ends a member that runs, and the processes that it has started.
func (m *Member) kill() {
	m.process.Signal(syscall.SIGSTOP) // so that it starts no more
	all := m.descendants()
	m.process.Dismiss()
	for _, pid := range all {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	<-m.process.Ended()
	m.dismissGuard()
}

func (m *Member) dismissGuard() {
	if m.guard != nil {
		m.guard.Dismiss()
		m.guard = nil
	}
}
