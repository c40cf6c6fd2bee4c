// Times writes measured figures into pages of Markdown, between comments:
//
//	<!-- took: make check -->1 min 25 s<!-- end -->
//	<!-- output: orchestrator list --json | wc -l -->42<!-- end -->
//
// It runs each command once, by sh in this folder with bin/ first in the path, and replaces the text between
// the comments by the time of the command, or by its output. Output in a block of code stays in one, below
// the line that begins with $. If a command fails, its text stays, and the exit status is 1. With -only TEXT
// it runs only commands that contain TEXT.
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
	only := flag.String("only", "", "run only commands that contain this")
	flag.Parse()
	made := map[string]measured{}
	var wrong []error
	for _, path := range flag.Args() {
		text, err := os.ReadFile(path)
		if err == nil {
			var now string
			now, err = update(string(text), *only, made)
			err = errors.Join(err, os.WriteFile(path, []byte(now), 0o644))
		}
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		fmt.Fprintf(os.Stderr, "times: %v\n", err)
		os.Exit(1)
	}
}

// measured has the time and the output of a command.
type measured struct{ took, output string }

var figure = regexp.MustCompile(`(?s)(<!-- (took|output): ([^\n]*?) -->)(.*?)(<!-- end -->)`)

// update returns a page with its figures measured again, and the errors of commands. made has the results of
// commands that were run before.
func update(text, only string, made map[string]measured) (string, error) {
	var wrong []error
	text = figure.ReplaceAllStringFunc(text, func(place string) string {
		m := figure.FindStringSubmatch(place)
		begin, what, command, stands, end := m[1], m[2], m[3], m[4], m[5]
		if !strings.Contains(command, only) {
			return place
		}
		got, found := made[command]
		if !found {
			var err error
			if got, err = measure(command); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", command, err))
				return place
			}
			made[command] = got
		}
		if what == "took" {
			return begin + got.took + end
		}
		return begin + inPlaceOf(stands, got.output) + end
	})
	return text, errors.Join(wrong...)
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
	cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
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

// block matches the beginning of a block of code, with its first line if that is a command after $.
var block = regexp.MustCompile("^\n```.*\n(\\$ .*\n)?")

// inPlaceOf returns output in the form of the text that it replaces: a block of code, lines of their own, or
// words within a line.
func inPlaceOf(stands, output string) string {
	if head := block.FindString(stands); head != "" {
		return head + output + "\n```\n"
	}
	if strings.Contains(stands, "\n") {
		return "\n" + output + "\n"
	}
	return output
}

// written writes a time for people.
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
