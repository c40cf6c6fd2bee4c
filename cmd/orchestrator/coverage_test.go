package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const coveragePage = "../../docs/coverage.md"

// A claim is a row of the page on coverage.
type claim struct {
	id, says string
	shown    []string // commands, schedules and names of tests
	prints   []string // what the commands print, one after the other
	waits    string   // for what, if nothing shows it yet
}

// claims reads the page.
func claims(t *testing.T) (all []claim) {
	id := regexp.MustCompile(`^[JTLKG][0-9]+$`)
	for line := range strings.Lines(page(t, coveragePage)) {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if !id.MatchString(row[0]) {
			continue
		}
		if len(row) < 3 {
			t.Fatalf("%q has no column that says what shows it", line)
		}
		c := claim{id: row[0], says: row[1]}
		if waits, does := strings.CutPrefix(row[2], "waits for "); does {
			c.waits = waits
			all = append(all, c)
			continue
		}
		for i, span := range strings.Split(row[2], "`") {
			if i%2 == 1 {
				c.shown = append(c.shown, span)
			}
		}
		if len(row) > 3 && row[3] != "" {
			c.prints = strings.Split(row[3], " / ")
		}
		all = append(all, c)
	}
	return all
}

// Every claim of the texts that the project grew from has a row, and what a row says shows it.
func TestCoverage(t *testing.T) {
	all := claims(t)
	at := 0
	for _, text := range []struct {
		letter string
		claims int
	}{{"J", 40}, {"T", 23}, {"L", 27}, {"K", 17}, {"G", 20}} {
		for n := 1; n <= text.claims; n++ {
			if want := fmt.Sprint(text.letter, n); at >= len(all) || all[at].id != want {
				t.Fatalf("row %d of the page is not %s", at+1, want)
			}
			at++
		}
	}
	if at != len(all) {
		t.Fatalf("the page has %d claims more than there are", len(all)-at)
	}
	tests := namesOfTests(t)
	for _, c := range all {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			if c.waits == "" && len(c.shown) == 0 {
				t.Errorf("nothing shows that %s", c.says)
			}
			for _, shown := range c.shown {
				c.prints = show(t, tests, shown, c.prints)
			}
			if len(c.prints) > 0 {
				t.Errorf("nothing prints %q", c.prints)
			}
		})
	}
}

// show checks that something shows a claim: a test is there, a schedule can be played, and a command prints
// the first of some texts. It returns the others.
func show(t *testing.T, tests, shown string, prints []string) []string {
	t.Helper()
	command, calls := strings.CutPrefix(shown, "orchestrator ")
	switch {
	case calls:
		if len(prints) == 0 {
			t.Fatalf("it is not said what %s prints", shown)
		}
		if out := outputOf(t, argsOf(command)...); !strings.Contains(out, prints[0]) {
			t.Errorf("%s does not print %q:\n%s", shown, prints[0], out)
		}
		return prints[1:]
	case strings.HasSuffix(shown, ".txt"):
		outputOf(t, "simulate", "--replay", filepath.Join("../..", shown))
	case !strings.Contains(tests, "func "+shown+"("):
		t.Errorf("there is no test %s", shown)
	}
	return prints
}

// outputOf returns what a call of the orchestrator prints.
func outputOf(t *testing.T, args ...string) string {
	if args[0] == "simulate" && args[1] != "--replay" {
		args = append(args, "--results", t.TempDir())
	}
	var out, err bytes.Buffer
	if status := run(t.Context(), args, &out, &err); status == usage {
		t.Errorf("%q: %s", args, err.String())
	}
	return out.String()
}

// namesOfTests returns the lines in which tests begin.
func namesOfTests(t *testing.T) string {
	out, err := exec.Command("grep", "-rh", "--include=*_test.go", "^func Test", "../..").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
