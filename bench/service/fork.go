package service

import (
	"errors"
	"syscall"

	"turnstile/internal/proc"
)

// signal sends a signal to a member and to its descendants, which may have left its process group.
func (m *Member) signal(s syscall.Signal) error {
	err := m.process.Signal(s)
	for _, pid := range m.descendants() {
		syscall.Kill(pid, s) // fails only if the process has ended
	}
	return err
}

func (m *Member) descendants() []int { return proc.Descendants(m.process.Pid()) }

// stop suspends a member. A guard ends the member's descendants if this process is killed: otherwise they
// would stay suspended for ever.
func (m *Member) stop() error {
	m.suspended.Store(true)
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

// resume resumes a member.
func (m *Member) resume() error {
	err := m.signal(syscall.SIGCONT)
	m.suspended.Store(false)
	m.dismissGuard()
	return err
}

// kill ends a running member and its descendants.
func (m *Member) kill() {
	m.process.Signal(syscall.SIGSTOP) // a stopped member starts no more processes
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
