//go:build unix

package commands

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/judge/check"
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

// A command that only reads ends soon after the program was asked to end. A command that has made something
// ends or removes that first. Both have the status of an interruption.
func TestEndOfCommandsThatWereAskedToEnd(t *testing.T) {
	forever := func(context.Context, *app) error { select {} }
	untilAsked := func(ctx context.Context, _ *app) error { <-ctx.Done(); return nil }
	for _, test := range []struct {
		what string
		Command
		want error
	}{
		{"one that hears nothing", Command{Run: forever}, errInterrupted},
		{"one that is done just then", Command{Run: untilAsked}, errInterrupted},
		{"one that ends what it has made", Command{Run: untilAsked, Ends: true}, errInterrupted},
		{"one that serves", Command{Run: untilAsked, Serves: true}, nil},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		if err := test.do(ctx, &app{}); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, not %v", test.what, err, test.want)
		}
	}
	for _, c := range Commands(catalog.Table{}) {
		of := c.Group
		for _, c := range append(c.Below, c) {
			makes := c.Group == makesRun || c.Group == makesMany || c.Name == "publish SET" || of == makesMany
			if c.Ends != makes {
				t.Errorf("%s: it ends what it has made: %v, not %v", c.Name, c.Ends, makes)
			}
		}
	}
}

// The verdict on an archive is inconclusive if it was not read to its end.
func TestVerifyOfAnArchiveInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set.tar.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(file)
	out := tar.NewWriter(packed)
	out.WriteHeader(&tar.Header{Name: "set/SHA256SUMS", Mode: 0o644})
	if err := errors.Join(out.Close(), packed.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := run(ctx, program{}, []string{"verify", path}, io.Discard, t.Output()); got != 2 {
		t.Errorf("the status is %d, not 2", got)
	}
}

// A command that joins a control plane can be interrupted while the control plane does not answer.
func TestJoiningInterrupted(t *testing.T) {
	t.Parallel()
	mute := listen(t)
	for _, args := range [][]string{{"hosts", "join"}, {"hosts", "--control"}} {
		cmd := orchestrator(t, t.TempDir(), append(args, "nats://token@"+mute.Addr().String())...)
		cmd.Stderr = t.Output()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		conn, err := mute.Accept()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		conn.Close()
		if got := cmd.ProcessState.ExitCode(); got != check.Inconclusive.ExitCode() {
			t.Errorf("%v: the status is %d", args, got)
		}
	}
}
