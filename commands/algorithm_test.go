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

// An addition is what somebody adds to the tree: new files, and lines behind others that are there.
type addition struct {
	what  string
	files map[string]string // from testdata/added, and where they go
	lines [][3]string       // a file, the text to insert behind, and the inserted lines
	shows [][2]string       // commands, and what each says
}

// additions has one addition of each kind. A figure takes a field and its value; a kind of runs takes a kind
// of algorithms, a problem and a table of algorithms; all others take a file and a line.
var additions = []addition{
	{"an algorithm", map[string]string{"secretary.go": "algorithms/mutex/secretary.go"},
		[][3]string{{"algorithms/mutex/table.go", "var Table = []*algorithm.Algorithm{\n",
			"\t&secretaryAlgorithm,\n"}},
		[][2]string{
			{"list", "\nsecretary "},
			{"list clerk", "\nsummary        One of the nodes is the coordinator too"},
			{"list --markdown", "| `secretary` | clerk | centralized |"}, // the table of docs/algorithms.md
			{"__complete bench --algo sec", "secretary\tOne of the nodes"},
			{"__complete bench --algo secretary --seat ", "\nlast\n"},
			{"bench --algo secretary --help-all", "--seat"},
			{"explore --algo secretary -n 2 --seat last", "EXHAUSTED"},
			{"simulate --algo secretary -n 20 --seat last --entries 200", "\nVALID"},
			{"bench --algo secretary -n 3 --seat last --duration 300ms --no-progress", "\nVALID"},
			{"list columns secretary_seat", "secretary_seat"},
		}},
	{"a fault of a link", map[string]string{"skip.go": "chaos/effect/skip.go"},
		[][3]string{{"chaos/effect/effect.go", "var Kinds = []*Kind{", "&skip, "}},
		[][2]string{
			{"simulate --help-all", "have every so manieth message of a link lost"},
			{"simulate --algo central-queued -n 3 --latency 1ms --duration 2s --skip 3 --at 100ms --for 500ms",
				"skip 3 at 100ms for 500ms: it hit "},
			{"simulate --algo central-queued -n 3 --latency 1ms --duration 2s --plan plan.yaml",
				"skip 3 at 100ms for 500ms: it hit "},
			{"verify latest", "\nthe stored verdict is the same"},
		}},
	{"a fault of a broker", map[string]string{"wink.go": "chaos/effect/wink.go"},
		[][3]string{{"chaos/effect/effect.go", "var Kinds = []*Kind{", "&wink, "}},
		[][2]string{
			{"plans", "wink: broker 0, for: 100ms"},
			{"bench --algo central -n 3 --duration 600ms --plan wink.yaml --no-progress",
				"\nVALID"},
			{"runs show latest", "wink broker 0 at 100ms for 200ms"},
		}},
	{"a check", map[string]string{"everyone.go": "judge/check/everyone.go"},
		[][3]string{{"judge/check/problem.go", "{name: \"evidence\", about: aboutEnough, judge: enough},\n",
			"\t\t{name: \"everyone\", about: aboutEnough, judge: everyone},\n"}},
		[][2]string{{"simulate --algo lamport -n 3 --entries 50 --json", "somebody has entered"}}},
	{"a figure", nil,
		[][3]string{{"judge/measure/figures.go", "type Figures struct {\n",
			"\tTwice number `csv:\"entries_twice\"`\n"},
			{"judge/measure/fold.go", "\tm, s := &f.Measures, f.sections\n\tm.Window = s.Window\n",
				"\tm.Twice = figure.Count(2 * s.Entries)\n"},
			{"results/columns.yaml", "\"entries of the whole run\", ~]\n",
				"- [entries_twice, entries, \"twice the entries\", ~]\n"}},
		[][2]string{{"list columns entries_twice", "twice the entries"},
			{"compare bench --by algorithm --unlike --metric entries_twice", "entries_twice"}}},
	{"an option", map[string]string{"spare.go": "option/spare.go"},
		[][3]string{{"option/table.go", "var Table = []*Option{\n", "\tspare,\n"}},
		[][2]string{{"simulate --algo lamport -n 3 --entries 50 --spare 4", ", spare 4, "},
			{"verify --again", ", spare 4, "}, {"list columns spare", "how many were spare"}}},
	{"a service", map[string]string{"spin.go": "bench/service/local/spin_linux.go"},
		[][3]string{{"bench/service/local/local_linux.go", "var Services = []*service.Service{\n", "\tspin,\n"}},
		[][2]string{{"list", "\nspin "}, {"list spin", "as test-and-set has it"},
			{"bench --service spin -n 2 --duration 300ms --no-progress", "no two were inside together"}}},
	{"a study and a command", map[string]string{"lonely_study.go": "bench/study/lonely.go",
		"lonely_command.go": "commands/lonely.go"},
		[][3]string{{"commands/commands.go", "{makesMany, []Command{", "lonelyCommand(), "}},
		[][2]string{{"--help", "lonely "}, {"lonely", "\ncentral-lease\n"}}},
	{"a kind of runs", map[string]string{"asking.go": "nodes/asking/asking.go",
		"answers.go": "judge/check/answers.go"},
		[][3]string{{"nodes/spec.go", "\tDetection\n", "\tAsking // they ask, and are answered\n"},
			{"algorithms/catalog/catalog.go", "\t\"turnstile/nodes\"\n", "\t\"turnstile/nodes/asking\"\n"},
			{"algorithms/catalog/catalog.go", "return slices.Concat(", "asking.Table, "},
			{"judge/check/problem.go", "var Problems = []*Problem{", "Answers, "}},
		[][2]string{
			{"list", "\nasking "},
			{"list asking", "\nsummary        A node asks the next one"},
			{"simulate --algo asking -n 3 --latency 1ms --duration 1s", "\nVALID"},
			{"verify latest", "\nthe stored verdict is the same"},
			{"simulate --algo asking -n 3 --latency 1ms --duration 1s --pause 1 --at 300ms --for 200ms --trials 2",
				"\nVALID"},
			{"bench --algo asking -n 3 --duration 300ms --no-progress --json", "questions were answered"},
			{"explore --algo asking -n 2 --check progress", "every waiting client can still enter"},
		}},
}

// An addition takes a file and a line. In a copy of the tree with all additions, everything that follows from
// each addition is there, and works.
func TestAdditionsAreAFileAndALine(t *testing.T) {
	if testing.Short() {
		t.Skip("make additions runs it: it builds a copy of the tree")
	}
	c := &copiedTree{t, t.TempDir()}
	c.copy("..")
	for _, x := range additions {
		for from, to := range x.files {
			c.add("testdata/added/"+from, to)
		}
		for _, line := range x.lines {
			c.insert(line[0], line[1], line[2])
		}
	}
	c.write("wink.yaml", "about: a broker\nfaults:\n  - {wink: broker 0, at: 100ms, for: 200ms}\n")
	c.write("plan.yaml", "about: every third\nfaults:\n  - {skip: 3, at: 100ms, for: 500ms}\n")
	c.run("go", "build", "-trimpath", "-o", "bin/", "./cmd/orchestrator", "./cmd/node")
	for _, x := range additions {
		t.Run(x.what, func(t *testing.T) {
			c := &copiedTree{t, c.dir}
			for _, shows := range x.shows {
				args := strings.Split(shows[0], " ")
				if out := c.run("bin/orchestrator", args...); !strings.Contains("\n"+out, shows[1]) {
					t.Errorf("orchestrator %s does not say %q but\n%s", shows[0], shows[1], out)
				}
			}
		})
	}
	const conformance = "(SoundAlgorithms|Algorithms(Cost|Are|Say)|NoAlgorithm|OptionsDo)/^secretary$"
	out := c.run("go", "test", "-trimpath", "-vet=off", "-v", "-run", conformance, "./algorithms/mutex")
	passed := regexp.MustCompile(`--- PASS: \w+/secretary`).FindAllString(out, -1)
	if len(passed) != 8+3+1+2 { // tests of algorithms, assumptions, an option, and two explorations
		t.Errorf("%d tests of the algorithm pass:\n%s", len(passed), out)
	}
}

// A copiedTree is a copy of all files that the programs are built from.
type copiedTree struct {
	t   *testing.T
	dir string
}

func (c *copiedTree) copy(root string) {
	c.t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch base := filepath.Base(path); {
		case err != nil:
			return err
		case d.IsDir() && (base == ".git" || base == "bin"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(strings.Fields(".go .yaml .html .md .txt .c .java"),
			filepath.Ext(path)) && !strings.HasPrefix(base, "go."):
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
