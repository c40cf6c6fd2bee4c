package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/comparing.md print what stands below them. What is simulated has a seed, so it is the
// same each time, but for the version.
func TestComparingPage(t *testing.T) {
	build(t)
	text := page(t, "../../docs/comparing.md")
	examples := regexp.MustCompile("(?s)```sh\n(.*?)```\n\n```\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(examples) != 2 {
		t.Fatalf("there are %d examples with what they print", len(examples))
	}
	dir := t.TempDir()
	for _, e := range examples {
		script := strings.ReplaceAll(e[1], "bin/orchestrator", filepath.Join(programs, "orchestrator"))
		cmd := exec.Command("sh", "-c", script)
		cmd.Env, cmd.Dir = cleanEnv(), dir
		out, err := cmd.Output()
		if cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: %v", e[1], err)
		}
		_, want, below := strings.Cut(e[2], "\n\n") // the version may change where lines end above
		if !below {
			want = e[2]
		}
		if !strings.HasSuffix(string(out), want) {
			t.Errorf("%s prints\n%s\ndocs/comparing.md has\n%s", e[1], out, want)
		}
	}
}
