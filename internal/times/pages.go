package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A step of a page is a block of commands, or a text that shows what the block above it prints. Behind the
// word sh a block may say:
//
//	slow           it takes more than ten seconds
//	needs=a,b      it calls these programs, and is skipped if one is missing
//	shown=reason   it is not run
type step struct {
	words    []string
	commands []string

	filter nthText // for a text: the command that makes it, which begins with a bar
	text   string  // for a text: the text itself
}

var (
	stepForm = regexp.MustCompile("(?sm)^```sh([^\n]*)\n(.*?)^```$|" + place.String())
	codeForm = regexp.MustCompile("(?s)^\n```[^\n]*\n(.*)\n```\n$")
	lineForm = regexp.MustCompile(`(?m)^(?:.*\\\n)*.*$`)
	statuses = regexp.MustCompile(` # status ([0-9]+)`)
)

// steps returns the steps of a page.
func steps(text string) (all []step) {
	seen := map[string]int{}
	for _, m := range stepForm.FindAllStringSubmatch(text, -1) {
		command := m[5]
		switch {
		case m[3] == "" && m[2] != "":
			var commands []string
			for _, line := range lineForm.FindAllString(m[2], -1) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					commands = append(commands, line)
				}
			}
			all = append(all, step{words: strings.Fields(m[1]), commands: commands})
		case strings.HasPrefix(command, "|"):
			shown := m[6]
			if code := codeForm.FindStringSubmatch(shown); code != nil {
				shown = code[1]
			}
			all = append(all, step{filter: nthText{command, seen[command]}, text: shown})
			seen[command]++
		}
	}
	return all
}

// skipped returns why a block of commands does not run, if it does not. find finds a program.
func (s *step) skipped(find func(program string) error) string {
	for _, word := range s.words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "shown":
			return cmp.Or(strings.ReplaceAll(value, "-", " "), "it is only shown")
		case "needs":
			for program := range strings.SplitSeq(value, ",") {
				if find(program) != nil {
					return "there is no " + program
				}
			}
		}
	}
	return ""
}

// A clone is a folder in which commands run as in the root of a clone that was built: with a Makefile,
// programs, documents, examples and published sets, and with results of its own.
type clone string

// newClone makes a clone of the tree in root, with the programs of a folder.
func newClone(dir, root, programs string) (clone, error) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "Makefile"), makefile, 0o644),
		os.Symlink(programs, filepath.Join(dir, "bin")),
		os.Symlink(filepath.Join(root, "docs"), filepath.Join(dir, "docs")),
		os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples")),
		os.MkdirAll(filepath.Join(dir, "results"), 0o755), os.MkdirAll(filepath.Join(dir, "path"), 0o755),
		os.Symlink(filepath.Join(root, "results", "published"), filepath.Join(dir, "results", "published")),
		os.WriteFile(filepath.Join(dir, "path", "go"), []byte("#!/bin/sh\n"), 0o755)) // this go does nothing
	return clone(dir), err
}

// shell returns a command for sh in the clone.
func (c clone) shell(script string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = string(c)
	path := []string{filepath.Join(string(c), "path"), filepath.Join(string(c), "bin"), os.Getenv("PATH")}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "TURNSTILE_") })
	cmd.Env = append(env, "PATH="+strings.Join(path, string(os.PathListSeparator)), "MAKEFLAGS=", "MAKELEVEL=0")
	return cmd
}

// has returns an error if the clone does not find a program.
func (c clone) has(program string) error { return c.shell("command -v " + program).Run() }

// run runs a block of commands, and returns their output. Each must exit with 0, or N if it has "# status N".
func (c clone) run(commands []string) (string, error) {
	var printed strings.Builder
	for _, command := range commands {
		cmd := c.shell(command)
		var problems strings.Builder
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			return "", fmt.Errorf("%s: %w", command, err)
		}
		want := 0
		if m := statuses.FindStringSubmatch(command); m != nil {
			want, _ = strconv.Atoi(m[1])
		}
		if got := cmd.ProcessState.ExitCode(); got != want {
			return "", fmt.Errorf("%s: exit status %d, not %d\n%s%s", command, got, want, out, &problems)
		}
		printed.Write(out)
	}
	return printed.String(), nil
}

// filtered returns what a command that begins with a bar makes of what was printed.
func (c clone) filtered(command, printed string) (string, error) {
	cmd := c.shell("cat " + command)
	cmd.Stdin = strings.NewReader(printed)
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w of\n%s", command, err, printed)
	}
	return strings.TrimRight(string(out), "\n"), err
}

// printedBy runs the commands of a page one after another in a clone of this tree, and returns the texts that
// show what they print.
func printedBy(text string) (map[nthText]*string, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "times")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c, err := newClone(dir, root, filepath.Join(root, "bin"))
	if err != nil {
		return nil, err
	}
	texts := map[nthText]*string{}
	var wrong []error
	printed, ran := "", false
	for _, s := range steps(text) {
		if s.commands == nil {
			if ran {
				made, err := c.filtered(s.filter.command, printed)
				if wrong = append(wrong, err); err == nil {
					texts[s.filter] = &made
				}
			}
			continue
		}
		fmt.Println(strings.Join(s.commands, "\n"))
		if ran = s.skipped(c.has) == ""; ran {
			printed, err = c.run(s.commands)
			wrong, ran = append(wrong, err), err == nil
		} else {
			fmt.Printf("SKIPPED: %s\n", s.skipped(c.has))
		}
	}
	return texts, errors.Join(wrong...)
}
