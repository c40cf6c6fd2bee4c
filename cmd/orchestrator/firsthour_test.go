package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// firstHour is a page whose commands can be pasted, one after the other.
const firstHour = "../../docs/first-hour.md"

// The commands of the page run in their order, end with the status that stands behind them, print what stands
// below them, and make the pictures that they name.
func TestFirstHour(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-all runs it: it makes each run of the page")
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("SKIPPED: there is no make, so the first command of docs/first-hour.md cannot run")
	}
	t.Parallel()
	dir, path := freshlyBuilt(t)
	examples := regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:\n```\n(.*?)```)?").
		FindAllStringSubmatch(page(t, firstHour), -1)
	if len(examples) < 13 {
		t.Fatalf("there are %d examples", len(examples))
	}
	for _, e := range examples {
		var printed strings.Builder
		for command := range strings.Lines(e[1]) {
			printed.WriteString(pasted(t, dir, path, strings.TrimSuffix(command, "\n")))
		}
		left := squeezed(printed.String())
		for line := range strings.Lines(e[2]) {
			_, after, found := strings.Cut(left, squeezed(line))
			if !found {
				t.Fatalf("%sprints\n%s\nand not %s", e[1], &printed, line)
			}
			left = after
		}
	}
}

// squeezed returns the words of a text with a single space between.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// freshlyBuilt returns a folder with the Makefile and the programs, and a path of programs in which go has
// nothing to do.
func freshlyBuilt(t *testing.T) (dir, path string) {
	t.Helper()
	build(t)
	dir = t.TempDir()
	makefile, err := os.ReadFile("../../Makefile")
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "Makefile"), makefile, 0o644),
		os.Symlink(programs, filepath.Join(dir, "bin")), os.Mkdir(filepath.Join(dir, "path"), 0o755),
		os.WriteFile(filepath.Join(dir, "path", "go"), []byte("#!/bin/sh\n"), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "path") + string(os.PathListSeparator) + os.Getenv("PATH")
}

// pasted runs a command of the page in a shell and returns what it prints.
func pasted(t *testing.T, dir, path, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = dir, append(cleanEnv(), "PATH="+path, "MAKEFLAGS=", "MAKELEVEL=0")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	want := "0"
	if _, status, stands := strings.Cut(command, " # status "); stands {
		want = status
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", command, err)
	}
	if got := cmd.ProcessState.ExitCode(); want != string(rune('0'+got)) {
		t.Fatalf("%s: exit status %d, not %s\n%s%s", command, got, want, out, &problems)
	}
	for _, named := range regexp.MustCompile(` (results/[a-z]+\.svg)\b`).FindAllStringSubmatch(command, -1) {
		svg, err := os.ReadFile(filepath.Join(dir, named[1]))
		if err != nil || !strings.Contains(string(svg), "</svg>") {
			t.Errorf("%s makes no picture %s: %v", command, named[1], err)
		}
	}
	return string(out)
}
