//go:build linux

package agent

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/internal/soak"
)

// leftBy returns a host that adopts what a run has left there whose orchestrator has ended: one log with
// bytes that differ, and what is none.
func leftBy(t *testing.T, url, name, folder string, size int) (h *played, log []byte) {
	t.Helper()
	p := joined(t, url, name)
	for i := range size {
		log = append(log, byte(i>>16+i>>8+i))
	}
	for name, b := range map[string][]byte{"node-0.log": log, "node-0.saved": log[:9], "other.txt": log[:9]} {
		if err := os.WriteFile(filepath.Join(p.host.Folder, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.Run.Close()
	var d Description
	until(t, "the files are left", func() (is bool) {
		d, _ = Describe(p.conn, name, time.Second)
		if len(d.Left) != 1 || len(d.Runs) > 0 {
			return false
		}
		text, _ := os.ReadFile(filepath.Join(folder, d.Left[0], leftMark))
		return strings.Contains(string(text), " of me ended: its orchestrator has ended")
	})
	h = &played{T: t}
	var err error
	if h.Run, err = NewRun(connect(t, url), "adopting"); err != nil {
		t.Fatal(err)
	}
	if h.host, err = h.join(name, Join{Version: "7", Adopt: d.Left[0]}); err != nil {
		t.Fatal(err)
	}
	return h, log
}

// Logs that a run has left are fetched by another, in pieces, from where an earlier call has stopped, and
// checked by their digests. Then they are removed.
func TestFilesThatARunHasLeft(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	h, log := leftBy(t, url, "a", s.Folder, 3*longestPiece+17)
	to := t.TempDir()
	begun := filepath.Join(to, "node-0.log.part")
	wrong := bytes.Clone(log[:longestPiece])
	wrong[77]++
	if err := os.WriteFile(begun, wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	err := h.host.Fetch(t.Context(), to)
	if err == nil || !strings.Contains(err.Error(), "its digest is another") {
		t.Errorf("what was begun is another file: %v", err)
	}
	if _, err := os.Stat(begun); err == nil {
		t.Error("what is wrong is kept")
	}
	for range 2 { // and it does not matter if all is there
		if err := h.host.Fetch(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		files, _ := os.ReadDir(to)
		got, err := os.ReadFile(filepath.Join(to, "node-0.log"))
		if err != nil || !bytes.Equal(got, log) || len(files) != 1 {
			t.Errorf("fetched are %d bytes of %d, in %v: %v", len(got), len(log), files, err)
		}
	}
	os.WriteFile(begun, append(bytes.Clone(log), 1), 0o644)
	os.Remove(filepath.Join(to, "node-0.log"))
	if err := h.host.Fetch(t.Context(), to); err == nil {
		t.Error("what was begun is longer than the file")
	}
	if err := h.host.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Folder, "*-trial-*")); len(left) > 0 {
		t.Errorf("%v are left behind", left)
	}
}

// After an interruption, fetch continues: it does not copy again what it has.
func TestFetchingGoesOnWhereItStopped(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	h, log := leftBy(t, url, "a", s.Folder, 4*longestPiece)
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "node-0.log.part"), log[:3*longestPiece], 0o644); err != nil {
		t.Fatal(err)
	}
	before := h.host.number
	if err := h.host.Fetch(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if asked := h.host.number - before; asked != 3 { // for the list, one piece, and the digest
		t.Errorf("it took %d questions", asked)
	}
}

// Logs of any length are shipped in little memory, and an agent that stands still meanwhile delays that
// alone. The long form ships 1 GB, and says what it takes.
func TestShippingTakesLittleMemory(t *testing.T) {
	url := controlPlane(t)
	cmd := agentProcess(t, url, "s")
	p := joined(t, url, "s")
	size, stands := soak.Pick(8<<20, 8<<20, 1<<30), soak.Pick(300, 300, 5000)*int(time.Millisecond)
	log, err := os.Create(filepath.Join(p.host.Folder, "node-0.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for r, written := rand.New(rand.NewPCG(1, 2)), 0; written < size; written += 1 << 20 {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 8 {
			binary.LittleEndian.PutUint64(b[i:], r.Uint64())
		}
		if _, err := log.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	to := t.TempDir()
	go func() {
		for part := filepath.Join(to, "node-0.log.part"); ; time.Sleep(time.Millisecond) {
			if info, err := os.Stat(part); err == nil && info.Size() > int64(size/4) {
				break
			}
		}
		cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(stands))
		cmd.Process.Signal(syscall.SIGCONT)
	}()
	debug.FreeOSMemory() // what other tests have taken
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	begun := time.Now()
	if err := p.host.Fetch(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	if took < time.Duration(stands) {
		t.Errorf("it took %v, and the agent stood still for longer", took)
	}
	mine, its := peakMB(t, os.Getpid()), peakMB(t, cmd.Process.Pid)
	t.Logf("%d MB in %v, with an agent that stood still for %v; at most %d MB of memory here, %d MB at the "+
		"agent", size>>20, took, time.Duration(stands), mine, its)
	if mine > 200 || its > 200 {
		t.Errorf("it took %d MB of memory here, and %d MB at the agent", mine, its)
	}
	if want, _ := digest(p.host.Folder, "node-0.log"); want.Bytes != int64(size) {
		t.Errorf("the log has %d bytes", want.Bytes)
	} else if got, err := digest(to, "node-0.log"); got != want {
		t.Errorf("%+v was fetched, not %+v: %v", got, want, err)
	}
}

// peakMB returns the peak of the resident memory of a process.
func peakMB(t *testing.T, pid int) (mb int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "VmHWM:")
	fmt.Sscan(after, &mb)
	return mb / 1024
}

// Files are kept for a day, of runs that go on for ever.
func TestFilesAreKeptForADay(t *testing.T) {
	url := controlPlane(t)
	folder := t.TempDir()
	age := func(name string, by time.Duration, mark bool) {
		path := filepath.Join(folder, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if mark {
			path = filepath.Join(path, leftMark)
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, time.Now(), time.Now().Add(-by)); err != nil {
			t.Fatal(err)
		}
	}
	age("old", 25*time.Hour, true)
	age("new", 23*time.Hour, true)
	age("of-somebody-else", 25*time.Hour, false)
	s := serve(t, url, func(o *Options) { o.Folder = folder })
	for name, want := range map[string]bool{"old": false, "new": true, "of-somebody-else": true} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s is kept: %v", name, !want)
		}
	}
	if !strings.Contains(s.log.String(), "removing old") {
		t.Errorf("the log says %s", s.log)
	}
}
