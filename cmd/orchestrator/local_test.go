package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/bench/service/local"
	"turnstile/internal/soak"
)

// Locks of one machine run as services do, and leave nothing. A holder that is killed frees flock alone.
func TestLocalLocks(t *testing.T) {
	t.Parallel()
	sizes := soak.Pick([]int{5}, []int{1, 5, 32}, []int{1, 5, 32})
	for _, x := range local.Services[:soak.Pick(1, len(local.Services), len(local.Services))] {
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			for _, n := range sizes {
				says := runLocal(t, x.Name, "-n", fmt.Sprint(n), "--duration", "300ms")
				// A client that is always passed over is no error of a lock that promises no order.
				if !strings.Contains(says, "VALID  no two were inside together") &&
					!strings.Contains(says, "got nothing in it") {
					t.Errorf("%d clients:\n%s", n, says)
				}
			}
			if x.Name == "test-and-set" && testing.Short() {
				return // who waits takes processors from other tests until the run has given up
			}
			says := runLocal(t, x.Name, "-n", "3", "--hold", "5ms", "--kill", "holder", "--at", "200ms",
				"--duration", "600ms", "--patience", "1s")
			frees := len(x.Declare(nil).Live) == 0
			if frees == strings.Contains(says, "blocked, as its model allows") {
				t.Errorf("the holder is killed, and the lock is to be free: %t:\n%s", frees, says)
			}
		})
	}
}

// runLocal makes a run of a lock of one machine and returns what it prints. It makes up to two more where the
// machine stood still in one: then a fault may not have taken place.
func runLocal(t *testing.T, name string, args ...string) (says string) {
	t.Helper()
	for range 3 {
		dir := t.TempDir()
		cmd := orchestrator(t, dir, append([]string{"bench", "--service", name, "--warmup", "0s", "--no-progress"},
			args...)...)
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
		out, _ := cmd.CombinedOutput()
		if left, _ := filepath.Glob(filepath.Join(dir, "turnstile-servers-*")); left != nil {
			t.Errorf("folders of keepers are left behind: %q", left)
		}
		if says = string(out); !strings.Contains(says, "the orchestrator stood still") {
			break
		}
	}
	return says
}
