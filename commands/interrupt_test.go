//go:build unix

package commands

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// interruptedVariable, if set, makes this test program wait for a signal that asks it to end, but not end.
const interruptedVariable = "ORCHESTRATOR_TEST_INTERRUPTED"

func beInterrupted() {
	ctx := interruptible()
	fmt.Println("up")
	<-ctx.Done()
	fmt.Println("asked")
	time.Sleep(time.Hour)
}

// The first signal asks the program to end, and the second ends it, even if the program was started to ignore
// that signal. Two signals at once count as one.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	for _, test := range []struct {
		ignored string
		first   syscall.Signal
		second  syscall.Signal
		status  int // exit status, as in shells; -1: ended by the signal
	}{
		{"", syscall.SIGINT, syscall.SIGINT, -1},
		{"", syscall.SIGTERM, syscall.SIGINT, -1},
		{"", syscall.SIGHUP, syscall.SIGTERM, -1},
		{"INT", syscall.SIGINT, syscall.SIGINT, 130},
		{"INT HUP", syscall.SIGINT, syscall.SIGTERM, -1},
	} {
		if test.first == syscall.SIGHUP && signal.Ignored(syscall.SIGHUP) {
			t.Logf("%+v is not tested under nohup", test)
			continue
		}
		cmd := exec.Command("/bin/sh", "-c", `trap "" `+test.ignored+`; exec "$0"`, os.Args[0])
		if test.ignored == "" {
			cmd.Args[2] = `exec "$0"`
		}
		cmd.Env = append(os.Environ(), interruptedVariable+"=1")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
		lines := bufio.NewScanner(out)
		lines.Scan()
		if test.ignored == "INT HUP" { // as under nohup: it is not heard
			cmd.Process.Signal(syscall.SIGHUP)
		}
		begin := time.Now()
		cmd.Process.Signal(test.first)
		if lines.Scan(); lines.Text() != "asked" {
			t.Errorf("%+v: it says %q", test, lines.Text())
		}
		cmd.Process.Signal(test.first) // two that are pending together would come as one
		late := time.Since(begin) > sameRequest/2
		time.Sleep(3 * sameRequest / 2)
		cmd.Process.Signal(test.second)
		for lines.Scan() {
		}
		cmd.Wait()
		timer.Stop()
		state := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if late {
			t.Logf("%+v shows nothing: this machine is too busy", test)
			continue
		}
		if got := cmd.ProcessState.ExitCode(); got != test.status ||
			test.status == -1 && state.Signal() != test.second {
			t.Errorf("%+v: it ends with %v", test, cmd.ProcessState)
		}
	}
}
