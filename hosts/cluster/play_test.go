package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"turnstile/internal/broker"
	"turnstile/internal/proc"
)

// playing is the argument that makes this test program play a process started by a Launcher.
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
	case "79 files", "80 files":
		var most uint64
		fmt.Sscan(role, &most)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			fmt.Println(err)
		}
		fmt.Println(CheckLimits(4, 1))
	case "900000 KB": // of address space
		const most = 900_000 << 10
		if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			fmt.Println(err)
		}
		fmt.Println(CheckLimits(4, 1))
	case "idle":
		time.Sleep(time.Hour)
	case "busy":
		fmt.Println("up")
		for until := time.Now().Add(time.Hour); time.Now().Before(until); { // at work, not asleep
		}
	case "broker":
		if err := ServeBroker(os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
			return 1
		}
	case "proxies":
		if err := ServeProxies(os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return 0
}

// mustLaunch starts this program in a role.
func mustLaunch(t *testing.T, l *Launcher, role string, input []byte,
	onOutput func([]byte) []byte) *proc.Process {
	t.Helper()
	p, err := l.Launcher.Start(proc.Command{Name: "a " + role, Program: []string{os.Args[0], playing, role},
		Input: input, OnOutput: onOutput})
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
func ended(t *testing.T, p *proc.Process) proc.Fate {
	t.Helper()
	select {
	case <-p.Ended():
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not end", p.Name())
	}
	return p.Fate()
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

// A held port can be bound by a process that asks for it by number, is assigned to no other process, and
// refuses connections while nobody listens.
func TestPortIsHeld(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ports are not held")
	}
	p, err := HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	for range 3 { // a listener comes and goes
		if conn, err := net.Dial("tcp", broker.Address(p.Number)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens, and the error is %v", err)
			if err == nil {
				conn.Close()
			}
		}
		l, err := net.Listen("tcp", broker.Address(p.Number))
		if err != nil {
			t.Fatal(err)
		}
		accepted := make(chan net.Conn, 1)
		go func() {
			conn, _ := l.Accept()
			accepted <- conn
		}()
		conn, err := net.Dial("tcp", broker.Address(p.Number))
		if err != nil {
			t.Fatal(err)
		}
		if err := broker.CanListenAt(broker.Address(p.Number)); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("somebody listens, and the error is %v", err)
		}
		(<-accepted).Close() // this side closes first, so the port is in TIME_WAIT
		l.Close()
		conn.Close()
	}
	for range 2000 { // of some 14,000 that the kernel gives out
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if l.Addr().(*net.TCPAddr).Port == p.Number {
			t.Fatal("a port that is held is given to somebody")
		}
		defer l.Close()
	}
}
