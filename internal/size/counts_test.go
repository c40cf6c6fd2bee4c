package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// Decisions that the code makes in one place, or in few places, stay there: no count exceeds its limit.
func TestWhatIsDecidedOnce(t *testing.T) {
	counts, err := Counts(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	most := map[string]int{"files that set the parent-death signal": 1,
		"tests of the type of an effect, outside chaos/effect":                                   7,
		"comparisons with nil of parts of a site, in bench, bench/site, bench/trial, bench/runs": 5}
	for _, dir := range append([]string{"bench/study", "commands"}, aRun...) {
		most["files in the largest circle of "+dir] = 15
	}
	for _, c := range counts {
		if allowed, held := most[c.What]; held && c.N > allowed {
			t.Errorf("%s: %d, and not %d: %s", c.What, c.N, allowed, c.Of)
		} else if held {
			delete(most, c.What)
		}
	}
	for what := range most {
		t.Errorf("nobody counts the %s", what)
	}
}

func TestCounts(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	counts, err := Counts(fstest.MapFS{
		"bench/a.go": file("package bench\n\nimport \"x/effect\"\n\ntype T struct{ proxies *T }\n\n" +
			"func (t *T) one() { b() }\n\nfunc (t T) two() bool { return t.proxies != nil }\n\n" +
			"func three(t *T, n int) {}\n\nfunc ask(e any) bool {\n\tswitch e.(type) {\n" +
			"\tcase *effect.Kill, effect.Pause:\n\t\treturn hasEffect[*effect.Cut](e)\n\t}\n" +
			"\t_, is := e.(*effect.Kill)\n\treturn is\n}\n"),
		"bench/b.go":      file("package bench\n\nfunc b() { c() }\n"),
		"bench/c.go":      file("package bench\n\nfunc c() { three(nil, 1) }\n"),
		"bench/d.go":      file("package bench\n\nfunc d() { c() }\n"),
		"bench/a_test.go": file("package bench\n\nvar x = y{Pdeathsig: 1}\n"),
		"proc/p.go":       file("package proc\n\nvar x = y{Pdeathsig: 1}\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Count{}
	for _, c := range counts {
		got[strings.Fields(c.What)[0]+" "+strings.Fields(c.What)[2]] = c
	}
	for what, want := range map[string]struct {
		n  int
		of string
	}{"files set": {1, "proc/p.go"}, "tests the": {4, ""}, "comparisons nil": {1, ""},
		"methods the": {3, "bench.T"}} {
		if c := got[what]; c.N != want.n || c.Of != want.of {
			t.Errorf("%s: %d of %q, not %d of %q", c.What, c.N, c.Of, want.n, want.of)
		}
	}
	if c := counts[4]; c.N != 3 || c.Of != "of 4" {
		t.Errorf("%s: %d %s", c.What, c.N, c.Of)
	}
}
