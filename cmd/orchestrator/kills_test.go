//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/internal/soak"
)

// underPlans are faults that a kill from outside may come amidst.
var underPlans = []string{"", "--kill random --at 200ms --for 200ms", "--kill holder --at 300ms",
	"--pause 0-1 --at 100ms --for 500ms", "--cut 0/1-2 --at 100ms --for 300ms",
	"--slow 0 --share 50% --at 100ms --for 500ms", "--kill-broker 0 --at 200ms --for 200ms"}

// Whatever is killed, and when, no process is left behind and every result set can be read.
func TestKillsAtRandomMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	for i := range soak.Pick(1, 3, 100) {
		algorithm := []string{"ricart", "ring", "central", "suzuki"}[r.IntN(4)]
		plan := underPlans[r.IntN(len(underPlans))]
		victim := []string{"orchestrator", "broker", "node"}[i%3]
		moment := time.Duration(100+r.IntN(900)) * time.Millisecond
		killAt(t, fmt.Sprintf("%s %s, %s after %v", algorithm, plan, victim, moment),
			append([]string{"bench", "--algo", algorithm, "-n", "3", "--duration", "800ms", "--warmup",
				"100ms", "--patience", "300ms", "--no-progress"}, strings.Fields(plan)...), victim, moment)
	}
}

// killAt makes a run one of whose processes is killed at a moment, and looks at what is left of it.
func killAt(t *testing.T, name string, args []string, victim string, moment time.Duration) {
	t.Helper()
	dir := t.TempDir()
	cmd := orchestrator(t, dir, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(moment)
	for _, pid := range append(children(cmd.Process.Pid), cmd.Process.Pid) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		words := append(strings.Split(string(command), "\x00"), "")
		is := filepath.Base(words[0])
		if words[1] == "broker" || words[1] == "proxy" {
			is = words[1]
		}
		if is == victim {
			syscall.Kill(pid, syscall.SIGKILL)
			break
		}
	}
	over := time.AfterFunc(time.Minute, func() {
		t.Errorf("%s: the run does not end", name)
		cmd.Process.Kill()
	})
	cmd.Wait()
	over.Stop()
	for range 100 { // those that are killed with it take a moment
		if len(processesIn(dir)) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if left := processesIn(dir); len(left) > 0 {
		t.Errorf("%s: the processes %v are left behind", name, left)
	}
	if _, err := os.Stat(filepath.Join(dir, "results", "latest")); err != nil {
		return // it was killed before it had a folder
	}
	for _, command := range []string{"show", "verify"} {
		out, err := orchestrator(t, dir, command).CombinedOutput()
		says := string(out)
		failed := err != nil && !strings.Contains(says, "INCONCLUSIVE") &&
			!strings.Contains(says, "holds no history")
		if failed || strings.Contains(says, "goroutine ") || strings.Contains(says, "VIOLATED") {
			t.Errorf("%s: %s says\n%s", name, command, says)
		}
	}
}
