package commands

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An algorithm is one new file and one line of the table. In a copy of the tree that has these two more, it
// is found in everything that follows from the rows, and it runs.
func TestAnAlgorithmIsOneFileAndOneLine(t *testing.T) {
	c := copyTree(t)
	c.add("testdata/added/secretary.go", "algorithms/mutex/secretary.go")
	c.insert("algorithms/mutex/table.go", "var Table = []*row.Row{\n", "\t&secretaryRow,\n")
	c.run("go", "build", "-trimpath", "-o", "bin/", "./cmd/orchestrator", "./cmd/node")

	for _, test := range []struct{ says, command string }{
		{"\nsecretary ", "list"},
		{"\nsummary        One of the nodes is the coordinator too", "list clerk"},
		{"| `secretary` | clerk | centralized |", "list --markdown"}, // the table of docs/algorithms.md
		{"secretary\tOne of the nodes", "__complete bench --algo sec"},
		{"\nlast\n", "__complete bench --algo secretary --seat "},
		{"--seat", "bench --algo secretary --help"},
		{"EXHAUSTED", "explore --algo secretary -n 2 --seat last"},
		{"\nVALID", "simulate --algo secretary -n 20 --seat last --entries 200"},
		{"\nVALID", "bench --algo secretary -n 3 --seat last --duration 300ms --no-progress"},
	} {
		out := c.run("bin/orchestrator", strings.Split(test.command, " ")...)
		if !strings.Contains("\n"+out, test.says) {
			t.Errorf("orchestrator %s does not say %q but\n%s", test.command, test.says, out)
		}
	}
	if rows := c.read("results/latest/runs.csv"); !strings.Contains(rows, ",secretary_seat,") {
		t.Errorf("the option is no column of runs.csv:\n%s", rows)
	}
	const conformance = "(SoundRows|RowsCost|RowsAre|RowsSay|NoRow)/^secretary$"
	out := c.run("go", "test", "-trimpath", "-v", "-run", conformance, "./algorithms/mutex")
	passed := regexp.MustCompile(`--- PASS: \w+/secretary`).FindAllString(out, -1)
	if len(passed) != 7+3 { // tests of rows, and assumptions
		t.Errorf("%d tests of the row pass:\n%s", len(passed), out)
	}
}

// A fault of links is one new file and a line of the table of effects; a check one file and a line of its
// problem; a figure a field and its value. In a copy of the tree that has all of these more, flags, plans,
// verdicts and columns of results follow.
func TestAFaultACheckAndAFigureAreAdded(t *testing.T) {
	c := copyTree(t)
	c.add("testdata/added/skip.go", "chaos/effect/skip.go")
	c.insert("chaos/effect/effect.go", "var Kinds = []*Kind{", "&skip, ")
	c.add("testdata/added/everyone.go", "judge/check/everyone.go")
	c.insert("judge/check/problem.go", "checks: []check{\n",
		"\t\t{name: \"everyone\", about: aboutEnough, judge: everyone},\n")
	c.insert("judge/measure/figures.go", "type Figures struct {\n", "\tTwice number `csv:\"entries_twice\"`\n")
	c.insert("judge/measure/fold.go", "\tm, s := &f.Measures, f.sections\n\tm.Window = s.Window\n",
		"\tm.Twice = figure.Count(2 * s.Entries)\n")
	c.run("go", "build", "-trimpath", "-o", "bin/", "./cmd/orchestrator", "./cmd/node")
	c.write("plan.yaml", "about: every third\nfaults:\n  - {skip: 3, at: 100ms, for: 500ms}\n")

	const simulated = "simulate --algo central-queued -n 3 --latency 1ms --duration 2s"
	for _, test := range []struct{ says, command string }{
		{"have every so manieth message of a link lost", "simulate --help-all"},
		{"skip 3 at 100ms for 500ms: it hit ", simulated + " --skip 3 --at 100ms --for 500ms"},
		{"skip 3 at 100ms for 500ms: it hit ", simulated + " --plan plan.yaml"},
		{"\nthe stored verdict is the same", "verify latest"},
	} {
		out := c.run("bin/orchestrator", strings.Split(test.command, " ")...)
		if !strings.Contains("\n"+out, test.says) {
			t.Errorf("orchestrator %s does not say %q but\n%s", test.command, test.says, out)
		}
	}
	if verdict := c.read("results/latest/verdict.txt"); !strings.Contains(verdict, "as many entries as") {
		t.Errorf("the verdict does not have the check:\n%s", verdict)
	}
	if rows := c.read("results/latest/runs.csv"); !strings.Contains(rows, ",entries_twice,") {
		t.Errorf("the figure is no column of runs.csv:\n%s", rows)
	}
}

// A kind of runs is a kind of rows, a problem and a table of rows, each with a line where their like are
// listed. In a copy of the tree that has one more, its algorithm is found, and its runs are made and judged.
func TestAKindOfRunsIsAddedInFiveFiles(t *testing.T) {
	c := copyTree(t)
	c.insert("nodes/spec.go", "\tDetection\n", "\tAsking // they ask, and are answered\n")
	c.add("testdata/added/asking.go", "nodes/asking/asking.go")
	c.insert("algorithms/catalog/catalog.go", "\t\"turnstile/nodes\"\n", "\t\"turnstile/nodes/asking\"\n")
	c.insert("algorithms/catalog/catalog.go", "return slices.Concat(", "asking.Table, ")
	c.add("testdata/added/answers.go", "judge/check/answers.go")
	c.insert("judge/check/problem.go", "var Problems = []*Problem{", "Answers, ")
	c.run("go", "build", "-trimpath", "-o", "bin/", "./cmd/orchestrator", "./cmd/node")

	const simulated = "simulate --algo asking -n 3 --latency 1ms --duration 1s"
	for _, test := range []struct{ says, command string }{
		{"\nasking ", "list"},
		{"\nsummary        A node asks the next one", "list asking"},
		{"\nVALID", simulated},
		{"\nthe stored verdict is the same", "verify latest"},
		{"\nVALID", simulated + " --pause 1 --at 300ms --for 200ms --trials 2"},
		{"\nVALID", "bench --algo asking -n 3 --duration 300ms --no-progress"},
		{"whoever waits can still enter", "explore --algo asking -n 2 --check progress"},
	} {
		out := c.run("bin/orchestrator", strings.Split(test.command, " ")...)
		if !strings.Contains("\n"+out, test.says) {
			t.Errorf("orchestrator %s does not say %q but\n%s", test.command, test.says, out)
		}
	}
	if verdict := c.read("results/latest/verdict.txt"); !strings.Contains(verdict, "questions were answered") {
		t.Errorf("the verdict does not have the check:\n%s", verdict)
	}
}

// A copiedTree is a copy of all files that the programs are built from.
type copiedTree struct {
	t   *testing.T
	dir string
}

// copyTree copies the tree, for a test that make test skips.
func copyTree(t *testing.T) *copiedTree {
	t.Helper()
	if testing.Short() {
		t.Skip("make test-all runs it: it builds a copy of the tree")
	}
	t.Parallel()
	c := &copiedTree{t, t.TempDir()}
	c.copy("..")
	return c
}

func (c *copiedTree) copy(root string) {
	c.t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch base := filepath.Base(path); {
		case err != nil:
			return err
		case d.IsDir() && (base == ".git" || base == "bin"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".yaml", ".html", ".md", ".txt"}, filepath.Ext(path)) &&
			!strings.HasPrefix(base, "go."):
			return nil
		}
		to, err := filepath.Rel(root, path)
		if err == nil {
			c.add(path, to)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// add copies a file into the tree.
func (c *copiedTree) add(from, to string) {
	c.t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(to, string(b))
}

func (c *copiedTree) read(path string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

func (c *copiedTree) write(path, text string) {
	c.t.Helper()
	path = filepath.Join(c.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// insert puts a line behind another.
func (c *copiedTree) insert(path, behind, line string) {
	c.t.Helper()
	before, after, ok := strings.Cut(c.read(path), behind)
	if !ok {
		c.t.Fatalf("%s has no line %s", path, behind)
	}
	c.write(path, before+behind+line+after)
}

// run runs a program in the tree and returns what it prints.
func (c *copiedTree) run(program string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = c.dir, append(cleanEnv(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}
