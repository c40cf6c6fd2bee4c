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

	"turnstile/internal/cgroup"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
)

// A Launcher starts and supervises processes. It starts all from one thread that lives as long as this
// process: the signal that ends them with their parent is bound to that thread.
type Launcher struct {
	jobs  chan func()
	kills kills         // kills before the launcher was made
	drain time.Duration // see drainLimit
	as    *syscall.Credential
}

// As makes the launcher start processes as another user and group, without capabilities. It takes the
// capabilities SETUID and SETGID, and KILL to signal them.
func (l *Launcher) As(uid, gid uint32) { l.as = &syscall.Credential{Uid: uid, Gid: gid} }

// NewLauncher returns a launcher. It keeps a thread of its own until the process ends.
func NewLauncher() *Launcher {
	l := &Launcher{jobs: make(chan func()), kills: readKills(), drain: drainLimit}
	go func() {
		runtime.LockOSThread() // never unlocked: no other goroutine uses the thread
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

// A Command is a process to be started.
type Command struct {
	Name    string   // name of the process, for people
	Program []string // the program and its arguments
	Env     []string // variables in addition to the environment of this process
	OnlyEnv bool     // the process gets no other variables
	Input   []byte   // written to the standard input of the process, which stays open
	// Stdin and Stdout are pipes of the caller, which keeps the other ends; nil: the launcher makes them, and
	// the output of the process is standard output and error together.
	Stdin, Stdout *os.File
	// Shares means that the process joins the process group of this one: signals to the group reach both.
	Shares bool
	// OnOutput receives the output of the process as it comes, and returns the part to keep for its Fate. It
	// must not block. Nil: keep all.
	OnOutput func([]byte) []byte
}

// A Process was started by a Launcher. It ends with this process at the latest.
type Process struct {
	name   string
	cmd    *exec.Cmd
	own    bool // the process has a process group of its own
	exit   exit
	input  *os.File        // pipe to its standard input; closing it ends the process; nil: the caller has it
	raw    syscall.RawConn // raw connection of input
	output *os.File
	tail   tail
	ended  chan struct{}
	err    error         // how it ended: nil for an exit status of 0
	fate   Fate          // set when the process has ended
	kills  kills         // the value of Launcher.kills
	turns  atomic.Uint32 // see Turns
	looks  int           // calls of StandsStill
	family []int         // the process and its descendants, as of one of these calls

	dismissed atomic.Bool
}

// A Fate is how a process ended.
type Fate struct {
	Well      bool      // it exited with status 0
	Killed    bool      // SIGKILL ended it
	Dismissed bool      // it was ended on purpose, which is no failure
	Gone      bool      // its host is gone: its end is unknown, and it counts as killed
	Heard     time.Time // if Gone: when its host was last heard of
	Status    int       // its exit status; -1: a signal has ended it
	Cause     string    // why the machine ended it, such as want of memory, in words; empty: unknown
	How       string    // how it ended in words, with Cause
	Says      string    // the text of How, and the last output of the process
}

const (
	// inputLimit is how long a program may take to read its input.
	inputLimit = 20 * time.Second
	// drainLimit bounds reading the rest of the output of an ended process. The output may never end: a child
	// that left its group may hold the pipe too.
	drainLimit = time.Second
)

// Start starts a process, and writes its input. It keeps the beginning and the end of the output.
func (l *Launcher) Start(c Command) (*Process, error) {
	fail := func(err error) (*Process, error) {
		return nil, fmt.Errorf("starting %s (%s): %w", c.Name, c.Program[0], err)
	}
	p := &Process{name: c.Name, own: !c.Shares, ended: make(chan struct{}), kills: l.kills}
	p.cmd = exec.Command(c.Program[0], c.Program[1:]...)
	if p.cmd.Env = c.Env; !c.OnlyEnv {
		p.cmd.Env = append(os.Environ(), c.Env...)
	}
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

// pipes makes the pipes of a process that is about to start, unless the command has them, and returns the end
// for its output.
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

// close closes the ends of the pipes that this process has.
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

// Tell writes bytes to the standard input of the process. They wait in the pipe while the process stands
// still. If the pipe has no space for all, Tell returns an error: it has then written none of up to PIPE_BUF
// bytes (at least 512), but perhaps a part of more.
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

// watch waits until the process has ended, and then until its output is read, for at most the time drain.
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

// read keeps the output of the process.
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

// reap waits until the process has ended, and kills its children, unless they have left its group. It returns
// how the process ended.
func (p *Process) reap() error {
	if p.exit.await() && p.own {
		syscall.Kill(-p.Pid(), syscall.SIGKILL) // until Wait, no other process can have this ID
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

// Turns counts the stops and continuations that NoticeStops has seen. If it is odd, the process is stopped.
func (p *Process) Turns() uint32 { return p.turns.Load() }

// Printed returns the beginning and the end of the output of the process that was kept so far.
func (p *Process) Printed() string { return p.tail.String() }

// Signal sends a signal to the process. If it has a process group of its own, SIGSTOP, SIGCONT and SIGKILL go
// to that group and to all its descendants, since some may be in sessions of their own. The error is
// os.ErrProcessDone if the process has ended.
func (p *Process) Signal(s syscall.Signal) error {
	if !p.own || s != syscall.SIGSTOP && s != syscall.SIGCONT && s != syscall.SIGKILL {
		return p.cmd.Process.Signal(s)
	}
	below := Descendants(p.Pid())
	if s == syscall.SIGCONT { // the group last and at once: a node must not go on while its program stands still
		err := p.cmd.Process.Signal(syscall.Signal(0))
		if err == nil {
			SignalAll(below, s)
			err = syscall.Kill(-p.Pid(), s)
		}
		return err
	}
	err := p.cmd.Process.Signal(s)
	SignalAll(below, s)
	if err == nil && s == syscall.SIGSTOP {
		syscall.Kill(-p.Pid(), s) // fails only if it has ended
	}
	return err
}

// CloseInput closes the standard input of the process, which asks it to end.
func (p *Process) CloseInput() error { return p.input.Close() }

// Kill ends the process at once.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL) }

// Dismiss ends the process at once, on purpose: its end is no failure.
func (p *Process) Dismiss() {
	p.dismissed.Store(true)
	p.Kill()
}

// LastWords returns what the process printed so far, as the end of an error.
func (p *Process) LastWords() string {
	text := strings.TrimSpace(p.tail.String())
	if text == "" {
		return "; it printed nothing"
	}
	return "; its last output:\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
}

// A tail keeps the beginning and the end of the text written to it. After a crash the first lines have the
// reason.
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

// String returns the text with its control characters as \x1b, since it comes from outside.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return terminal.Printable(string(t.head) + string(t.rest))
}

// ending returns how the process has ended.
func (p *Process) ending() Fate {
	how := "exited with status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	f := Fate{Well: p.err == nil, Killed: how == killed, Dismissed: p.dismissed.Load(),
		Status: p.cmd.ProcessState.ExitCode()}
	var since kills
	if f.Killed {
		since = readKills().since(p.kills)
	}
	if f.Cause = cause(how, p.tail.String(), since); f.Cause != "" {
		how += ", since " + f.Cause
	}
	f.How, f.Says = how, how+p.LastWords()
	return f
}

// killed describes the end by SIGKILL.
const killed = "signal: killed"

// cause returns why a process ended, or "". how describes its end, text is its output, and k are the kills
// meanwhile.
func cause(how, text string, k kills) string {
	has := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	switch {
	case how == killed && k.known && k.own > 0:
		return fmt.Sprintf("memory ran out (the kernel killed %s for it): use fewer nodes, or allow more memory",
			english.Count(k.own, "process", "processes"))
	case how == killed && !k.known && k.machine > 0:
		return fmt.Sprintf("perhaps memory ran out (the kernel killed %s of the machine for it meanwhile)",
			english.Count(k.machine, "process", "processes"))
	case has("failed to create new OS thread", "newosproc"):
		return "it was given no more threads: raise the limit on this user's processes (ulimit -u), " +
			"or on the container"
	case has("runtime: out of memory", "cannot allocate memory", "fatal error: out of memory",
		"failed to reserve page summary memory"):
		return "it was given no more memory" + spaceLimit()
	case has("no space left on device", "No space left on device"):
		return "a disk is full: free some space"
	}
	return ""
}

// spaceLimit describes the limit on address space, which processes inherit, or returns "".
func spaceLimit() string {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || l.Cur>>62 != 0 {
		return ""
	}
	return fmt.Sprintf(": the limit on address space (ulimit -v) is %d KB", l.Cur/1024)
}

// kills counts processes that the kernel has killed because memory had run out.
type kills struct {
	own     int // processes of this process's control group, which has the processes of the run
	known   bool
	machine int // processes of the whole machine
}

// readKills returns the kills since the machine was started.
func readKills() (k kills) {
	k.own, k.known = cgroup.Kills(os.DirFS("/"))
	b, _ := os.ReadFile("/proc/vmstat")
	for line := range strings.Lines(string(b)) {
		if count, found := strings.CutPrefix(line, "oom_kill "); found {
			k.machine, _ = strconv.Atoi(strings.TrimSpace(count))
		}
	}
	return k
}

// since returns the kills that came after an earlier count.
func (k kills) since(before kills) kills {
	return kills{k.own - before.own, k.known && before.known, k.machine - before.machine}
}

// Output runs a short program, and returns its output, with its standard error if both is true. The program
// ends with this process, even if that is killed.
func Output(cmd *exec.Cmd, both bool) ([]byte, error) {
	runtime.LockOSThread() // the program gets the signal when the thread that started it ends
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = dying()
	if both {
		return cmd.CombinedOutput()
	}
	return cmd.Output()
}
