package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"turnstile/internal/proc"
	"turnstile/internal/quickpipe"
	"turnstile/internal/unavailable"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
)

// The limits of foreign programs.
const (
	initLimit   = 10 * time.Second // time limit for the answer to init; waits for processors do not count
	closeLimit  = 500 * time.Millisecond
	lookEvery   = 100 * time.Millisecond // pause between looks at whether the program reads its input
	hungLooks   = 20                     // looks in a row without a read, after which the program counts as hung
	stillLooks  = 3                      // looks in a row that find the program stopped though its node runs
	floodLines  = 5_000                  // most lines of the program that wait to be handled
	floodBytes  = 64 << 20               // most bytes of lines of the program that wait to be handled
	mostUnread  = 64 << 20               // most bytes of input that the program has not read
	tailLines   = 20                     // lines of its standard error that are kept
	tailColumns = 300                    // bytes that are kept of each line of its standard error
)

// LongestInit is how long a foreign program may take to answer init on a machine without a free processor.
const LongestInit = proc.LongestStart * initLimit

// A child is the process of a foreign program. It is in the process group of the node, so signals of the
// orchestrator to the node's group reach both.
type child struct {
	id      nodes.ID
	process *proc.Process   // also keeps what the program prints to its standard error
	input   *os.File        // its standard input
	quick   *quickpipe.Pipe // the same pipe, for writes that do not block
	wake    func()          // makes the loop of the host look for lines of the program

	mu      sync.Mutex
	heard   []foreign.Said // lines of the program, not handled yet
	bytes   int            // bytes of the lines in heard
	wrong   error          // why no more lines come
	unread  []byte         // input that does not fit into the pipe
	writing bool           // a goroutine writes unread

	news     atomic.Bool   // heard or wrong is set
	written  atomic.Uint64 // bytes that went into the pipe
	answered chan error    // gets the result of init, once
}

// startChild starts the program of a node, in its own process group if apart is set, and sends init. pass
// names the variables that its environment has beside the usual ones.
func startChild(command, pass string, init foreign.Init, apart bool, wake func()) (*child, error) {
	c := &child{id: init.Node, wake: wake, answered: make(chan error, 1)}
	fail := func(err error) (*child, error) {
		return nil, fmt.Errorf("starting %q: %w", command, err)
	}
	stdin, input, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	c.input = input
	if c.quick, err = quickpipe.New(input); err != nil {
		return fail(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	output, err := quickpipe.New(out)
	if err != nil {
		return fail(err)
	}
	c.process, err = supervisor().Start(proc.Command{Name: "the program of " + foreign.NameOf(c.id),
		Program: []string{"/bin/sh", "-c", "exec " + command}, Env: environment(pass), OnlyEnv: true,
		Stdin: stdin, Stdout: stdout, Shares: !apart})
	if err != nil {
		return fail(err)
	}
	go c.read(output)
	c.tell(init.Line())
	return c, nil
}

// environment returns the variables of this process that a program gets: what it needs to run, and each that
// pass names. It does not get credentials of the user.
func environment(pass string) []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !strings.HasPrefix(name, "TURNSTILE_") && !slices.Contains(strings.Split(pass, ","), name) &&
			!slices.Contains([]string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}, name)
	})
}

// supervisor starts the programs of nodes.
var supervisor = sync.OnceValue(proc.NewLauncher)

// await waits until the program has answered init.
func (c *child) await() error {
	select {
	case err := <-c.answered:
		return c.explain(err)
	case <-c.process.Late(initLimit):
	}
	select {
	case err := <-c.answered: // it has ended, or answered at the last moment
		return c.explain(err)
	case <-time.After(closeLimit):
		return c.explain(unavailable.Mark(fmt.Errorf("it has not answered init with init_ok after %v", initLimit)))
	}
}

// read hands the loop the lines of the program, until the program ends or writes a wrong line.
func (c *child) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), foreign.LongestLine)
	err := c.readLines(lines)
	switch {
	case err != nil:
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		err = fmt.Errorf("it wrote a line longer than %d bytes", foreign.LongestLine)
	default:
		<-c.process.Ended()
		err = c.exit(c.process.Fate())
	}
	select {
	case c.answered <- err:
	default:
	}
	c.end(err)
}

// exit returns the error for the end of the program. The end is a breach, except for want of memory or disk
// space, or after a signal, which anybody may have sent. A shell whose command got the signal n exits with
// status 128+n.
func (c *child) exit(f proc.Fate) error {
	says := f.How
	if f.Well {
		says = "exit status 0"
	}
	wrong := fmt.Errorf("it has ended by itself: %s", says)
	if f.Status < 0 || f.Status > 128 || f.Cause != "" {
		return wrong
	}
	if lines := c.errorLines(); len(lines) > 0 {
		says += "; it wrote last to its standard error: " + lines[len(lines)-1]
	}
	return foreign.NewBreach(history.EndedItself, says, wrong)
}

// readLines reads lines until the program ends or is wrong.
func (c *child) readLines(lines *bufio.Scanner) error {
	known := false
	for lines.Scan() {
		said, err := foreign.Read(lines.Bytes(), c.id)
		if err == nil && !known {
			known, err = said.Answers()
			if known {
				c.answered <- nil
				go c.look()
			}
		}
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.heard = append(c.heard, said)
		c.bytes += len(said.Raw)
		floods := len(c.heard) > floodLines || c.bytes > floodBytes
		c.mu.Unlock()
		if floods {
			return fmt.Errorf("it writes too fast: more than %d lines or %d bytes are unread; its node reads "+
				"%d messages a second", floodLines, floodBytes, linesPerMS*1000)
		}
		if c.news.CompareAndSwap(false, true) {
			c.wake()
		}
	}
	return nil
}

// take returns at most so many lines of the program and, once all are taken, why no more come.
func (c *child) take(most int) (said []foreign.Said, wrong error) {
	c.news.Store(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(most, len(c.heard))
	said = c.heard[:n:n]
	for i := range said {
		c.bytes -= len(said[i].Raw)
	}
	if c.heard = c.heard[n:]; len(c.heard) == 0 {
		c.heard = nil
		if n == 0 {
			wrong = c.wrong
		}
	}
	if len(c.heard) > 0 || n > 0 && c.wrong != nil {
		c.news.Store(true)
	}
	return said, wrong
}

// tell writes lines to the program: what fits into the pipe at once, the rest in the background.
func (c *child) tell(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unread) == 0 && !c.writing {
		n := c.put(b)
		b = b[n:]
	}
	if len(b) == 0 {
		return nil
	}
	if c.unread = append(c.unread, b...); len(c.unread) > mostUnread {
		return fmt.Errorf("it does not read its input: %d bytes wait for it", len(c.unread))
	}
	if !c.writing {
		c.writing = true
		go c.write()
	}
	return nil
}

// put writes as much as fits into the pipe. It ignores errors: if the program has ended, read notices.
func (c *child) put(b []byte) (written int) {
	written, err := c.quick.Put(b)
	if err != nil {
		return len(b)
	}
	c.written.Add(uint64(written))
	return written
}

// write writes the input that did not fit into the pipe.
func (c *child) write() {
	for {
		c.mu.Lock()
		b := c.unread
		if c.unread = nil; len(b) == 0 {
			c.writing = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if n, err := c.input.Write(b); err == nil {
			c.written.Add(uint64(n))
		}
	}
}

// look finds a program that a signal has stopped alone, or that hangs: it reads nothing though input waits.
// It counts looks, not time, since the program is paused with its node.
func (c *child) look() {
	read, same, still := uint64(0), 0, 0
	for {
		select {
		case <-c.process.Ended():
			return
		case <-time.After(lookEvery):
		}
		if still++; !c.process.StandsStill() {
			still = 0
		} else if still == stillLooks {
			c.end(errors.New("it stands still: a signal that is not the run's has stopped it (SIGSTOP)"))
			return
		}
		waits, err := pipeHolds(c.input)
		if err != nil {
			continue // the input is closed, or this system cannot tell
		}
		if now := c.written.Load() - uint64(waits); waits == 0 || now != read {
			read, same = now, 0
			continue
		}
		if same++; same == hungLooks {
			c.end(fmt.Errorf("it hangs: it has read nothing of its input for %v, and %d bytes wait",
				hungLooks*lookEvery, waits))
			return
		}
	}
}

// end makes the run end with an error, once the lines of the program that came before are handled.
func (c *child) end(wrong error) {
	c.mu.Lock()
	c.wrong = wrong
	c.mu.Unlock()
	c.news.Store(true)
	c.wake()
}

// errorLines returns the last lines of the standard error.
func (c *child) errorLines() []string {
	lines := strings.FieldsFunc(c.process.Printed(), func(r rune) bool { return r == '\n' })
	lines = lines[max(0, len(lines)-tailLines):]
	for i, line := range lines {
		lines[i] = line[:min(len(line), tailColumns)]
	}
	return lines
}

// lastWords returns errorLines as the end of a sentence.
func (c *child) lastWords() string {
	lines := c.errorLines()
	if len(lines) == 0 {
		return "it wrote nothing to its standard error"
	}
	return "the last lines of its standard error:\n" + strings.Join(lines, "\n")
}

// explain adds to an error the node of the program, and the last lines of its standard error.
func (c *child) explain(err error) error {
	if err == nil {
		return nil
	}
	select { // its standard error may still be on its way
	case <-c.process.Ended():
	case <-time.After(100 * time.Millisecond):
	}
	return fmt.Errorf("the program of %s: %w; %s", foreign.NameOf(c.id), err, c.lastWords())
}

// close closes the input of the program, which should then end, and kills it if it does not. If it has
// its own process group, its children are killed with it.
func (c *child) close() {
	c.input.Close()
	select {
	case <-c.process.Ended():
	case <-time.After(closeLimit):
		c.process.Dismiss()
		<-c.process.Ended()
	}
}

// unfit returns the error of Declare for a program that gave the error err instead of an answer to init.
func (c *child) unfit(command string, err error) error {
	const missing, notExecutable = 127, 126 // the exit status of the shell
	var breach *foreign.Breach
	if !errors.As(err, &breach) {
		return err
	}
	switch c.process.Fate().Status {
	case missing:
		return fmt.Errorf("there is no program for %q: write its path, or the name of one in PATH (%s)", command,
			breach.Line)
	case notExecutable:
		return fmt.Errorf("the program of %q cannot be executed: name its interpreter, as in 'python3 FILE' (%s)",
			command, breach.Line)
	}
	return fmt.Errorf("%q %w: %s", command, ErrEnded, breach.Line)
}

// ErrEnded is the error of Declare for a program that ends too early.
var ErrEnded = errors.New("ended before it answered init with init_ok")

// Declare starts a program for a moment, as n0 of a cluster, and returns its declaration. The error says why
// it cannot be started, or what is wrong with its declaration. An orchestrator calls it before a run, when
// the servers of a service do not run yet.
func Declare(command, pass string, init foreign.Init) (*foreign.Declaration, error) {
	before := proc.Descendants(os.Getpid())
	proc.Adopt(true)
	defer proc.Adopt(false)
	defer func() { proc.EndAdopted(before) }()
	c, err := startChild(command, pass, init, true, func() {})
	if err != nil {
		return nil, err
	}
	err = c.await()
	c.close()
	if err != nil {
		return nil, c.unfit(command, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, said := range c.heard {
		if said.Declares() {
			return foreign.ReadDeclaration(said.Raw)
		}
	}
	return foreign.ReadDeclaration("{}")
}
