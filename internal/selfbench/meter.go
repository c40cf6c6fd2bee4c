package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// errAbsent means that a tree lacks the subject.
var errAbsent = errors.New("it is not there")

// A meter measures the cost of a command and its children.
type meter struct {
	ctx  context.Context
	unit string
	perf bool
}

// newMeter returns a meter of instructions, or of CPU time if perf is missing or cannot count them.
func newMeter(ctx context.Context) *meter {
	m := &meter{ctx: ctx, unit: "instructions of user space", perf: true}
	if cost, _, err := m.cost(".", "true"); err != nil || cost == 0 {
		return &meter{ctx: ctx, unit: "ns of CPU time"}
	}
	return m
}

// cost runs a command in a folder, and returns its cost and output.
func (m *meter) cost(folder, name string, args ...string) (cost float64, out string, err error) {
	count := ""
	if m.perf {
		file, err := os.CreateTemp("", "selfbench-")
		if err != nil {
			return 0, "", err
		}
		file.Close()
		count = file.Name()
		defer os.Remove(count)
		args = append([]string{"stat", "-x,", "-e", "instructions:u", "-o", count, "--", name}, args...)
		name = "perf"
	}
	var printed bytes.Buffer
	cmd := exec.CommandContext(m.ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // then the command stops its processes
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &printed, &printed
	if err := cmd.Run(); err != nil {
		return 0, "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, printed.String())
	}
	if !m.perf {
		s := cmd.ProcessState // of the command, and of the children that it has waited for
		return float64(s.UserTime() + s.SystemTime()), printed.String(), nil
	}
	text, err := os.ReadFile(count)
	if err != nil {
		return 0, "", err
	}
	cost, err = instructionsIn(string(text))
	return cost, printed.String(), err
}

// instructionsIn reads the count from the output of perf stat -x, (with a comma).
func instructionsIn(text string) (float64, error) {
	for line := range strings.Lines(text) {
		if fields := strings.Split(line, ","); len(fields) > 2 && strings.HasPrefix(fields[2], "instructions") {
			return strconv.ParseFloat(fields[0], 64)
		}
	}
	return 0, fmt.Errorf("perf counted no instructions: %s", text)
}

// A tree is the source of a commit, with the programs built from it.
type tree struct{ folder, bin string }

// buildBoth checks out an earlier commit into a temporary worktree, and builds it and this tree.
func buildBoth(ctx context.Context, base string) (trees [2]*tree, remove func(), err error) {
	temp, err := os.MkdirTemp("", "selfbench-")
	if err != nil {
		return trees, nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return trees, nil, err
	}
	then := filepath.Join(temp, "base")
	remove = func() {
		exec.Command("git", "worktree", "remove", "--force", then).Run()
		os.RemoveAll(temp)
	}
	if err := do(ctx, here, "git", "worktree", "add", "--quiet", "--detach", then, base); err != nil {
		remove()
		return trees, nil, err
	}
	for i, folder := range []string{then, here} {
		trees[i] = &tree{folder, filepath.Join(temp, fmt.Sprint("bin", i))}
		if err := trees[i].build(ctx); err != nil {
			remove()
			return trees, nil, err
		}
	}
	return trees, remove, nil
}

func (t *tree) build(ctx context.Context) error {
	if err := do(ctx, t.folder, "go", "build", "-buildvcs=false", "-trimpath", "-o", t.bin+"/",
		"./cmd/orchestrator", "./cmd/node"); err != nil {
		return err
	}
	for _, pkg := range []string{"nodes/sim", "nodes/explore", "bench"} {
		if err := do(ctx, t.folder, "go", "test", "-c", "-o", filepath.Join(t.bin, filepath.Base(pkg)+".test"),
			"./"+pkg); err != nil {
			return err
		}
	}
	return nil
}

func do(ctx context.Context, folder, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}
