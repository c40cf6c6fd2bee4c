package text

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns both ends of a terminal with some columns: text that is printed to one can be read
// from the other.
func pseudoTerminal(t *testing.T, columns uint16) (read, print *os.File) {
	t.Helper()
	read, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { read.Close() })
	fd := int(read.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: 24})
	}
	if err == nil {
		print, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { print.Close() })
	return read, print
}

// The lines of a summary fit a terminal, however long the options of the run and the reason of its verdict
// are; for a file they are not broken.
func TestSummariesFitTheTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	const columns = 60
	s := threeTrials(t)
	first(s)
	s.Verdicts[0].Reason = strings.Repeat("a reason of several words, ", 12)
	read, print := pseudoTerminal(t, columns)
	New(print).Header(s.Job, s.Record.Machine)
	New(print).verdict(s)
	fmt.Fprintln(print, "end")
	var all strings.Builder
	for b := make([]byte, 4096); !strings.Contains(all.String(), "end\r\n"); {
		n, err := read.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b[:n])
	}
	for line := range strings.Lines(all.String()) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\r\n")) > columns {
			t.Errorf("too wide: %q", line)
		}
	}
	if lines := strings.Count(all.String(), "\n"); lines < 8 {
		t.Errorf("only %d lines:\n%s", lines, all.String())
	}
	if file := summaryOf(s); !strings.Contains(file, s.Verdicts[0].Reason) {
		t.Errorf("broken though it goes to no terminal:\n%s", file)
	}
}
