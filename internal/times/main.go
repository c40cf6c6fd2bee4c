// Times writes measured figures into pages of Markdown. A page says by comments where they stand:
//
//	<!-- took: make check -->1 min 25 s<!-- end -->
//	<!-- output: orchestrator list --json | wc -l -->42<!-- end -->
//
// It runs each command once, by sh in this folder with bin/ first in the path, and replaces what stands
// between the comments by how long the command took, or by what it printed. Output that stands in a block of
// code stays in one, below the line that begins with $. With -only TEXT it runs the commands that contain it.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) (exitStatus int) {
	flags := flag.NewFlagSet("times", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "run the commands that contain this")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	m := measurer{only: *only, say: stdout, made: map[string]*made{}}
	for _, path := range flags.Args() {
		if err := m.update(path); err != nil {
			fmt.Fprintf(stderr, "times: %s: %v\n", path, err)
			return 1
		}
	}
	return 0
}

// A measurer runs commands, each once.
type measurer struct {
	only string
	say  io.Writer
	made map[string]*made
}

// A made is what came of a command.
type made struct {
	took   time.Duration
	output string
}

var figure = regexp.MustCompile(`(?s)(<!-- (took|output): ([^\n]*?) -->)(.*?)(<!-- end -->)`)

// update measures the figures of a page again, and writes it. The page is written after each command, so that
// what was measured is kept if a later one fails.
func (m *measurer) update(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for at := 0; ; {
		place := figure.FindSubmatchIndex(b[at:])
		if place == nil {
			return nil
		}
		part := func(i int) string { return string(b[at+place[2*i] : at+place[2*i+1]]) }
		what, command, stands := part(2), part(3), part(4)
		from, to := at+place[8], at+place[9]
		at += place[1]
		if !strings.Contains(command, m.only) {
			continue
		}
		got, err := m.run(command)
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		now := written(got.took)
		if what == "output" {
			now = inPlaceOf(stands, got.output)
		}
		b = bytes.Join([][]byte{b[:from], b[to:]}, []byte(now))
		at += len(now) - len(stands)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return err
		}
	}
}

// run runs a command, or returns what came of it before.
func (m *measurer) run(command string) (*made, error) {
	if got := m.made[command]; got != nil {
		return got, nil
	}
	fmt.Fprintf(m.say, "%s\n", command)
	programs, err := filepath.Abs("bin")
	if err != nil {
		return nil, err
	}
	var out, errs bytes.Buffer
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s%s", err, &out, &errs)
	}
	got := &made{took: time.Since(begin), output: strings.TrimRight(out.String(), "\n")}
	fmt.Fprintf(m.say, "  %s\n", written(got.took))
	m.made[command] = got
	return got, nil
}

// inPlaceOf returns output in the form of what stands there: a block of code, whose first line may be the
// command as a person types it, lines such as those of a table, or words in a line.
func inPlaceOf(stands, output string) string {
	lines := strings.Split(stands, "\n")
	switch {
	case len(lines) < 2:
		return output
	case !strings.HasPrefix(lines[1], "```"):
		return "\n" + output + "\n"
	}
	head := lines[:2]
	if strings.HasPrefix(lines[2], "$ ") {
		head = lines[:3]
	}
	return strings.Join(head, "\n") + "\n" + output + "\n```\n"
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
