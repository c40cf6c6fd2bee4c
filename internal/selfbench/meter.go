package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A meter measures the cost of a command: instructions of user space, or CPU time.
type meter struct {
	ctx    context.Context
	folder string   // for files of the meter
	unit   string   // of the cost
	how    string   // how it is measured
	prefix []string // the command line that counts instructions of the command behind it; none: CPU time
	single bool     // prefix does not count the processes that the command starts
}

// newMeter returns the first of three meters that works here: perf, QEMU, CPU time. It tells log which one it
// is, and why those before it do not work.
func newMeter(ctx context.Context, folder string, log io.Writer) *meter {
	why := "\n"
	for _, prepare := range []func(*meter) error{byPerf, byQEMU, byTime} {
		m := &meter{ctx: ctx, folder: folder}
		err := prepare(m)
		if err == nil {
			fmt.Fprintf(log, "cost: %s, %s%s", m.unit, m.how, why)
			return m
		}
		why += fmt.Sprintf("  since %v\n", err)
	}
	panic("CPU time is measured everywhere")
}

// byPerf has the meter count with perf.
func byPerf(m *meter) error {
	m.unit, m.how = "instructions", "counted by perf"
	m.prefix = []string{"perf", "stat", "-x,", "-e", "instructions:u", "-o", m.counts(), "--"}
	err := installed("perf")
	if err == nil {
		err = m.try()
	}
	if err != nil {
		return fmt.Errorf("perf does not count instructions: %w", err)
	}
	return nil
}

// byTime has the meter measure CPU time.
func byTime(m *meter) error {
	m.unit, m.how = "ns of CPU time", "which repeat worse than instructions"
	return nil
}

// installed returns an error unless there are programs with these names.
func installed(names ...string) error {
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed", name)
		}
	}
	return nil
}

// try returns an error if the meter cannot count the instructions of a command.
func (m *meter) try() error {
	program, err := exec.LookPath("true")
	if err == nil {
		_, _, err = m.cost(".", program)
	}
	return err
}

// cost runs a command in a folder, and returns its cost and output.
func (m *meter) cost(folder, program string, args ...string) (cost float64, out string, err error) {
	os.Remove(m.counts())
	cmd := m.command(folder, append(m.prefixed(program), args...)...)
	if out, err = outputOf(cmd); err != nil {
		return 0, "", err
	}
	if m.prefix == nil {
		s := cmd.ProcessState // of the command, and of the children that it has waited for
		return float64(s.UserTime() + s.SystemTime()), out, nil
	}
	cost, err = m.counted()
	return cost, out, err
}

// prefixed returns the beginning of the command line that runs a program and counts its instructions.
func (m *meter) prefixed(program string) []string { return append(slices.Clone(m.prefix), program) }

// command returns a command, which is asked to end when the context does: then it ends its processes.
func (m *meter) command(folder string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.ctx, words[0], words[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir = folder
	return cmd
}

// outputOf runs a command.
func outputOf(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out), nil
}

// counts is the file of counts.
func (m *meter) counts() string { return filepath.Join(m.folder, "counts") }

// counted returns the sum of all counts.
func (m *meter) counted() (float64, error) {
	text, err := os.ReadFile(m.counts())
	if err != nil {
		return 0, err
	}
	return instructionsIn(string(text))
}

// instructionsIn adds up the counts in the output of perf stat -x, (with a comma): lines that begin with
// "NUMBER,,instructions".
func instructionsIn(text string) (sum float64, err error) {
	for line := range strings.Lines(text) {
		if fields := strings.Split(line, ","); len(fields) > 2 && strings.HasPrefix(fields[2], "instructions") {
			count, err := strconv.ParseFloat(fields[0], 64)
			if err != nil {
				return 0, fmt.Errorf("%q stands in place of their number", fields[0])
			}
			sum += count
		}
	}
	if sum == 0 {
		return 0, fmt.Errorf("no instructions were counted: %s", text)
	}
	return sum, nil
}
