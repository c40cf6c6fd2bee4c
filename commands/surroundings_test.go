//go:build linux

package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/internal/soak"
)

// Each command reports an error if it cannot print.
func TestStandardOutputIsFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	dir := t.TempDir()
	orchestrator(t, dir, "simulate", "-n", "2", "--entries", "9").Run()
	for _, line := range soak.Few([]string{"", "--help", "--version", "list", "list --json", "list --markdown",
		"list raymond", "bench -n 2 --entries 9",
		"bench -n 2 --entries 9 --json", "bench -n 2 --entries 9 --trials 2",
		"simulate -n 2 --entries 9", "simulate -n 2 --entries 9 --json", "verify latest",
		"explore", "explore --json", "validate --algo raymond", "validate --algo raymond --csv -",
		"broker", "hosts control --listen 127.0.0.1:0", "completion bash", "bench --help",
	}) {
		cmd := orchestrator(t, dir, strings.Fields(line)...)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &said
		cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != unwritten ||
			!strings.Contains(said.String(), "the output could not be written") ||
			strings.Count(said.String(), "orchestrator:") != 1 {
			t.Errorf("%q with a full output exits with %d, and says %q", line, status, &said)
		}
	}
}

// smallDisk returns a folder on a disk of its own, with some MB. The function fill fills it.
func smallDisk(t *testing.T, mb int) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "turnstile-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=1777", mb)); err != nil {
		t.Skipf("NO DISK IS FULL IN THIS TEST, since none can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes to a folder until its disk is full.
func fill(t *testing.T, dir string) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "filling"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 1<<20))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// If the disk that has the data of servers is full, a run is inconclusive and says so: no promise is broken.
func TestDiskOfServersIsFull(t *testing.T) {
	all := startable(t, [][]string{{"nats-kv"}, {"redis", "durable=on"}, {"etcd", "durable=on"}})
	for _, words := range all[:soak.Pick(1, len(all), len(all))] {
		t.Run(words[0], func(t *testing.T) {
			disk := smallDisk(t, 64)
			k := &killing{T: t, words: words}
			k.start("1m", disk)
			if !within(limit, func() bool { return k.entries() > 0 }) {
				t.Fatalf("nobody enters: %s", &k.out)
			}
			fill(t, disk)
			k.cmd.Wait()
			if got, says := k.cmd.ProcessState.ExitCode(), k.out.String(); got != 2 ||
				!strings.Contains(says, "the disk of TMPDIR, which has the data of the servers (") {
				t.Errorf("status %d:\n%s", got, says)
			}
		})
	}
}

// Studies whose results cannot be written end with 74 as soon as this shows, and with one message.
func TestResultsCannotBeWritten(t *testing.T) {
	disk := smallDisk(t, 80)
	if err := syscall.Mount("none", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, line := range soak.Few([]string{"bench --algo ring -n 2 --entries 9",
		"sweep --algo ring -n 2,3 --duration 100ms", "split-brain --algo bully",
		"chaos --algo ring --simulated 1 --real 9 --calm 9 --compare 9", "matrix --algo ring",
		"chaos services --only nats-kv"}) {
		cmd := orchestrator(t, t.TempDir(), append(strings.Fields(line), "--results", disk, "--no-progress")...)
		var says bytes.Buffer
		cmd.Stderr = &says
		if cmd.Run(); cmd.ProcessState.ExitCode() != unwritten || strings.Count(says.String(), disk+"/") != 2 ||
			!strings.Contains(says.String(), "results cannot be written to "+disk) {
			t.Errorf("%s: status %d: %s", line, cmd.ProcessState.ExitCode(), &says)
		}
	}
}

// A study ends with 74 when the disk of its results fills up meanwhile.
func TestDiskOfResultsFillsUp(t *testing.T) {
	for _, line := range soak.Few([]string{"sweep --algo ring -n 2,3 --duration 1s --trials 30",
		"chaos --algo ring --simulated 0 --real 30 --calm 0 --compare 0", "split-brain"}) {
		disk := smallDisk(t, 80)
		cmd := orchestrator(t, t.TempDir(), append(strings.Fields(line), "--results", disk, "--no-progress")...)
		var says bytes.Buffer
		cmd.Stdout, cmd.Stderr = &says, &says
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !within(limit, func() bool {
			entered, _ := filepath.Glob(filepath.Join(disk, "*", "*", "trial-1", "node-*.log"))
			return entered != nil
		}) {
			t.Errorf("%s: no run begins", line)
		}
		fill(t, disk)
		if cmd.Wait(); cmd.ProcessState.ExitCode() != unwritten || strings.Contains(says.String(), "WRONG") ||
			!strings.Contains(says.String(), "free some") {
			t.Errorf("%s: status %d: %s", line, cmd.ProcessState.ExitCode(), &says)
		}
	}
}

// A user's node program may start other processes, which keep its output open. The run still ends.
func TestNodeProgramMayLeaveItsChildren(t *testing.T) {
	dir := t.TempDir()
	build(t)
	program, pids := filepath.Join(dir, "program"), filepath.Join(dir, "pids")
	script := "#!/bin/sh\nsleep 300 & echo $! >>" + pids + "\n" +
		"exec " + filepath.Join(programs, "node") + "\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := orchestrator(t, dir, "bench", "-n", "2", "--entries", "9", "--node-program", program)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "VALID") {
		t.Errorf("it ends with %v:\n%s", err, &out)
	}
	text, _ := os.ReadFile(pids)
	left := strings.Fields(string(text))
	if len(left) != 2 {
		t.Errorf("the nodes have started processes %v", left)
	}
	for _, number := range left {
		pid, _ := strconv.Atoi(number)
		if _, state := parentOf(pid); state != "" && state != "Z" {
			t.Errorf("process %d, which a node has started, is left behind", pid)
		}
	}
}

// If a user may have few threads, the program says so. With 6 or fewer, Go itself prints a stack trace.
func TestFewThreads(t *testing.T) {
	for _, test := range []struct {
		most uint64
		says string
	}{
		{8, "orchestrator: this program takes about 10 threads, and the limit on this user's processes and " +
			"threads is 8"},
		{40, "orchestrator: 8 nodes and their broker take about"},
	} {
		cmd := orchestrator(t, "/", "bench", "-n", "8", "--results", t.TempDir())
		few := fmt.Sprintf("ulimit -u %d 2>/dev/null || ulimit -p %[1]d || exit 100", test.most)
		cmd.Args = append([]string{"sh", "-c", few + `; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		if os.Geteuid() == 0 { // root has no limit
			if err := os.Chmod(programs, 0o755); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 100 {
			t.Skipf("no limit can be set: %v", err)
		}
		if cmd.ProcessState.ExitCode() != usage || !strings.HasPrefix(out.String(), test.says) {
			t.Errorf("with %d threads it ends with %v, and says:\n%s", test.most, cmd.ProcessState, &out)
		}
	}
}
