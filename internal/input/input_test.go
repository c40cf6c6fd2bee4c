package input

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int{"plan.yaml": 3, "largest": Limit, "larger": Limit + 1} {
		if err := os.WriteFile(at(name), bytes.Repeat([]byte{'x'}, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	const none = "is a pipe, a device or a socket: name a regular file, or - for standard input"
	for path, want := range map[string]string{
		at("larger"): "is larger than 16 MB",
		at("fifo"):   none,
		at("socket"): none,
		"/dev/null":  none,
		dir:          "is a folder",
	} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := ReadFile(at("plan.yaml"), 2); err == nil || !strings.Contains(err.Error(), "is larger than") {
		t.Errorf("larger than its kind may be: %v", err)
	}
	if _, err := Read("/proc/version"); runtime.GOOS == "linux" && !errors.Is(err, ErrNoFile) {
		t.Errorf("a file of the kernel: %v", err)
	}
	if _, err := Read(at("nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for name, size := range map[string]int{"plan.yaml": 3, "largest": Limit} {
		if text, err := Read(at(name)); err != nil || len(text) != size {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

func TestReadUntilSignal(t *testing.T) {
	if text, err := readUntilSignal(strings.NewReader("nodes: 3")); err != nil || string(text) != "nodes: 3" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := readUntilSignal(endless{}); err == nil || !strings.Contains(err.Error(),
		"standard input is larger than 16 MB") {
		t.Errorf("endless: %v", err)
	}
	heard := make(chan os.Signal, 1) // so the signal never ends the test
	signal.Notify(heard, syscall.SIGTERM)
	defer signal.Stop(heard)
	silent, held := io.Pipe()
	defer held.Close()
	done := make(chan error)
	go func() {
		_, err := readUntilSignal(silent)
		done <- err
	}()
	for again := time.Tick(10 * time.Millisecond); ; <-again { // until it listens
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		select {
		case err := <-done:
			if !errors.Is(err, ErrInterrupted) {
				t.Errorf("%v", err)
			}
			return
		default:
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
