//go:build linux

package commands

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A liveRun is a run in the background.
type liveRun struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	said bytes.Buffer
}

// beginRun begins a run that lasts until it is ended, and waits until faults can be injected into it.
func beginRun(t *testing.T, flags ...string) *liveRun {
	t.Helper()
	r := &liveRun{t: t, dir: t.TempDir()}
	r.start(append([]string{"bench", "--hold", "1ms", "--warmup", "1ms", "--no-progress"}, flags...)...)
	r.awaitList("has no faults")
	return r
}

// start starts the orchestrator in the background.
func (r *liveRun) start(args ...string) {
	r.t.Helper()
	r.cmd = orchestrator(r.t, r.dir, args...)
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	process := r.cmd.Process
	r.t.Cleanup(func() { process.Kill() })
}

// awaitList waits until the latest run is on and the list of its faults says something.
func (r *liveRun) awaitList(want string) {
	r.t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		out, _ := orchestrator(r.t, r.dir, "inject", "--list").CombinedOutput()
		if strings.Contains(string(out), want) && !strings.Contains(string(out), "takes no faults") {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the faults are not %q:\n%s\n%s", want, out, &r.said)
		}
	}
}

// interrupt ends the run as Ctrl-C does.
func (r *liveRun) interrupt() {
	r.cmd.Process.Signal(syscall.SIGINT)
	r.cmd.Wait()
}

// says runs the orchestrator, which is to exit with a status and to say some things.
func (r *liveRun) says(status int, line string, want ...string) {
	r.t.Helper()
	cmd := orchestrator(r.t, r.dir, strings.Fields(line)...)
	timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	out, _ := cmd.CombinedOutput()
	timer.Stop()
	if got := cmd.ProcessState.ExitCode(); got != status {
		r.t.Errorf("%s exits with %d, want %d:\n%s", line, got, status, out)
	}
	for _, text := range want {
		if !strings.Contains(string(out), text) {
			r.t.Errorf("%s does not say %q:\n%s", line, text, out)
		}
	}
}

// Faults are injected into a run in progress, healed before their time, and recorded like other faults. A
// command that waits for a fault is told when the run ends.
func TestInject(t *testing.T) {
	r := beginRun(t, "--algo", "ricart", "-n", "3", "--duration", "30m", "--patience", "60s")
	r.says(0, "inject --pause 1 --for 100s", "as fault 1: pause 1 at ", "fault 1: in force since ", "hit node 1")
	r.says(0, "inject latest --list", "1  pause 1 at ", "in force")
	r.says(0, "inject --heal 1", "fault 1: healed, from ")
	r.says(64, "inject --heal 1", "fault 1 is healed already")
	r.says(0, "inject --kill holder", "as fault 2: kill holder at ", "fault 2: done, for good since ",
		", hit node ")

	r.says(64, "inject", "nothing to inject")
	r.says(64, "inject --kill 7", "there is no node 7")
	r.says(64, "inject --kill 1 --list", "give only one of")
	r.says(64, "inject --for 1s", "--for goes with a fault")
	r.says(64, "inject --pause 0 --at 40m", "the run is measured for 30m0s")
	r.says(64, "inject --pause 0 --for 30m", "let the fault end by then", "the measurement has lasted ")
	r.says(64, "inject --pause 0 --for 25m", "a pause of a process or connection must be shorter than 20m0s")
	r.says(64, "inject --kill coordinator", "has no coordinator")
	r.says(64, "inject --heal 9", "there is no fault 9")

	var both []*exec.Cmd
	for _, flags := range [][]string{{"--duplicate", "10%"}, {"--delay", "1ms"}} {
		cmd := orchestrator(t, r.dir, append([]string{"inject", "--for", "10ms"}, flags...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		both = append(both, cmd)
	}
	for _, cmd := range both {
		timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("one of two injects at once: %v", err)
		}
		timer.Stop()
	}
	r.says(0, "inject --list", "3  d", "4  d")

	waits := orchestrator(t, r.dir, "inject", "--pause", "0", "--when", "any enters #1000000")
	var says bytes.Buffer
	waits.Stdout, waits.Stderr = &says, &says
	if err := waits.Start(); err != nil {
		t.Fatal(err)
	}
	r.awaitList("waiting for its moment")
	r.interrupt()
	waits.Wait()
	if got := waits.ProcessState.ExitCode(); got != 2 {
		t.Errorf("who waits when the run ends exits with %d, want 2:\n%s", got, &says)
	}
	r.says(69, "inject --kill 0", "is over: no faults can be injected")
	r.says(69, "inject --list", "is over")
	r.says(2, "verify", "kill holder at ", "pause 0 when any enters #1000000", "it did not take place")
	r.says(2, "show", "1 pause 1", "2 kill holder")
	rows, err := os.ReadFile(filepath.Join(r.dir, "results/latest/faults.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{",1,1,pause 1,", ",1,2,kill holder,", ",1,3,d", ",1,4,d"} {
		if !strings.Contains(string(rows), want) {
			t.Errorf("faults.csv does not have %q:\n%s", want, rows)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "results/latest/control.sock")); err == nil {
		t.Error("left behind: the socket of the run")
	}
}

// A plan is injected as a whole.
func TestAPlanIsInjected(t *testing.T) {
	r := beginRun(t, "--algo", "central", "-n", "3", "--duration", "10m")
	plan := "faults:\n- cut: 0/1\n  for: 1s\n"
	if err := os.WriteFile(filepath.Join(r.dir, "mine.yaml"), []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	r.says(64, "inject --plan random:7", "--plan: a plan that is drawn by a seed depends on the run")
	r.says(64, "inject --plan ./mine.yaml --list", "give only one of")
	r.says(0, "inject --plan ./mine.yaml", "as fault 1: cut 0/1 at ", "fault 1: in force since ")
	r.interrupt()
	r.says(2, "verify", "cut 0/1 at ", "it hit 0 messages")
}

// A run that was killed says which faults were injected into it.
func TestInjectIntoAKilledRun(t *testing.T) {
	r := beginRun(t, "--algo", "ricart", "-n", "3", "--duration", "10m")
	r.says(0, "inject --pause 2 --for 30s", "hit node 2")
	r.cmd.Process.Kill()
	r.cmd.Wait()
	r.says(69, "inject --kill 0", "its orchestrator was killed", "orchestrator verify results/bench/")
	r.says(2, "verify", "pause 2 at ")
}

func TestInjectWhereNothingIsOn(t *testing.T) {
	r := &liveRun{t: t, dir: t.TempDir()}
	r.says(64, "inject --kill 0", "there are no runs")
	r.says(0, "simulate -n 3 --entries 9 --results here", "")
	r.says(64, "inject --results here --kill 0", "is simulated")
}
