//go:build linux

package main

import (
	"strings"
	"testing"

	"turnstile/internal/soak"
)

// Servers of a service are cut off from each other in a run, which goes on afterwards. One server alone has
// nobody to be cut off from.
func TestServersAreCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"bench", "--service", "nats-kv", "-n", "3", "--cut-server", "server 0/server 1-2",
		"--at", "500ms", "--for", "1s", "--duration", "4s"}
	alone := orchestrator(t, dir, args...)
	alone.Stderr = nil
	out, _ := alone.CombinedOutput()
	if status := alone.ProcessState.ExitCode(); status != 64 ||
		!strings.Contains(string(out), "no other to be cut off from") {
		t.Errorf("with one server: status %d: %s", status, out)
	}
	if soak.Pick(true, false, false) {
		return
	}
	run := orchestrator(t, dir, append(args, "--with", "members=3")...)
	run.Stderr = nil
	out, _ = run.CombinedOutput()
	if status := run.ProcessState.ExitCode(); status != 0 ||
		!strings.Contains(string(out), "it hit server 0, server 1 and server 2") {
		t.Errorf("status %d: %s", status, out)
	}
}
