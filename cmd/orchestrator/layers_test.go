package main

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers are the rooms of the house, the highest first: a package imports none that stands above it, nor one
// of another room of its own line.
var layers = [][]string{
	{"cmd/node", "cmd/orchestrator"},
	{"bench", "nodes/mutants"}, // mutants are about to become tests
	{"bench/measure", "bench/cluster", "bench/bare"},
	{"bench/check"},
	{"chaos", "results"},
	{"nodes/host", "nodes/sim", "nodes/explore"},
	{"nodes/stall", "nodes/workload", "nodes/history"},
	{"nodes/mutex", "nodes/election"},
	{"nodes"},
	{"internal/yamlfile"},
	{"internal/chance", "internal/suggest"},
}

// A goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath string
	Imports    []string
}

// listed returns what `go list` says of packages.
func listed(t *testing.T, args ...string) (all []goPackage) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports"}, args...)...)
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
	for want, p := range map[string]goPackage{
		"turnstile/nodes/sim imports turnstile/chaos": {"turnstile/nodes/sim", []string{"turnstile/chaos"}},
		"turnstile/chaos imports turnstile/results":   {"turnstile/chaos", []string{"fmt", "turnstile/results"}},
		"turnstile/attic has no layer: give it one":   {"turnstile/attic", nil},
	} {
		if got := risingImports(p); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := risingImports(goPackage{"turnstile/bench", []string{"turnstile/chaos"}}); got != nil {
		t.Errorf("%q", got)
	}
}
