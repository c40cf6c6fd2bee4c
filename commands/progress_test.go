//go:build linux

package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs a command in this process whose standard error is a terminal, and returns what it shows
// there.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	t.Setenv("TERM", "xterm")
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // until the terminal is closed
		shown <- string(text)
	}()
	var out bytes.Buffer
	run(t.Context(), program{}, args, &out, terminal)
	terminal.Close()
	return <-shown
}

// A long command shows its progress on a terminal, unless --no-progress is given.
func TestProgress(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, says := range map[string]string{
		"explore -n 3":              ": can every waiting client enter?",
		"explore -n 3 --states 500": "depth ",
		"validate --algo central":   "figure 1 of ",
		"simulate -n 2 --entries 9": "simulating",
	} {
		args := strings.Fields(line)
		if text := onTerminal(t, args...); !strings.Contains(text, says) {
			t.Errorf("%s: it shows %q", line, text)
		}
		if text := onTerminal(t, append(args, "--no-progress")...); text != "" {
			t.Errorf("%s --no-progress: it shows %q", line, text)
		}
	}
}

// A command that is interrupted prints at once what it has found.
func TestInterruptedCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for line, says := range map[string]string{
		"validate":        "\n0 figures, 0 off\ninterrupted: ",
		"validate --json": `"figures": [],`,
		"explore -n 4":    "BOUNDED  nothing is wrong so far; ended by an interrupt",
	} {
		var out, errors bytes.Buffer
		if status := run(ctx, program{}, strings.Fields(line), &out, &errors); status != 2 ||
			!strings.Contains(out.String(), says) || errors.Len() > 0 {
			t.Errorf("%s, interrupted: exit status %d and\n%s%s", line, status, &out, &errors)
		}
	}
}
