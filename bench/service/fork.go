package service

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// descendants returns the processes that a process has started, those that they have started, and so on.
// If /proc does not say, it returns none.
func descendants(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread that has ended
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(append(all, child), descendants(child)...)
			}
		}
	}
	return all
}

// signal sends a signal to a member, and to the processes that it has started: they may have left its group.
func (m *Member) signal(s syscall.Signal) error {
	err := m.process.Signal(s)
	for _, pid := range m.descendants() {
		syscall.Kill(pid, s) // fails only if it has ended
	}
	return err
}

func (m *Member) descendants() []int { return descendants(m.pid()) }

// stop has a member stand still. Processes that it has started would stay so if this process were killed: a
// guard ends them then.
func (m *Member) stop() error {
	if err := m.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if all := m.descendants(); len(all) > 0 && m.guard == nil {
		guard, err := guardProcesses(all)
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
		m.guard.dismiss()
		m.guard = nil
	}
}

// A guard does something when this process ends, unless it is dismissed before.
type guard struct {
	shell *exec.Cmd
	input io.WriteCloser
}

// guardProcesses has a guard kill processes.
func guardProcesses(of []int) (*guard, error) {
	args := []string{"kill", "-KILL"}
	for _, pid := range of {
		args = append(args, fmt.Sprint(pid))
	}
	return startGuard(`exec "$@"`, args...)
}

// guardFolder has a guard remove a folder, once those have ended who still write there.
func guardFolder(path string) (*guard, error) {
	return startGuard(`for i in 1 2 3 4 5 6 7 8 9; do rm -rf "$1" 2>/dev/null && exit; sleep 0.2; done`, path)
}

// startGuard has a guard run a script of the shell.
func startGuard(script string, args ...string) (*guard, error) {
	g := &guard{shell: exec.Command("/bin/sh", append([]string{"-c", "read word && exit; " + script, "guard"},
		args...)...)}
	g.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it outlives this process for a moment
	var err error
	if g.input, err = g.shell.StdinPipe(); err != nil {
		return nil, err
	}
	return g, g.shell.Start()
}

func (g *guard) dismiss() {
	io.WriteString(g.input, "dismissed\n")
	g.shell.Wait()
}
