package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// errAbsent means that a tree lacks the subject.
var errAbsent = errors.New("it is not there")

// A tree is the source of a commit, with the programs built from it.
type tree struct{ folder, bin string }

// commitOf returns the commit that a text names.
func commitOf(ctx context.Context, text string) (string, error) {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--verify", "--quiet", "--end-of-options",
		text+"^{commit}").Output()
	if err != nil {
		return "", fmt.Errorf("%q is no commit of this repository: name one, such as HEAD~1", text)
	}
	return strings.TrimSpace(string(commit)), nil
}

// buildBoth checks out an earlier commit into a worktree in a folder, and builds it and this tree there.
func buildBoth(ctx context.Context, temp, commit string) (trees [2]*tree, remove func(), err error) {
	here, err := os.Getwd()
	if err != nil {
		return trees, nil, err
	}
	then := filepath.Join(temp, "base")
	remove = func() { exec.Command("git", "worktree", "remove", "--force", then).Run() }
	if err := do(ctx, here, "git", "worktree", "add", "--quiet", "--detach", then, commit); err != nil {
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
	_, err := outputOf(cmd)
	return err
}
