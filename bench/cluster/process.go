package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"turnstile/internal/english"
)

// A Launcher starts processes. All are started from one thread that lives as long as this process,
// since the signal that ends them with their parent follows the thread that started them.
type Launcher struct {
	jobs  chan func()
	kills int           // for want of memory, before
	drain time.Duration // see drainLimit
	as    *syscall.Credential
}

// As has processes be started as another user and group, without any capability. That takes the capabilities
// SETUID and SETGID, and KILL to signal them.
func (l *Launcher) As(uid, gid uint32) { l.as = &syscall.Credential{Uid: uid, Gid: gid} }

// NewLauncher returns a launcher. It keeps a thread of its own until the process ends.
func NewLauncher() *Launcher {
	l := &Launcher{jobs: make(chan func()), kills: readKills(), drain: drainLimit}
	go func() {
		runtime.LockOSThread() // and never unlock
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

// A process is one that a Launcher has started. It ends at the latest when this process does.
type process struct {
	name   string
	cmd    *exec.Cmd
	exit   exit
	input  *os.File        // its standard input: when this is closed, it ends
	raw    syscall.RawConn // the same
	output *os.File
	tail   tail
	ended  chan struct{}
	err    error         // how it ended: nil for an exit status of 0
	fate   Fate          // once it has ended
	kills  int           // for want of memory, before it was started
	turns  atomic.Uint32 // see Process.Turns

	dismissed atomic.Bool
}

const (
	// inputLimit is how long a program may take to read its input.
	inputLimit = 20 * time.Second
	// drainLimit is for reading what a process printed before it ended. The end of its output may never come:
	// a process that it has started itself, and that left its group, holds the pipe too.
	drainLimit = time.Second
)

// start starts the program at path and writes input to its standard input, which stays open. The beginning
// and the end of what the process prints are kept. If onOutput is not nil, it is given all of it as it comes,
// and returns what is to be kept; it must not block.
func (l *Launcher) start(name, path string, args, env []string, input []byte, onOutput func([]byte) []byte) (
	*process, error) {
	fail := func(err error) (*process, error) {
		return nil, fmt.Errorf("starting %s (%s): %w", name, path, err)
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return fail(errors.Join(err, inRead.Close(), inWrite.Close()))
	}
	p := &process{name: name, input: inWrite, output: outRead, ended: make(chan struct{}),
		kills: l.kills}
	p.cmd = exec.Command(path, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inRead, outWrite, outWrite
	p.cmd.SysProcAttr = p.exit.attributes()
	p.cmd.SysProcAttr.Credential = l.as
	started := make(chan error)
	l.jobs <- func() { started <- p.cmd.Start() }
	err = <-started
	inRead.Close()
	outWrite.Close()
	if err != nil {
		return fail(errors.Join(err, inWrite.Close(), outRead.Close()))
	}
	enrol(p)
	go p.watch(onOutput, l.drain)
	inWrite.SetWriteDeadline(time.Now().Add(inputLimit))
	if _, err := inWrite.Write(input); err != nil {
		p.Kill()
		<-p.ended
		return fail(fmt.Errorf("handing it its input: %w; it ended: %s", err, p.Fate().Says))
	}
	inWrite.SetWriteDeadline(time.Time{})
	if p.raw, err = inWrite.SyscallConn(); err != nil {
		p.Kill()
		return fail(err)
	}
	return p, nil
}

// Tell writes some bytes to the standard input of the process, all or none: what a process that stands
// still is told waits in the pipe. At most PIPE_BUF bytes are written as a whole, at least 512; more only
// if the pipe has space for all.
func (p *process) Tell(b []byte) error {
	var failed error
	written := 0
	err := p.raw.Write(func(fd uintptr) bool {
		for {
			if written, failed = unix.Write(int(fd), b); failed != unix.EINTR {
				return true
			}
		}
	})
	if err == nil && failed == nil && written < len(b) {
		failed = unix.EAGAIN
	}
	switch err = errors.Join(err, failed); {
	case errors.Is(err, unix.EAGAIN):
		return fmt.Errorf("%s has not read its input for so long that the pipe is full", p.name)
	case err != nil:
		return fmt.Errorf("telling %s: %w", p.name, err)
	}
	return nil
}

// watch waits until the process has ended, and until all is read that it printed, or for a time.
func (p *process) watch(onOutput func([]byte) []byte, drain time.Duration) {
	read := make(chan struct{})
	go func() {
		p.read(onOutput)
		close(read)
	}()
	p.err = p.reap()
	strike(p)
	p.output.SetReadDeadline(time.Now().Add(drain))
	<-read
	p.output.Close()
	p.input.Close()
	p.fate = p.ending()
	close(p.ended)
}

// read keeps what the process prints.
func (p *process) read(onOutput func([]byte) []byte) {
	b := make([]byte, 4096)
	for {
		n, err := p.output.Read(b)
		kept := b[:n]
		if onOutput != nil && n > 0 {
			kept = onOutput(kept)
		}
		p.tail.add(kept)
		if err != nil {
			return
		}
	}
}

// reap waits until the process has ended, and ends those that it has started itself, unless they have left
// its group. It returns how the process ended.
func (p *process) reap() error {
	if p.exit.await() {
		syscall.Kill(-p.Pid(), syscall.SIGKILL) // until Wait, nobody else can have that number
	}
	return p.cmd.Wait()
}

// Pid returns the ID of the process.
func (p *process) Pid() int { return p.cmd.Process.Pid }

// Name, Ended, Fate, Turns and Signal implement Process.
func (p *process) Name() string           { return p.name }
func (p *process) Ended() <-chan struct{} { return p.ended }
func (p *process) Fate() Fate             { return p.fate }
func (p *process) Turns() uint32          { return p.turns.Load() }

// Signal sends a signal to the process, and one that stops it or has it go on to all of its group.
func (p *process) Signal(s syscall.Signal) error {
	err := p.cmd.Process.Signal(s)
	if err == nil && (s == syscall.SIGSTOP || s == syscall.SIGCONT) {
		syscall.Kill(-p.Pid(), s) // fails only if it has ended
	}
	return err
}

// Kill ends the process at once.
func (p *process) Kill() { p.Signal(syscall.SIGKILL) }

// Dismiss implements Process.
func (p *process) Dismiss() {
	p.dismissed.Store(true)
	p.Kill()
}

// lastWords returns what the process printed, as the end of an error.
func (p *process) lastWords() string {
	text := strings.TrimSpace(p.tail.String())
	if text == "" {
		return "; it printed nothing"
	}
	return "; its last output:\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
}

// A tail keeps the beginning and the end of what is written to it: after a crash, the first lines say what
// was wrong.
type tail struct {
	mu         sync.Mutex
	head, rest []byte
}

const tailLen = 2048

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if free := tailLen - len(t.head); free > 0 {
		taken := min(free, len(b))
		t.head, b = append(t.head, b[:taken]...), b[taken:]
	}
	t.rest = append(t.rest, b...)
	if extra := len(t.rest) - tailLen; extra > 0 {
		t.rest = append(t.rest[:0], t.rest[extra:]...)
		if len(t.head) == tailLen {
			t.head = append(t.head, "\n[...]\n"...)
		}
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.head) + string(t.rest)
}

// ending returns how the process has ended.
func (p *process) ending() Fate {
	how := "exited with status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	f := Fate{Well: p.err == nil, Killed: how == killed, Dismissed: p.dismissed.Load()}
	kills := 0
	if f.Killed {
		kills = readKills() - p.kills
	}
	if why := cause(how, p.tail.String(), kills); why != "" {
		how += ", since " + why
	}
	f.Says = how + p.lastWords()
	return f
}

// killed is how a process ended that was ended by SIGKILL.
const killed = "signal: killed"

// cause says why a process ended that ended like that, after printing text, while the kernel killed so many
// processes because memory had run out.
func cause(how, text string, kills int) string {
	has := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	switch {
	case how == killed && kills > 0:
		return fmt.Sprintf("memory ran out (the kernel killed %s for it): use fewer nodes, or allow more memory",
			english.Count(kills, "process", "processes"))
	case has("failed to create new OS thread", "newosproc"):
		return "it was given no more threads: raise the limit on this user's processes (ulimit -u), " +
			"or on those of the container"
	case has("runtime: out of memory", "cannot allocate memory", "fatal error: out of memory",
		"failed to reserve page summary memory"):
		return "it was given no more memory" + spaceLimit()
	}
	return ""
}

// spaceLimit describes the limit on address space, which processes inherit, if there is one.
func spaceLimit() string {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || l.Cur>>62 != 0 {
		return ""
	}
	return fmt.Sprintf(": the limit on address space (ulimit -v) is %d KB", l.Cur/1024)
}

// readKills returns how many processes the kernel has killed because memory had run out, since it was
// booted. Those of containers count too.
func readKills() int {
	b, _ := os.ReadFile("/proc/vmstat")
	for line := range strings.Lines(string(b)) {
		if count, found := strings.CutPrefix(line, "oom_kill "); found {
			n, _ := strconv.Atoi(strings.TrimSpace(count))
			return n
		}
	}
	return 0
}

// AddChildren adds what the processes have used that those of a run have started themselves, as /proc knows
// it: in units of 10 ms. Children that have ended count once their parent has waited for them.
func (u *Usage) AddChildren(brokers, nodes []Process) {
	all := readProcesses()
	add := func(of []Process, to *time.Duration) {
		for _, p := range of {
			if has, is := p.(interface{ Pid() int }); is && has.Pid() != 0 {
				*to += all.beneath(has.Pid())
			}
		}
	}
	add(brokers, &u.broker)
	add(nodes, &u.own)
}

// processes are the children of each process, and what each has used.
type processes struct {
	children map[int][]int
	used     map[int]time.Duration // by itself
	waited   map[int]time.Duration // by children that have ended
}

// clockTick is the unit of times in /proc.
const clockTick = 10 * time.Millisecond

// readProcesses reads /proc. It is empty where there is none.
func readProcesses() *processes {
	p := &processes{map[int][]int{}, map[int]time.Duration{}, map[int]time.Duration{}}
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + name.Name() + "/stat")
		if err == nil {
			p.add(pid, string(text))
		}
	}
	return p
}

// add reads a line of /proc/PID/stat. The name of the program comes second, in parentheses, and may hold any
// character.
func (p *processes) add(pid int, stat string) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return
	}
	number := func(i int) time.Duration {
		n, _ := strconv.Atoi(fields[i])
		return time.Duration(n)
	}
	parent := int(number(1))
	p.children[parent] = append(p.children[parent], pid)
	p.used[pid] = (number(11) + number(12)) * clockTick
	p.waited[pid] = (number(13) + number(14)) * clockTick
}

// beneath returns what the descendants of a process have used.
func (p *processes) beneath(pid int) time.Duration {
	sum := p.waited[pid]
	for _, child := range p.children[pid] {
		sum += p.used[child] + p.beneath(child)
	}
	return sum
}
