package proc

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

// A Launcher starts processes, and looks after them. All are started from one thread that lives as long as
// this process, since the signal that ends them with their parent follows the thread that started them.
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

// A Command is a process to be started.
type Command struct {
	Name    string   // of the process, for people
	Program []string // the program and its arguments
	Env     []string // variables beside those of this process
	Input   []byte   // handed to its standard input, which stays open
	// Stdin and Stdout are pipes of whoever starts it, who keeps the other ends; nil: they are ours. Then what
	// it prints is its standard output and error together.
	Stdin, Stdout *os.File
	Files         []*os.File // that it has open beside, from number 3 on
	// Shares says that it is in the process group of this process, not one of its own: what is done to this
	// process as a group, is done to both.
	Shares bool
	// OnOutput is given all that the process prints, as it comes, and returns what is to be kept for its Fate;
	// it must not block. Nil: all is kept.
	OnOutput func([]byte) []byte
}

// A Process is one that a Launcher has started. It ends at the latest when this process does.
type Process struct {
	name   string
	cmd    *exec.Cmd
	own    bool // it has a group of its own
	exit   exit
	input  *os.File        // its standard input: when this is closed, it ends; nil: somebody else has it
	raw    syscall.RawConn // the same
	output *os.File
	tail   tail
	ended  chan struct{}
	err    error         // how it ended: nil for an exit status of 0
	fate   Fate          // once it has ended
	kills  int           // for want of memory, before it was started
	turns  atomic.Uint32 // see Turns

	dismissed atomic.Bool
}

// A Fate is how a process ended.
type Fate struct {
	Well      bool      // with status 0
	Killed    bool      // by SIGKILL
	Dismissed bool      // on purpose, which is no trouble
	Gone      bool      // its host is gone: nobody knows what became of it, and it is taken for killed
	Heard     time.Time // of a process that is gone: when its host was last heard of
	Status    int       // its exit status; -1: a signal has ended it
	How       string    // in words, and why if that is known
	Says      string    // the same, and what it printed last
}

const (
	// inputLimit is how long a program may take to read its input.
	inputLimit = 20 * time.Second
	// drainLimit is for reading what a process printed before it ended. The end of its output may never come:
	// a process that it has started itself, and that left its group, holds the pipe too.
	drainLimit = time.Second
)

// Start starts a process, and writes its input. The beginning and the end of what it prints are kept.
func (l *Launcher) Start(c Command) (*Process, error) {
	fail := func(err error) (*Process, error) {
		return nil, fmt.Errorf("starting %s (%s): %w", c.Name, c.Program[0], err)
	}
	p := &Process{name: c.Name, own: !c.Shares, ended: make(chan struct{}), kills: l.kills}
	p.cmd = exec.Command(c.Program[0], c.Program[1:]...)
	p.cmd.Env, p.cmd.ExtraFiles = append(os.Environ(), c.Env...), c.Files
	output, err := p.pipes(&c)
	if err != nil {
		return fail(err)
	}
	p.cmd.SysProcAttr = p.exit.attributes()
	p.cmd.SysProcAttr.Setpgid, p.cmd.SysProcAttr.Credential = p.own, l.as
	started := make(chan error)
	l.jobs <- func() { started <- p.cmd.Start() }
	err = <-started
	p.cmd.Stdin.(*os.File).Close()
	output.Close()
	if c.Stdout != nil {
		c.Stdout.Close()
	}
	if err != nil {
		return fail(errors.Join(err, p.close()))
	}
	enrol(p)
	go p.watch(c.OnOutput, l.drain)
	if err := p.hand(c.Input); err != nil {
		p.Kill()
		<-p.ended
		return fail(fmt.Errorf("handing it its input: %w; it ended: %s", err, p.Fate().Says))
	}
	return p, nil
}

// pipes makes the pipes of a process that is about to start, unless it brings them, and returns the end that
// what it prints is to go to.
func (p *Process) pipes(c *Command) (output *os.File, err error) {
	p.cmd.Stdin = c.Stdin
	if c.Stdin == nil {
		var read *os.File
		if read, p.input, err = os.Pipe(); err != nil {
			return nil, err
		}
		p.cmd.Stdin = read
	}
	if p.output, output, err = os.Pipe(); err != nil {
		return nil, errors.Join(err, p.cmd.Stdin.(*os.File).Close(), p.close())
	}
	p.cmd.Stdout, p.cmd.Stderr = output, output
	if c.Stdout != nil {
		p.cmd.Stdout = c.Stdout
	}
	return output, nil
}

// close closes our ends of its pipes.
func (p *Process) close() (err error) {
	for _, f := range []*os.File{p.input, p.output} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// hand writes the input of a process that has just started.
func (p *Process) hand(input []byte) (err error) {
	if p.input == nil {
		return nil
	}
	p.input.SetWriteDeadline(time.Now().Add(inputLimit))
	if _, err := p.input.Write(input); err != nil {
		return err
	}
	p.input.SetWriteDeadline(time.Time{})
	p.raw, err = p.input.SyscallConn()
	return err
}

// Tell writes some bytes to the standard input of the process, all or none: what a process that stands
// still is told waits in the pipe. At most PIPE_BUF bytes are written as a whole, at least 512; more only
// if the pipe has space for all.
func (p *Process) Tell(b []byte) error {
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
func (p *Process) watch(onOutput func([]byte) []byte, drain time.Duration) {
	read := make(chan struct{})
	go func() {
		p.read(onOutput)
		close(read)
	}()
	p.err = p.reap()
	strike(p)
	p.output.SetReadDeadline(time.Now().Add(drain))
	<-read
	p.close()
	p.fate = p.ending()
	close(p.ended)
}

// read keeps what the process prints.
func (p *Process) read(onOutput func([]byte) []byte) {
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
func (p *Process) reap() error {
	if p.exit.await() && p.own {
		syscall.Kill(-p.Pid(), syscall.SIGKILL) // until Wait, nobody else can have that number
	}
	return p.cmd.Wait()
}

// Pid returns the ID of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Name names the process, for people.
func (p *Process) Name() string { return p.name }

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Fate returns how the process ended. It may be called once Ended is closed.
func (p *Process) Fate() Fate { return p.fate }

// Turns counts the stops and continuations that NoticeStops has seen. If the number is odd, it is stopped.
func (p *Process) Turns() uint32 { return p.turns.Load() }

// Printed returns the beginning and the end of what is kept of what the process has printed so far.
func (p *Process) Printed() string { return p.tail.String() }

// Signal sends a signal to the process, and one that stops it or has it go on to all of its group, if that is
// its own. The error is os.ErrProcessDone if it has ended.
func (p *Process) Signal(s syscall.Signal) error {
	err := p.cmd.Process.Signal(s)
	if err == nil && p.own && (s == syscall.SIGSTOP || s == syscall.SIGCONT) {
		syscall.Kill(-p.Pid(), s) // fails only if it has ended
	}
	return err
}

// CloseInput ends the standard input of the process, which is to end then.
func (p *Process) CloseInput() error { return p.input.Close() }

// Kill ends the process at once.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL) }

// Dismiss ends the process at once, on purpose: so its end is no trouble.
func (p *Process) Dismiss() {
	p.dismissed.Store(true)
	p.Kill()
}

// lastWords returns what the process printed, as the end of an error.
func (p *Process) lastWords() string {
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
func (p *Process) ending() Fate {
	how := "exited with status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	f := Fate{Well: p.err == nil, Killed: how == killed, Dismissed: p.dismissed.Load(),
		Status: p.cmd.ProcessState.ExitCode()}
	kills := 0
	if f.Killed {
		kills = readKills() - p.kills
	}
	if why := cause(how, p.tail.String(), kills); why != "" {
		how += ", since " + why
	}
	f.How, f.Says = how, how+p.lastWords()
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

// Output runs a program for a moment, and returns what it prints, with its standard error if both is true.
// The program ends with this process, also if that is killed.
func Output(cmd *exec.Cmd, both bool) ([]byte, error) {
	runtime.LockOSThread() // the signal follows the thread that starts the program
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = dying()
	if both {
		return cmd.CombinedOutput()
	}
	return cmd.Output()
}
