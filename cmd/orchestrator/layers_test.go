package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers are the packages, the highest layer first: a package imports only packages of lower layers.
var layers = [][]string{
	{"cmd/node", "cmd/orchestrator"},
	{"bench/matrix", "bench/splitbrain"},
	{"bench/campaign"},
	{"bench"},
	{"bench/measure", "bench/check", "bench/cluster", "bench/bare", "bench/control"},
	{"bench/section", "bench/leadership"},
	{"chaos", "results"},
	{"nodes/explore/story"},
	{"nodes/host", "nodes/sim", "nodes/explore"},
	{"nodes/stall", "nodes/workload", "nodes/history", "nodes/catalog"},
	{"nodes/mutex", "nodes/election"},
	{"nodes/detector", "nodes/lease"},
	{"nodes"},
	{"internal/chance", "internal/yamlfile"},
	{"internal/cgroup", "internal/ddmin", "internal/english", "internal/gotest", "internal/heap",
		"internal/jsonseq", "internal/skew", "internal/soak", "internal/suggest", "internal/svg", "internal/times"},
}

// A goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string // without tests
	Imports    []string
}

// listed returns what `go list` says of packages.
func listed(t *testing.T, args ...string) (all []goPackage) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports"}, args...)...)
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

// risingImports lists the imports of a package that do not lead down.
func risingImports(p goPackage) (wrong []string) {
	from := layer(p.ImportPath)
	if from < 0 {
		return []string{p.ImportPath + " has no layer: give it one"}
	}
	for _, path := range p.Imports {
		if strings.HasPrefix(path, module) && layer(path) <= from {
			wrong = append(wrong, p.ImportPath+" imports "+path)
		}
	}
	return wrong
}

// Imports run one way: from cmd by bench, results and chaos to nodes, and from there to internal.
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
		"turnstile/attic has no layer: give it one":   importing("turnstile/attic"),
	} {
		if got := risingImports(p); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := risingImports(importing("turnstile/bench", "turnstile/chaos")); got != nil {
		t.Errorf("%q", got)
	}
}

// What is there for tests alone, such as algorithms that are wrong on purpose, is in no program.
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
