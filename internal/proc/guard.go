package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Descendants returns the children of a process, their children, and so on. Without /proc it returns nil.
func Descendants(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the read fails if the thread has ended
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(append(all, child), Descendants(child)...)
			}
		}
	}
	return all
}

// SignalAll sends a signal to processes. It ignores processes that have ended.
func SignalAll(of []int, s syscall.Signal) {
	for _, pid := range of {
		syscall.Kill(pid, s)
	}
}

// A Guard does something when this process ends, unless it is dismissed before. It is a process that outlives
// this one for a moment.
type Guard struct {
	shell *exec.Cmd
	input io.WriteCloser
}

// GuardProcesses starts a guard that kills processes, such as stopped ones that this process did not start.
func GuardProcesses(of []int) (*Guard, error) {
	args := []string{"kill", "-KILL"}
	for _, pid := range of {
		args = append(args, fmt.Sprint(pid))
	}
	return startGuard(`exec "$@"`, args...)
}

// GuardFolder starts a guard that removes a folder. It retries while other processes still write there.
func GuardFolder(path string) (*Guard, error) {
	return startGuard(`for i in 1 2 3 4 5 6 7 8 9; do rm -rf "$1" 2>/dev/null && exit; sleep 0.2; done`, path)
}

// startGuard starts a guard that runs a shell script when this process ends.
func startGuard(script string, args ...string) (*Guard, error) {
	g := &Guard{shell: exec.Command("/bin/sh", append([]string{"-c", "read word && exit; " + script, "guard"},
		args...)...)}
	g.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if g.input, err = g.shell.StdinPipe(); err != nil {
		return nil, err
	}
	return g, g.shell.Start()
}

// Dismiss ends the guard without any effect.
func (g *Guard) Dismiss() {
	io.WriteString(g.input, "dismissed\n")
	g.shell.Wait()
}
