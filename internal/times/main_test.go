package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/internal/soak"
)

const root = "../.."

// pages returns the pages, by their paths in a clone.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range append(paths, root+"/README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, path)
		all[name] = string(text)
	}
	return all
}

// Figures are measured again, each command once, and the text around them stays.
func TestUpdate(t *testing.T) {
	t.Chdir(t.TempDir())
	const page = "It took <!-- took: true -->9 min 9 s<!-- end --> here.\n\n" +
		"| `x` | <!-- output: echo run >>runs; echo 42 -->7<!-- end --> |\n" +
		"| `y` | <!-- output: echo run >>runs; echo 42 --><!-- end --> |\n\n" +
		"<!-- output: printf 'a\\nb\\n' -->\n```\n$ make letters\nz\n```\n<!-- end -->\n\n" +
		"<!-- output: echo '| new |' -->\n| old |\n<!-- end -->\n" +
		"<!-- output: exit 1 -->untouched<!-- end -->\n"
	old := []note{{"true", "old", "1"}, {"exit 1", "old", "2"}}
	m := meter{commit: "new", made: map[string]measured{}}
	got, notes, err := m.update(page, old)
	if err == nil || !strings.Contains(err.Error(), "exit 1") {
		t.Errorf("a command that fails: %v", err)
	}
	want := strings.NewReplacer("-->7<", "-->42<", "42 --><", "42 -->42<", "\nz\n", "\na\nb\n",
		"| old |", "| new |").Replace(page)
	took := regexp.MustCompile(`(<!-- took: true -->)[^<]*<`)
	if took.ReplaceAllString(got, "${1}9 min 9 s<") != want || strings.Contains(got, "9 min 9 s") {
		t.Errorf("the page is\n%s\nand not\n%s", got, want)
	}
	if runs, _ := os.ReadFile("runs"); string(runs) != "run\n" {
		t.Errorf("the command of two figures ran so often: %q", runs)
	}
	if n := notes[1]; len(notes) != 6 || n.Commit != "new" || n.SHA256 != digest("42") || notes[5] != old[1] {
		t.Errorf("the notes are %+v", notes)
	}
	nothing := meter{only: "nothing"}
	if got, notes, err := nothing.update(page, old); got != page || err != nil || notes[0] != old[0] {
		t.Errorf("with -only, %v:\n%s\n%v", err, got, notes)
	}
}

func TestWritten(t *testing.T) {
	for d, want := range map[time.Duration]string{
		41 * time.Millisecond: "0.04 s", 1840 * time.Millisecond: "1.8 s", 12400 * time.Millisecond: "12 s",
		59700 * time.Millisecond: "1 min 0 s", 157 * time.Second: "2 min 37 s"} {
		if got := written(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

// Commands run one after another in one clone, and texts show what the block above them prints.
func TestSteps(t *testing.T) {
	const page = "```sh\n# a comment\necho one >results/kept\ncat results/kept; \\\nexit 3 # status 3\n```\n\n" +
		"<!-- output: | sed s/one/two/ -->\n```\ntwo\n```\n<!-- end -->\n\n" +
		"```sh needs=sh,no-such-program\nfalse\n```\n```sh shown=it-takes-root\nfalse\n```\n" +
		"```sh slow\ncat results/kept\n```\n<!-- output: | cat -->\none\n<!-- end -->\n"
	dir := t.TempDir()
	c, err := newClone(dir, root, dir)
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	printed := ""
	for _, s := range steps(page) {
		why := s.skipped(c.has)
		switch {
		case s.commands == nil:
			made, err := c.filtered(s.filter.command, printed)
			if err != nil || made != strings.TrimSpace(s.text) {
				t.Errorf("%v is %q, and not %q: %v", s.filter, made, s.text, err)
			}
			did = append(did, made)
		case why != "":
			did = append(did, why)
		default:
			if printed, err = c.run(s.commands); err != nil {
				t.Error(err)
			}
		}
	}
	if want := []string{"two", "there is no no-such-program", "it takes root", "one"}; !slices.Equal(did, want) {
		t.Errorf("the steps did %q, and not %q", did, want)
	}
	if _, err := c.run([]string{"exit 1"}); err == nil {
		t.Error("a command that fails is no error")
	}
}

// Every time of minutes that the pages state was measured by make times.
func TestTimesOfPagesAreMeasured(t *testing.T) {
	stated := regexp.MustCompile(`[0-9]+ min( [0-9]+ s)?\b`)
	for path, text := range pages(t) {
		if times := stated.FindAllString(place.ReplaceAllString(text, ""), -1); len(times) > 0 {
			t.Errorf("%s states %q, and no comment says what they were measured by", path, times)
		}
	}
}

// Every text that a command makes is as make times made it: nobody has edited it.
func TestTextsAreAsMade(t *testing.T) {
	all, err := readNotes(filepath.Join(root, notesFile))
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range pages(t) {
		places := place.FindAllStringSubmatch(text, -1)
		if len(places) != len(all[path]) {
			t.Errorf("%s has %d texts that commands make, and %s has %d of them: type make times PAGE=%s",
				path, len(places), notesFile, len(all[path]), path)
			continue
		}
		for i, p := range places {
			n := all[path][i]
			if n.Command != p[3] || n.SHA256 != digest(p[4]) || n.Commit == "" {
				t.Errorf("%s: what stands for %s was not made by it: type make times PAGE=%s", path, p[3], path)
			}
		}
		delete(all, path)
	}
	for path := range all {
		t.Errorf("%s has texts of %s, which is not there", notesFile, path)
	}
}

// The commands of each page run one after another in one clone, end with the status that stands behind them,
// and print the texts below them that a filter makes. Other texts, such as of real runs, are not compared.
func TestCommandsOfPages(t *testing.T) {
	for _, program := range []string{"make", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: there is no %s, so commands of pages cannot run", program)
		}
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", programs, "./cmd/orchestrator", "./cmd/node")
	build.Dir = here
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, made := range []string{"services", "services-lease"} {
		if _, err := os.Stat(filepath.Join(here, "bin", made)); err == nil {
			os.Symlink(filepath.Join(here, "bin", made), filepath.Join(programs, made))
		}
	}
	for path, text := range pages(t) {
		if len(steps(text)) == 0 {
			continue
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			c, err := newClone(t.TempDir(), here, programs)
			if err != nil {
				t.Fatal(err)
			}
			runPage(t, c, text)
			entries, err := os.ReadDir(string(c))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !slices.Contains([]string{"Makefile", "bin", "docs", "examples", "path", "results"}, e.Name()) {
					t.Errorf("commands of %s leave %s beside results", path, e.Name())
				}
			}
		})
	}
}

// Each page has names of its own for the sets that it makes: commands of one page change no set of another.
func TestSetsOfPages(t *testing.T) {
	named := regexp.MustCompile(`(?:--set |\bSET=)([a-z-]+)`)
	of := map[string]string{} // the page of a set
	for path, text := range pages(t) {
		for _, s := range steps(text) {
			for _, m := range named.FindAllStringSubmatch(strings.Join(s.commands, "\n"), -1) {
				if other := cmp.Or(of[m[1]], path); other != path {
					t.Errorf("%s and %s both make the set %s", path, other, m[1])
				}
				of[m[1]] = path
			}
		}
	}
	if len(of) < 5 {
		t.Errorf("pages make the sets %v alone", of)
	}
}

// runPage runs the commands of a page in a clone, each block as a test of its own.
func runPage(t *testing.T, c clone, text string) {
	printed, ran := "", false
	for _, s := range steps(text) {
		if s.commands == nil {
			if ran {
				checkText(t, c, s, printed)
			}
			continue
		}
		ran = false
		t.Run(s.commands[0], func(t *testing.T) {
			if why := s.skipped(c.has); why != "" {
				t.Skipf("SKIPPED: %s, so this is not run: %s", why, s.commands[0])
			}
			if slices.Contains(s.words, "slow") && soak.Pick(true, true, false) {
				t.Skip("make soak runs it: it takes more than ten seconds")
			}
			var err error
			for range 3 { // on a busy machine a run of processes may show nothing
				if printed, err = c.run(s.commands); err == nil || !strings.Contains(err.Error(), "exit status 2, not") {
					break
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			ran = true
		})
	}
}

// checkText wants a text to be what its command makes of what was printed.
func checkText(t *testing.T, c clone, s step, printed string) {
	t.Helper()
	made, err := c.filtered(s.filter.command, printed)
	if err != nil {
		t.Error(err)
	} else if made != s.text {
		t.Errorf("%s makes\n%s\nand on the page stands\n%s", s.filter.command, made, s.text)
	}
}
