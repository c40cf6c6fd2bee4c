package proc

import "sync"

// stopping are the processes that have been started and not reaped, by their ID.
var stopping struct {
	sync.Mutex
	of      map[int]*Process
	changes uint64 // that were noticed
}

// enrol makes a process known to NoticeStops, and strike makes it unknown.
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

// NoticeStops asks the kernel which of the processes that were started here have been stopped, as by SIGSTOP,
// or continued, and returns how many such changes it has told of so far, whoever asked. It is one system call
// when nothing has happened. Where the kernel does not tell, no process is ever known to be stopped.
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

// turn counts that the process was stopped or continued. If it was stopped and continued since it was last
// looked at, the kernel tells of the latter alone.
func (p *Process) turn(stopped bool) {
	if was := p.turns.Load()%2 == 1; was == stopped {
		p.turns.Add(2)
	} else {
		p.turns.Add(1)
	}
}
