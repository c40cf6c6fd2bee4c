package cluster

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// await waits until a process is stopped, or is not.
func await(t *testing.T, p *process, stopped bool) {
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
	p, err := l.start("a sleeper", "/bin/sleep", []string{"60"}, nil, nil, nil)
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
