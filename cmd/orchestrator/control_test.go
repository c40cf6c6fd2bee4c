package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/bench/access"
)

// The control plane is served to who has a key of its folder, until it is asked to end.
func TestControl(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{"keys keys", "keys other"} {
		if out, err := orchestrator(t, dir, strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	before, err := os.ReadDir(filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := orchestrator(t, dir, "control", "--keys", "keys", "--listen", "127.0.0.1:0")
	says, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer timer.Stop()
	url, err := bufio.NewReader(says).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	conn, err := access.Connect(url, filepath.Join(dir, "keys", access.LabFile))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if stranger, err := access.Connect(url, filepath.Join(dir, "other", access.LabFile)); err == nil {
		stranger.Close()
		t.Error("a key of another folder is let in")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	want := "orchestrator: listening on " + strings.TrimPrefix(url, "tls://") +
		"; whoever has the key of the lab may connect\n"
	if !strings.HasPrefix(log.String(), want) || !strings.Contains(log.String(), "TLS handshake error") {
		t.Errorf("it logs:\n%s", &log)
	}
	after, err := os.ReadDir(filepath.Join(dir, "keys"))
	if err != nil || len(before) != len(after) {
		t.Errorf("the folder of keys has %d files, and had %d: %v", len(after), len(before), err)
	}
}
