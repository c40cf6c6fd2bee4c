// Times writes what commands print, and how long they take, into pages of Markdown. Comments say where:
//
//	<!-- took: make check -->1 min 25 s<!-- end -->
//	<!-- output: orchestrator list --json | wc -l -->42<!-- end -->
//	<!-- output: | grep VALID -->
//	```
//	VALID  no two were inside together in 200 entries
//	```
//	<!-- end -->
//
// A command is run once, by sh in this folder with bin/ first in the path. A command that begins with a bar
// filters what the block of commands above it prints; the commands of such a page run one after another, in
// a copy of a clone. Times replaces the text between the comments. Output that stands in a block of code
// stays in one, below the line that begins with $. If a command fails, its text stays and the status is 1.
// With -only TEXT Times runs the commands that contain TEXT, and with -page PATH those of one page.
//
// docs/outputs.yaml has the commit and the digest of each text. A test compares the digests, and fails if a
// text was edited by hand. So Times refuses a tree whose code differs from its commit.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "run the commands that contain this")
	page := flag.String("page", "", "run the commands of this page")
	flag.Parse()
	paths := flag.Args()
	if *page != "" {
		paths = []string{*page}
	}
	if err := measurePages(paths, *only); err != nil {
		fmt.Fprintf(os.Stderr, "times: %v\n", err)
		os.Exit(1)
	}
}

// measurePages measures the pages of some paths again, and notes what it has made.
func measurePages(paths []string, only string) error {
	commit, err := committed()
	if err != nil {
		return err
	}
	notes, err := readNotes(notesFile)
	if err != nil {
		return err
	}
	m := meter{only: only, commit: commit, made: map[string]measured{}}
	var wrong []error
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			var now string
			now, notes[path], err = m.update(string(text), notes[path])
			err = errors.Join(err, os.WriteFile(path, []byte(now), 0o644), notes.write(notesFile))
		}
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// committed returns the commit of this tree, or an error if its code differs from that. What pages say does
// not matter, nor do tests.
func committed() (string, error) {
	status, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--", ".",
		":!*.md", ":!docs", ":!*_test.go").Output()
	if err == nil && len(status) > 0 {
		return "", fmt.Errorf("commit first, since figures are those of a commit:\n%s", status)
	}
	commit, err2 := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	return strings.TrimSpace(string(commit)), errors.Join(err, err2)
}

// measured is how long a command took, and what it printed.
type measured struct{ took, output string }

// A meter measures the figures on pages again. made has the commands that were run before.
type meter struct {
	only, commit string
	made         map[string]measured
}

var place = regexp.MustCompile(`(?s)(<!-- (took|output): ([^\n]*?) -->)(.*?)(<!-- end -->)`)

// update returns a page with its figures measured again, the notes of them, and the errors of commands. old
// has the notes of what stands on the page.
func (m *meter) update(text string, old []note) (string, []note, error) {
	var wrong []error
	var filtered map[nthText]*string
	if strings.Contains(text, "<!-- output: |") {
		var err error
		filtered, err = printedBy(text)
		wrong = append(wrong, err)
	}
	var notes []note
	now := place.ReplaceAllStringFunc(text, func(found string) string {
		p := place.FindStringSubmatch(found)
		begin, what, command, stands, end := p[1], p[2], p[3], p[4], p[5]
		n, nth := noteOf(old, notes, command)
		body := stands
		if strings.Contains(command, m.only) {
			got, err := m.measured(command, filtered[nthText{command, nth}])
			if wrong = append(wrong, err); err == nil {
				body = got.took
				if what == "output" {
					body = inPlaceOf(stands, got.output)
				}
				n = note{Command: command, Commit: m.commit, SHA256: digest(body)}
			}
		}
		notes = append(notes, n)
		return begin + body + end
	})
	return now, notes, errors.Join(wrong...)
}

// measured returns what a command of a page printed, and how long it took. It runs a command once for all
// pages. filtered is the output of a command that begins with a bar.
func (m *meter) measured(command string, filtered *string) (got measured, err error) {
	switch {
	case strings.HasPrefix(command, "|") && filtered == nil:
		return measured{}, fmt.Errorf("%s: the commands above it did not run", command)
	case strings.HasPrefix(command, "|"):
		return measured{output: *filtered}, nil
	}
	got, found := m.made[command]
	if found {
		return got, nil
	}
	if got, err = measure(command); err != nil {
		return got, fmt.Errorf("%s: %w", command, err)
	}
	m.made[command] = got
	return got, nil
}

// measure runs a command.
func measure(command string) (measured, error) {
	fmt.Println(command)
	programs, err := filepath.Abs("bin")
	if err != nil {
		return measured{}, err
	}
	var errs strings.Builder
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"),
		"MAKEFLAGS=", "MAKELEVEL=0") // if command runs make, that must not use the variables of "make times"
	cmd.Stderr = &errs
	begin := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return measured{}, fmt.Errorf("%w\n%s%s", err, out, &errs)
	}
	got := measured{written(time.Since(begin)), strings.TrimRight(string(out), "\n")}
	fmt.Printf("  %s\n", got.took)
	return got, nil
}

// block is the beginning of a block of code, with its first line if that is the command as a person types it.
var block = regexp.MustCompile("^\n```.*\n(\\$ .*\n)?")

// inPlaceOf returns output in the form of the text that stands there: a block of code, lines such as those of
// a table, or words in a line.
func inPlaceOf(stands, output string) string {
	if head := block.FindString(stands); head != "" {
		return head + output + "\n```\n"
	}
	if strings.Contains(stands, "\n") {
		return "\n" + output + "\n"
	}
	return output
}

// written returns a time as people write it.
func written(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	whole := int(d.Round(time.Second) / time.Second)
	if whole < 60 {
		return fmt.Sprintf("%d s", whole)
	}
	return fmt.Sprintf("%d min %d s", whole/60, whole%60)
}
