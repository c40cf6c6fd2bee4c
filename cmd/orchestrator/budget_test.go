package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
)

// rowBudget is the CPU time that all tests of a row may take in make test.
const rowBudget = 3 * time.Second

var budget = flag.Bool("budget", false, "measure the CPU time that the tests of each row take")

// TestBudget prints the CPU time that the tests of each row take in make test: all tests that have Row in
// their names. Machines differ, so that only a row that takes twice its budget is an error.
func TestBudget(t *testing.T) {
	if !*budget {
		t.Skip("make budget runs it")
	}
	var places []tested
	for _, p := range listed(t, "./...") {
		if goesOverRows(t, p.Dir) {
			places = append(places, newPlace(t, p))
		}
	}
	line := func(first string, cells ...any) {
		fmt.Printf("%-26s"+strings.Repeat("%18v", len(cells))+"\n", append([]any{first}, cells...)...)
	}
	header := []any{}
	for _, p := range places {
		header = append(header, p.name)
	}
	line("CPU seconds", append(header, "together")...)
	for _, row := range slices.Concat(mutex.Table, election.Table) {
		cells, together := []any{}, time.Duration(0)
		for _, p := range places {
			took := p.cpu(t, row.Name) - p.without
			cells, together = append(cells, tenths(took)), together+took
		}
		line(row.Name, append(cells, tenths(together))...)
		if together > 2*rowBudget {
			t.Errorf("the tests of %s take %v, and the budget is %v", row.Name, together, rowBudget)
		}
	}
}

func tenths(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }

// goesOverRows reports whether a folder has tests that go over the rows.
func goesOverRows(t *testing.T, dir string) bool {
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`\nfunc Test\w*Row`)
		over := regexp.MustCompile(`range (mutex\.|election\.)?Table`)
		if named.Match(b) && over.Match(b) {
			return true
		}
	}
	return false
}

// A tested is a package whose tests go over the rows.
type tested struct {
	name, dir, binary string
	without           time.Duration // what its tests take for no row
}

func newPlace(t *testing.T, p goPackage) tested {
	t.Helper()
	at := tested{name: strings.TrimPrefix(p.ImportPath, module), dir: p.Dir}
	at.binary = filepath.Join(t.TempDir(), "test")
	build := exec.Command("go", "test", "-c", "-o", at.binary, p.ImportPath)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the tests of %s: %v\n%s", at.name, err, out)
	}
	at.cpu(t, "none") // which may take longer at first
	at.without = at.cpu(t, "none")
	return at
}

// cpu returns the CPU time that the tests of a row take.
func (p tested) cpu(t *testing.T, row string) time.Duration {
	t.Helper()
	cmd := exec.Command(p.binary, "-test.short", "-test.run", "Row/^"+row+"$")
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s, %s: %v\n%s", p.name, row, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
