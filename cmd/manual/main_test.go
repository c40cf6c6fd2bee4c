package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a page with its whole help, pages keep what stands in columns, and completions ask the
// program.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for name, has := range map[string]string{
		"man/man1/orchestrator.1":              "orchestrator-bench(1)",
		"man/man1/orchestrator-bench.1":        "\n  sequential  one request at a time",
		"man/man1/orchestrator-runs-publish.1": "Make a folder",
		"man/man1/orchestrator-hosts-join.1":   "--name",
		"completions/bash/orchestrator":        "__complete",
		"completions/zsh/_orchestrator":        "__complete",
		"completions/fish/orchestrator.fish":   "__complete",
	} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), has) {
			t.Errorf("%s does not have %q, %v:\n%.2000s", name, has, err, text)
		}
	}
	if pages, _ := filepath.Glob(filepath.Join(dir, "man/man1/*proxy*")); len(pages) > 0 {
		t.Errorf("there are pages %v about commands that help hides", pages)
	}
}

func TestBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo":            "one\ntwo",
		"Loads:\n  a  b\n  c": "Loads:\n\n```\n  a  b\n  c\n```\n",
		"x\n  a\n\n  b\ny":    "x\n\n```\n  a\n\n  b\n```\n\ny",
	} {
		if got := blocks(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
