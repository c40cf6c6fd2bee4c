package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// meterCommand makes this program the one that go test runs test programs by (go test -exec).
const meterCommand = "-meter"

// meter runs the tests of a package, and leaves the CPU time that they and the processes that they waited for
// took in a file of a folder, with the speed of the machine meanwhile. The package is known by the folder in
// which go test runs it.
func meter(folder string, command []string) (exitStatus int) {
	runtime.LockOSThread() // its end is the child's
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	over, meanwhile, wrong := make(chan struct{}), speed{}, make(chan error)
	go func() {
		var err error
		meanwhile, err = measureSpeed(over)
		wrong <- err
	}()
	cmd.Wait()
	close(over)
	if err := errors.Join(<-wrong, leave(folder, meanwhile)); err != nil {
		fmt.Fprintln(os.Stderr, "measuring the CPU time:", err)
		return 1
	}
	return max(cmd.ProcessState.ExitCode(), -cmd.ProcessState.ExitCode()) // -1: by a signal
}

// leave writes the CPU time of all children of this process and the speed of the machine to the folder.
func leave(folder string, meanwhile speed) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	var all syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &all); err != nil {
		return err
	}
	text := fmt.Sprintln(all.Utime.Nano()+all.Stime.Nano(), meanwhile.cpu.Nanoseconds(), meanwhile.units)
	return os.WriteFile(filepath.Join(folder, fileOf(here)), []byte(text), 0o600)
}

// A meters is the folder in which test programs leave their CPU times.
type meters struct{ folder, wrapper, root string }

func newMeters() (*meters, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "gotest")
	if err != nil {
		return nil, err
	}
	return &meters{folder, fmt.Sprintf("%q %s %q", program, meterCommand, folder), root}, nil
}

func (m *meters) remove() { os.RemoveAll(m.folder) }

// read gives packages their CPU times and the speed of the machine meanwhile. One without tests has none.
func (m *meters) read(packages []*tested) error {
	for _, p := range packages {
		_, within, _ := strings.Cut(p.path, "/")
		b, err := os.ReadFile(filepath.Join(m.folder, fileOf(filepath.Join(m.root, within))))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			_, err = fmt.Sscan(string(b), &p.cpu, &p.meanwhile.cpu, &p.meanwhile.units)
		}
		if err != nil {
			return fmt.Errorf("reading the CPU time of %s: %w", p.path, err)
		}
	}
	return nil
}

// moduleRoot returns the folder that has go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}

func fileOf(folder string) string { return strings.ReplaceAll(folder, string(filepath.Separator), "!") }
