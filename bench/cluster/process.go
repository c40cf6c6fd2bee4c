package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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
