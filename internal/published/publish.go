package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// inTree are the files of a set that the tree has.
var inTree = []string{"*.csv", "set.yaml", "report.html", "report.md", "report"}

// mostInTree is the greatest size of a file that is copied into the tree, in bytes.
const mostInTree = 4 << 20

// publish makes the report and the archive of a set, and copies its tables into the tree.
func (m *maker) publish(s set) error {
	if err := m.call([]string{"report", s.name}); err != nil {
		return err
	}
	archive := filepath.Join(m.work, "archives", s.name)
	for _, old := range []string{archive, archive + ".tar.gz"} {
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	if runs, _ := filepath.Glob(filepath.Join(m.work, s.name, "*", "run.yaml")); len(runs) > 0 {
		if err := m.call([]string{"runs", "publish", s.name, "--to", archive, "--histories"}); err != nil {
			return err
		}
	}
	from, to := archive, filepath.Join(folder, s.name)
	if _, err := os.Stat(from); err != nil { // a set without stored runs
		from = filepath.Join(m.work, s.name)
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, pattern := range inTree {
		paths, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			if file, err := os.Stat(path); err != nil || file.Size() > mostInTree {
				continue // the archive has it
			}
			if err := exec.Command("cp", "-r", path, to).Run(); err != nil {
				return fmt.Errorf("copying %s: %w", path, err)
			}
		}
	}
	return os.WriteFile(filepath.Join(to, "README.md"), []byte(s.readme(m.commit)), 0o644)
}

// readme returns the README of a set in the tree.
func (s *set) readme(commit string) string {
	var calls []string
	for _, call := range s.calls {
		calls = append(calls, "    bin/orchestrator "+strings.Join(call, " ")+" --set mine\n")
	}
	return fmt.Sprintf("# %s\n\n%s. [report.md](report.md) has the pictures. Commit %s made the runs; their "+
		"histories are in %s.tar.gz, an asset of the release, which `bin/orchestrator verify %[4]s.tar.gz` "+
		"judges again. A set of your own:\n\n%s\nLicense: Apache-2.0, as Turnstile.\n", s.name, s.about, commit,
		s.name,
		strings.Join(calls, ""))
}
