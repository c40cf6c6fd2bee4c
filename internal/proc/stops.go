package proc

import (
	"bytes"
	"fmt"
	"os"
	"sync"
)

// stopping has the processes that were started and not reaped, by their ID.
var stopping struct {
	sync.Mutex
	of      map[int]*Process
	changes uint64 // stops and continuations that were noticed
}

// enrol adds a process for NoticeStops to watch, and strike removes it.
func enrol(p *Process) {
	stopping.Lock()
	defer stopping.Unlock()
	if stopping.of == nil {
		stopping.of = map[int]*Process{}
	}
	stopping.of[p.Pid()] = p
}

func strike(p *Process) {
	stopping.Lock()
	defer stopping.Unlock()
	delete(stopping.of, p.Pid())
}

// NoticeStops asks the kernel which children of this process were stopped, as by SIGSTOP, or continued, and
// returns how many such changes it has reported so far, over all calls. It is one system call if nothing has
// happened. If the kernel does not report them, no process ever counts as stopped.
func NoticeStops() (changes uint64) {
	stopping.Lock()
	defer stopping.Unlock()
	for {
		pid, stopped, ok := nextStop()
		if !ok {
			return stopping.changes
		}
		if p := stopping.of[pid]; p != nil {
			stopping.changes++
			p.turn(stopped)
		}
	}
}

// turn counts a stop or continuation of the process. If it was stopped and continued between two calls, the
// kernel reports only the second of these changes: then turn counts both.
func (p *Process) turn(stopped bool) {
	if was := p.turns.Load()%2 == 1; was == stopped {
		p.turns.Add(2)
	} else {
		p.turns.Add(1)
	}
}

// familyLooks is how many looks use one list of the descendants of a process, which takes long to make.
const familyLooks = 10

// StandsStill reports whether the process or one of its descendants is stopped now, as by SIGSTOP. Without
// /proc none is known to be. One goroutine at a time may call it.
func (p *Process) StandsStill() bool {
	if p.looks%familyLooks == 0 {
		p.family = append(Descendants(p.Pid()), p.Pid())
	}
	p.looks++
	for _, pid := range p.family {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // the read fails if the process has ended
		if bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" T ")) {
			return true
		}
	}
	return false
}
