package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers are the packages, the highest layer first: a package imports only packages of lower layers.
var layers = [][]string{
	{"cmd/node", "cmd/orchestrator"},
	{"bench/experiment", "bench/report", "bench/publish", "bench/diagram", "bench/export"},
	{"bench/page"},
	{"bench"},
	{"bench/service/local", "bench/service/natskv"},
	{"bench/agent", "bench/service"},
	{"bench/cluster", "bench/bare", "bench/control", "bench/compare", "bench/netcut"},
	{"bench/access"},
	{"report/draw"},
	{"results"},
	{"bench/option"},
	{forTests}, // imports chaos and all of nodes but the tables, whose tests use it
	{"judge/measure", "judge/check", "judge/spacetime"},
	{"judge/section", "judge/leadership"},
	{"chaos"},
	{"chaos/place"},
	{"chaos/effect"},
	{"nodes/explore", "nodes/replay/story"},
	{"nodes/host", "nodes/sim", "nodes/replay"},
	{"nodes/lab"},
	{"nodes/stall", "nodes/catalog", "nodes/leading"},
	{"nodes/foreign"},
	{"nodes/workload", "nodes/history"},
	{"nodes/mutex", "nodes/election"},
	{"nodes/detector", "nodes/register", "nodes/foreign/program"},
	{"nodes/row", "nodes/port"},
	{"nodes"},
	{"internal/selfbench"},
	{"internal/terminal", "internal/broker", "internal/chance", "internal/yamlfile", "internal/format",
		"internal/stats"},
	{"internal/certs", "internal/cgroup", "internal/ddmin", "internal/english", "internal/figure",
		"internal/flaky", "internal/heap", "internal/input", "internal/jsonseq", "internal/offset",
		"internal/plainjson",
		"internal/quickpipe", "internal/relay", "internal/size", "internal/skew",
		"docs", "internal/mailbox", "internal/shared",
		"internal/soak", "internal/suggest", "internal/times",
		"internal/unavailable", "internal/unit"},
}

// forTests is a package that tests alone import.
const forTests = "judge/rowtest"

// A goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string // without tests
	Imports    []string

	TestImports, XTestImports []string
}

// listed returns what `go list` says of packages.
func listed(t *testing.T, args ...string) (all []goPackage) {
	t.Helper()
	list := exec.Command("go", append([]string{"list",
		"-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports"}, args...)...)
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// layer returns the line of a package, or -1.
func layer(path string) int {
	return slices.IndexFunc(layers, func(line []string) bool {
		return slices.Contains(line, strings.TrimPrefix(path, module))
	})
}

const module = "turnstile/"

// ofNone are packages that serve every algorithm and know none: no package of algorithms is imported by them.
var (
	ofNone = []string{module + "results", module + "judge/measure", module + "judge/check",
		module + "chaos"}
	ofAlgorithms = []string{module + "nodes/catalog", module + "nodes/mutex", module + "nodes/election",
		module + "nodes/detector"}
)

// risingImports lists the imports of a package that do not lead down.
func risingImports(p goPackage) (wrong []string) {
	from := layer(p.ImportPath)
	if from < 0 {
		return []string{p.ImportPath + " has no layer: give it one"}
	}
	for _, path := range p.Imports {
		if strings.HasPrefix(path, module) && layer(path) <= from {
			wrong = append(wrong, p.ImportPath+" imports "+path)
		} else if slices.Contains(ofNone, p.ImportPath) && slices.Contains(ofAlgorithms, path) {
			wrong = append(wrong, p.ImportPath+" knows an algorithm, by "+path)
		}
		if path == module+forTests {
			wrong = append(wrong, p.ImportPath+" imports "+path+", which is for tests")
		}
	}
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		if strings.HasPrefix(path, module) && path != p.ImportPath && !mayTest(p.ImportPath, path) {
			wrong = append(wrong, "a test of "+p.ImportPath+" imports "+path)
		}
	}
	return wrong
}

// mayTest reports whether the tests of one package may import another: those of its layer and of lower ones,
// and if the package is in nodes, all of nodes, judge and chaos.
func mayTest(tested, imported string) bool {
	under := func(path string, folders ...string) bool {
		return slices.ContainsFunc(folders, func(f string) bool {
			return path == module+f || strings.HasPrefix(path, module+f+"/")
		})
	}
	if under(tested, "nodes") && under(imported, "nodes", "judge", "chaos") {
		return true
	}
	return layer(imported) >= layer(tested)
}

// Imports run one way: from cmd by bench, results, judge and chaos to nodes, and from there to internal.
func TestImportsRunOneWay(t *testing.T) {
	packages := listed(t, "./...")
	if len(packages) < 10 {
		t.Fatalf("there are %d packages", len(packages))
	}
	for _, p := range packages {
		for _, w := range risingImports(p) {
			t.Error(w)
		}
	}
}

func TestRisingImportsAreSeen(t *testing.T) {
	importing := func(path string, imports ...string) goPackage {
		return goPackage{ImportPath: path, Imports: imports}
	}
	for want, p := range map[string]goPackage{
		"turnstile/nodes/sim imports turnstile/chaos": importing("turnstile/nodes/sim", "turnstile/chaos"),
		"turnstile/chaos imports turnstile/results":   importing("turnstile/chaos", "fmt", "turnstile/results"),
		"turnstile/results knows an algorithm, by turnstile/nodes/catalog": importing("turnstile/results",
			"turnstile/nodes/catalog"),
		"turnstile/bench imports turnstile/judge/rowtest, which is for tests": importing("turnstile/bench",
			"turnstile/judge/rowtest"),
		"turnstile/attic has no layer: give it one": importing("turnstile/attic"),
	} {
		if got := risingImports(p); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	test := goPackage{ImportPath: "turnstile/nodes/sim", TestImports: []string{"turnstile/judge/check",
		"turnstile/bench", "turnstile/internal/chance"}, XTestImports: []string{"turnstile/results"}}
	if got, want := risingImports(test), []string{"a test of turnstile/nodes/sim imports turnstile/bench",
		"a test of turnstile/nodes/sim imports turnstile/results"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := risingImports(importing("turnstile/bench", "turnstile/chaos")); got != nil {
		t.Errorf("%q", got)
	}
}

// docs/architecture.md lists every package in its table of the layers; those of internal are one row.
func TestArchitectureListsEveryPackage(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range listed(t, "./...") {
		path := strings.TrimPrefix(p.ImportPath, module)
		if !strings.HasPrefix(path, "internal/") && !strings.Contains(string(text), "`"+path+"`") {
			t.Errorf("docs/architecture.md does not say what %s holds", path)
		}
	}
}

// No program contains code that is for tests alone, such as algorithms that are wrong on purpose.
func TestProgramsHoldNothingThatIsForTests(t *testing.T) {
	for _, p := range listed(t, "-deps", "./cmd/...") {
		if !strings.HasPrefix(p.ImportPath, module) {
			continue
		}
		if slices.Contains(p.Imports, "testing") {
			t.Errorf("%s imports testing", p.ImportPath)
		}
		for _, file := range p.GoFiles {
			for _, name := range mutantNames(t, filepath.Join(p.Dir, file)) {
				t.Errorf("%s/%s ships %s: put it into a test file", p.ImportPath, file, name)
			}
		}
	}
}

// mutantNames lists what in a file is called a mutant, the file included.
func mutantNames(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	note := func(name string) {
		if strings.Contains(strings.ToLower(name), "mutant") {
			names = append(names, name)
		}
	}
	note(filepath.Base(path))
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			note(id.Name)
		}
		return true
	})
	return names
}

func TestMutantsAreSeen(t *testing.T) {
	names := mutantNames(t, "../../nodes/mutex/mutant_test.go")
	if !slices.Contains(names, "mutant_test.go") || !slices.Contains(names, "mutantsOf") {
		t.Errorf("in a file of mutants there are %q", names)
	}
}
