package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// playing is the argument that makes the program of these tests play a process that a Launcher starts.
const playing = "play"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == playing {
		os.Exit(play(os.Args[2]))
	}
	os.Exit(m.Run())
}

// play plays a role and returns the exit status.
func play(role string) int {
	signal.Ignore(os.Interrupt)
	switch role {
	case "echo": // what it is told, in capitals, until its input ends
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			fmt.Println(strings.ToUpper(lines.Text()))
		}
	case "fail":
		fmt.Println("first words")
		fmt.Println(strings.Repeat("gibberish ", 1000))
		fmt.Fprintln(os.Stderr, "last words")
		return 7
	case "deaf": // it hears neither the end of its input nor anything else
		fmt.Println("up")
		time.Sleep(time.Hour)
	case "forking", "forking a daemon": // it ends before what it has started
		child := exec.Command(os.Args[0], playing, "idle")
		child.Stdout = os.Stdout
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: role != "forking"}
		if err := child.Start(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(child.Process.Pid)
	case "temporary": // it makes a temporary folder, and waits to be killed
		dir, err := TempDir("test")
		fmt.Println(dir, err)
		time.Sleep(time.Hour)
	case "idle":
		time.Sleep(time.Hour)
	case "parent": // it starts a deaf child, tells its number, and waits to be killed
		out := make(chan []byte, 16)
		p, err := launch(NewLauncher(), "deaf", nil, func(b []byte) []byte { out <- bytes.Clone(b); return b })
		if err != nil {
			fmt.Println(err)
			return 1
		}
		<-out
		fmt.Println(p.Pid())
		time.Sleep(time.Hour)
	}
	return 0
}

// launch starts this program in a role.
func launch(l *Launcher, role string, input []byte, onOutput func([]byte) []byte) (*Process, error) {
	return l.Start(Command{Name: "a " + role, Program: []string{os.Args[0], playing, role}, Input: input,
		OnOutput: onOutput})
}

func mustLaunch(t *testing.T, l *Launcher, role string, input []byte,
	onOutput func([]byte) []byte) *Process {
	t.Helper()
	p, err := launch(l, role, input, onOutput)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		<-p.Ended()
	})
	return p
}

// ended waits until p has ended, and returns how.
func ended(t *testing.T, p *Process) error {
	t.Helper()
	select {
	case <-p.Ended():
		return p.err
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not end", p.name)
		return nil
	}
}

// A lines collects the lines that a process prints.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) add(b []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(b)
	return b
}

// await waits for the first line.
func (l *lines) await(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		line, _, whole := strings.Cut(l.text.String(), "\n")
		l.mu.Unlock()
		if whole {
			return line
		}
	}
	t.Fatal("the process prints nothing")
	return ""
}

func TestProcessIsKilled(t *testing.T) {
	p := mustLaunch(t, NewLauncher(), "deaf", nil, nil)
	p.Kill()
	if err := ended(t, p); err == nil || err.Error() != "signal: killed" {
		t.Errorf("it ends with %v", err)
	}
	p.Kill() // once more, when nothing is left to kill
	if got := p.LastWords(); got != "; it printed nothing" && !strings.HasSuffix(got, "\tup") {
		t.Errorf("its last words: %q", got)
	}
}

func TestTail(t *testing.T) {
	all := strings.Repeat("0123456789", tailLen)
	for _, length := range []int{0, 1, tailLen, tailLen + 1, 2 * tailLen, 2*tailLen + 1, len(all)} {
		for _, piece := range []int{1, 1000, len(all)} {
			var kept tail
			for from := 0; from < length; from += piece {
				kept.add([]byte(all[from:min(from+piece, length)]))
			}
			want := all[:length]
			if length > 2*tailLen {
				want = all[:tailLen] + "\n[...]\n" + all[length-tailLen:length]
			}
			if got := kept.String(); got != want {
				t.Errorf("of %d bytes, %d at a time, %d are kept, not %d", length, piece, len(got), len(want))
			}
		}
	}
}

func TestStartFails(t *testing.T) {
	_, err := NewLauncher().Start(Command{Name: "node 3", Program: []string{"/no/such/program"}})
	if err == nil || !strings.Contains(err.Error(), "starting node 3 (/no/such/program)") {
		t.Errorf("the error is %v", err)
	}
	_, err = NewLauncher().Start(Command{Name: "node 3", Program: []string{os.Args[0], playing, "fail"},
		Input: make([]byte, 1<<20)}) // more than a pipe holds
	if err == nil || !strings.Contains(err.Error(), "handing it its input") {
		t.Errorf("the error is %v", err)
	}
}

// The thread of the goroutine that asks for a process ends, and the process lives on.
func TestProcessOutlivesTheThreadThatAskedForIt(t *testing.T) {
	t.Parallel()
	l := NewLauncher()
	var out lines
	started := make(chan *Process)
	go func() {
		runtime.LockOSThread() // and with the goroutine, its thread ends
		started <- mustLaunch(t, l, "deaf", nil, out.add)
	}()
	p := <-started
	out.await(t)
	select {
	case <-p.Ended():
		t.Errorf("it ended: %v", p.err)
	case <-time.After(100 * time.Millisecond):
	}
}

func TestProcessEndsWithItsParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("without a signal at the parent's death, only the end of its input ends a process")
	}
	var out lines
	parent := mustLaunch(t, NewLauncher(), "parent", nil, out.add)
	var child int
	if _, err := fmt.Sscan(out.await(t), &child); err != nil {
		t.Fatal(err)
	}
	parent.Kill()
	ended(t, parent)
	for deadline := time.Now().Add(20 * time.Second); alive(child); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			syscall.Kill(child, syscall.SIGKILL)
			t.Fatal("the child of a process that was killed lives on")
		}
	}
}

// A program may start others, which hold the pipe that it prints to.
func TestProcessEndsBeforeItsChildren(t *testing.T) {
	t.Parallel()
	l := NewLauncher()
	l.drain = 100 * time.Millisecond
	for _, role := range []string{"forking", "forking a daemon"} {
		var out lines
		p := mustLaunch(t, l, role, nil, out.add)
		var child int
		if _, err := fmt.Sscan(out.await(t), &child); err != nil {
			t.Fatal(err)
		}
		defer syscall.Kill(child, syscall.SIGKILL)
		if err := ended(t, p); err != nil {
			t.Errorf("%s: it ends with %v", role, err)
		}
		if role != "forking" || runtime.GOOS != "linux" {
			continue
		}
		for deadline := time.Now().Add(20 * time.Second); alive(child); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: process %d is left behind", role, child)
			}
		}
	}
}

// alive reports whether there is a process of that number that is not a zombie.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(after, "Z")
}

// Ctrl-C at the terminal goes to the group of the process in the foreground.
func TestProcessIsInAGroupOfItsOwn(t *testing.T) {
	p := mustLaunch(t, NewLauncher(), "deaf", nil, nil)
	group, err := syscall.Getpgid(p.Pid())
	if err != nil || group == syscall.Getpgrp() {
		t.Errorf("it is in group %d, %v; this process is in %d", group, err, syscall.Getpgrp())
	}
}

// Bytes for a process wait in the pipe while the process does not read. Once the pipe is full, Tell returns
// an error at once, without waiting for space.
func TestTellingDoesNotWait(t *testing.T) {
	p := mustLaunch(t, NewLauncher(), "deaf", nil, nil)
	line := bytes.Repeat([]byte("1234567\n"), 100)
	var err error
	told := 0
	for ; err == nil && told < 1<<20; told++ {
		err = p.Tell(line)
	}
	const says = "a deaf has not read its input for so long that the pipe is full"
	if err == nil || err.Error() != says || told == 1 {
		t.Errorf("after it was told %d times: %v", told, err)
	}
	p.Kill()
	ended(t, p)
	if err := p.Tell(line); err == nil || !strings.Contains(err.Error(), "telling a deaf: ") {
		t.Errorf("when it has ended: %v", err)
	}
}

func TestProcessesAreTold(t *testing.T) {
	var out lines
	p := mustLaunch(t, NewLauncher(), "echo", []byte("its input, "), out.add)
	for _, text := range []string{"what ", "follows\n"} {
		if err := p.Tell([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.await(t); got != "ITS INPUT, WHAT FOLLOWS" {
		t.Errorf("it answers %q", got)
	}
}

func TestFate(t *testing.T) {
	p := mustLaunch(t, NewLauncher(), "fail", nil, nil)
	ended(t, p)
	if got := p.Fate().Says; !strings.HasPrefix(got, "exit status 7; its last output:\n\tfirst words") {
		t.Errorf("its fate: %q", got)
	}
	p = mustLaunch(t, NewLauncher(), "echo", nil, nil)
	p.input.Close()
	ended(t, p)
	if got := p.Fate().Says; got != "exited with status 0; it printed nothing" {
		t.Errorf("its fate: %q", got)
	}
}

// await waits until a process is stopped, or, if stopped is false, until it is not stopped.
func await(t *testing.T, p *Process, stopped bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
		if err != nil {
			t.Fatal(err)
		}
		if _, state, _ := strings.Cut(string(b), ") "); strings.HasPrefix(state, "T") == stopped {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 10 s it is stopped: %v, want %v", !stopped, stopped)
		}
	}
}

func TestStopsAreNoticed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kernel does not tell")
	}
	l := NewLauncher()
	p, err := l.Start(Command{Name: "a sleeper", Program: []string{"/bin/sleep", "60"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Kill(); <-p.Ended() }()
	expect := func(turns uint32, signals ...syscall.Signal) {
		t.Helper()
		for _, s := range signals {
			if err := p.Signal(s); err != nil {
				t.Fatal(err)
			}
			await(t, p, s == syscall.SIGSTOP) // else the next signal takes this one back
		}
		for deadline := time.Now().Add(5 * time.Second); p.Turns() != turns; time.Sleep(time.Millisecond) {
			NoticeStops()
			if time.Now().After(deadline) {
				t.Fatalf("after %v it has been stopped or continued %d times, not %d", signals, p.Turns(), turns)
			}
		}
	}
	expect(0)
	expect(1, syscall.SIGSTOP)
	expect(2, syscall.SIGCONT)
	expect(4, syscall.SIGSTOP, syscall.SIGCONT) // noticed together
	if seen := NoticeStops(); NoticeStops() != seen {
		t.Error("something is noticed though nothing happened")
	}
}

func TestCause(t *testing.T) {
	var none kills
	for _, test := range []struct {
		how, text string
		kills     kills
		want      string
	}{
		{"signal: killed", "", none, ""},
		{"signal: killed", "", kills{own: 2, known: true, machine: 3}, "memory ran out (the kernel killed 2 " +
			"processes for it): use fewer nodes, or allow more memory"},
		{"signal: killed", "", kills{known: true, machine: 1}, ""}, // of another control group
		{"signal: killed", "", kills{machine: 1}, "perhaps memory ran out (the kernel killed 1 process of the " +
			"machine for it meanwhile)"},
		{"signal: terminated", "", kills{2, true, 2}, ""},
		{"exit status 1", "node: no such algorithm", kills{2, true, 2}, ""},
		{"exit status 2", "runtime: failed to create new OS thread (have 2 already; errno=11)", none,
			"it was given no more threads: raise the limit on this user's processes (ulimit -u), or on the container"},
		{"exit status 1", "write wal: no space left on device", none, "a disk is full: free some space"},
		{"exit status 1", "OSError: [Errno 28] No space left on device", none, "a disk is full"},
		{"exit status 2", "fatal error: runtime: out of memory", none, "it was given no more memory"},
		{"exit status 2", "fatal error: failed to reserve page summary memory", none,
			"it was given no more memory"},
	} {
		if got := cause(test.how, test.text, test.kills); !strings.HasPrefix(got, test.want) ||
			test.want == "" && got != "" {
			t.Errorf("%s after %q: %q, not %q", test.how, test.text, got, test.want)
		}
	}
}

// A process may bring pipes of its own, and be in our group: then its standard error alone is kept.
func TestProcessWithPipesOfItsOwn(t *testing.T) {
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewLauncher().Start(Command{Name: "a cat",
		Program: []string{"/bin/sh", "-c", "echo oops >&2; exec cat"}, Stdin: stdin, Stdout: stdout, Shares: true})
	if err != nil {
		t.Fatal(err)
	}
	if group, err := syscall.Getpgid(p.Pid()); err != nil || group != syscall.Getpgrp() {
		t.Errorf("it is in group %d, %v; this process is in %d", group, err, syscall.Getpgrp())
	}
	fmt.Fprintln(in, "hello")
	in.Close()
	if b, err := io.ReadAll(out); err != nil || string(b) != "hello\n" {
		t.Errorf("it writes %q, %v", b, err)
	}
	if err := ended(t, p); err != nil || p.Printed() != "oops\n" || p.Fate().Status != 0 {
		t.Errorf("it ends with %v, after it printed %q", err, p.Printed())
	}
}

// A guard does nothing once it is dismissed.
func TestGuardsAreDismissed(t *testing.T) {
	dir := t.TempDir()
	g, err := GuardFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	g.Dismiss()
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	if g, err = GuardFolder(dir); err != nil {
		t.Fatal(err)
	}
	g.input.Close() // as if this process had ended
	g.shell.Wait()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its folder is there: %v", err)
	}
}

// A limit of time for the start of a process does not count the time for which it waited for a processor.
func TestLate(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skipf("WAITS FOR PROCESSORS ARE NOT COUNTED: %v", err)
	}
	l := NewLauncher()
	start := func(script string) *Process {
		p, err := l.Start(Command{Name: "it", Program: []string{"/bin/sh", "-c", script}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Dismiss)
		return p
	}
	const limit = 200 * time.Millisecond
	began, sleeper := time.Now(), start("exec sleep 99")
	<-sleeper.Late(limit)
	if took := time.Since(began); took < limit {
		t.Errorf("it is late after %v", took)
	}
	sleeper.Kill()
	<-sleeper.Late(time.Hour) // it has ended
	var busy []*Process
	for range 2*runtime.NumCPU() + 1 {
		busy = append(busy, start("while :; do :; done"))
	}
	began = time.Now()
	<-busy[0].Late(limit)
	took, waited := time.Since(began), busy[0].Waited()
	if waited < limit/10 || took < min(limit+waited/2, LongestStart*limit) {
		t.Errorf("among %d that need a processor it waited for %v, and is late after %v", len(busy), waited, took)
	}
}
