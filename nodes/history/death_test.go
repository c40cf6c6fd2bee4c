package history

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childRole is the environment variable that says what the test binary does as a child instead of its tests.
const childRole = "TURNSTILE_TEST_CHILD"

var roles = map[string]func(path string) error{
	"die":        dieBetweenAppends,
	"go-on":      appendForLong,
	"small-file": func(path string) error { return fill(path, limitFileSize) },
	"store":      storeTooMuch,
	"small-disk": func(path string) error { return fill(path, mountSmallDisk) },
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(childRole)]; role != nil {
		if err := role(os.Args[len(os.Args)-1]); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(role, path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), childRole+"="+role)
	return cmd
}

const beforeDeath = 2*perPage + 100

func dieBetweenAppends(path string) error {
	l, err := Create(path, Options{Node: 1, Nodes: 2, TraceLength: 16})
	if err != nil {
		return err
	}
	for i := range beforeDeath {
		l.Trace(messageRecord(1, i))
		if err := l.Append(event(1, i)); err != nil {
			return err
		}
	}
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// appendForLong goes on for much longer than its parent lets it live, but not for ever: the parent may
// be killed first.
func appendForLong(path string) error {
	l, err := Create(path, Options{Node: 1, Nodes: 2, TraceLength: 16})
	for i := 0; err == nil && i < 1<<21; i++ { // 80 MiB
		err = l.Append(event(1, i))
	}
	return err
}

func TestEverythingSurvivesSuddenDeath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.log")
	out, err := child("die", path).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child did not die of its own hand: %v: %s", err, out)
	}
	l := readLog(t, path)
	if len(l.Events) != beforeDeath {
		t.Fatalf("%d events survived, want %d", len(l.Events), beforeDeath)
	}
	for i, e := range l.Events {
		if e != event(1, i) {
			t.Fatalf("event %d is %+v", i, e)
		}
	}
	if last := l.Trace[len(l.Trace)-1]; last != messageRecord(1, beforeDeath-1) {
		t.Errorf("the latest message is %+v", last)
	}
}

// Whenever the process is killed, its log reads back without a gap.
func TestDeathAtAnyMoment(t *testing.T) {
	for i := range 5 {
		path := filepath.Join(t.TempDir(), "1.log")
		cmd := child("go-on", path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for tries := 0; ; tries++ { // until the log has begun
			if w, err := Watch(path); err == nil {
				w.Close()
				break
			} else if tries == 5000 {
				t.Error(err)
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(i) * 3 * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait() // or the file would grow while it is read
		l := readLog(t, path)
		if more := uint64(len(l.Events)) - l.Totals.EventCount; more > 1 {
			t.Errorf("%d events, %d counted", len(l.Events), l.Totals.EventCount)
		}
		for i, e := range l.Events {
			if e != event(1, i) {
				t.Fatalf("event %d is %+v", i, e)
			}
		}
	}
}

// fill appends events until there is no more room, prints their number, and reads them all back.
func fill(path string, limit func(dir string) error) error {
	if err := limit(filepath.Dir(path)); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	l, err := Create(path, Options{Node: 1, Nodes: 2})
	count := 0
	for err == nil {
		if err = l.Append(event(1, count)); err == nil {
			count++
		}
	}
	fmt.Printf("after %d events: %v\n", count, err)
	if count == 0 {
		return errors.New("not one event")
	}
	if err := l.Close(); err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if read, err := decodeBytes(path, b); err != nil || len(read.Events) != count {
		return fmt.Errorf("not all was safe: %w", err)
	}
	_, err = Create(path+"2", Options{Node: 1, Nodes: 1 << 20})
	fmt.Println(err)
	if _, err := os.Stat(path + "2"); !os.IsNotExist(err) {
		return errors.New("a log that could not be made was left behind")
	}
	return nil
}

const smallDisk = 5 * pageLen

func limitFileSize(string) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: smallDisk, Max: smallDisk})
}

func TestNoMoreRoom(t *testing.T) {
	for role, want := range map[string]string{
		"small-file": "reserving space in",
		"small-disk": "the disk is full",
	} {
		t.Run(role, func(t *testing.T) {
			cmd := child(role, filepath.Join(t.TempDir(), "1.log"))
			if role == "small-disk" && !ownNamespace(cmd) {
				t.Skip("needs a mount namespace of its own")
			}
			raw, err := cmd.CombinedOutput()
			out := string(raw)
			if errors.Is(err, syscall.EPERM) || strings.Contains(out, "skip: ") {
				t.Skipf("not permitted here: %v %s", err, out)
			}
			if err != nil || strings.Count(out, want) != 2 || !strings.Contains(out, "creating the log") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// storeTooMuch stores events that cannot be compressed, and more of them than fit into a file.
func storeTooMuch(path string) error {
	if err := limitFileSize(path); err != nil {
		return err
	}
	f, err := CreateFile(path, Header{})
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 * smallDisk / storedLen {
		f.Add(Event{At: r.Int64(), Value: r.Int64(), Fence: r.Uint64(), Entry: r.Uint32(), Count: r.Uint32()})
	}
	f.Close(nil)
	return f.Save()
}

func TestNoRoomToStoreIsSaidOnce(t *testing.T) {
	out, err := child("store", filepath.Join(t.TempDir(), "history.zst")).CombinedOutput()
	if err == nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "file too large") {
		t.Errorf("%v: %s", err, out)
	}
}
