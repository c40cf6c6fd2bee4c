package main

import (
	"fmt"
	"os"
	"testing"
	"testing/fstest"
)

// The code outside tests and algorithms has no more lines than .ci/size says, so that each rise has a reason.
func TestRooms(t *testing.T) {
	root := os.DirFS("../..")
	rooms, err := Measure(root)
	if err != nil {
		t.Fatal(err)
	}
	most, why, err := recorded(root)
	if err != nil || why == "" {
		t.Fatalf("%q: %v", why, err)
	}
	if lines := Bound(rooms); lines > most {
		t.Errorf("%d lines, and %s says %d: delete, or say why (make size UPDATE=1 WHY='...')", lines, record, most)
	}
}

func TestMeasure(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	rooms, err := Measure(fstest.MapFS{
		"a/b/c.go": file("package b\n\nconst A, b = 1, 2\n\ntype C int\n\nfunc D() {}\n\n" +
			"func (C) E() {}\n"),
		"a/b/d/e.go":        file("package d\n"),
		"a/b/c_test.go":     file("package b\n\n"),
		"a/b/testdata/x.go": file("package x\n"),
		"cmd/x/x.go":        file("package main\n\nfunc F() {}\n"),
		"docs/x.md":         file("three words here\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Room{"a/b": {Lines: 10, Tests: 2, Files: 2, Names: 3},
		"cmd/x": {Lines: 3, Files: 1}, "docs": {Words: 3}} {
		if rooms[name] != want {
			t.Errorf("%s: %+v, want %+v", name, rooms[name], want)
		}
	}
	rooms["algorithms/mutex"] = Room{Lines: 100}
	if lines := Bound(rooms); lines != 13 {
		t.Errorf("%d lines are bound, want those of a/b and cmd/x: 13", lines)
	}
}

// The record takes more lines with a reason only, and keeps the reason of the last rise.
func TestRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir(".ci", 0o755); err != nil {
		t.Fatal(err)
	}
	lines, reason := 0, ""
	for _, step := range []struct {
		lines int
		why   string
		want  string
	}{
		{100, "a row: with an option", "100 lines: a row: with an option"},
		{90, "", "90 lines: a row: with an option"},
		{91, "", "90 lines: a row: with an option"},
		{91, "another", "91 lines: another"},
	} {
		err := write(step.lines, lines, reason, step.why)
		if (err != nil) != (step.lines > lines && step.why == "") {
			t.Errorf("%d lines: %v", step.lines, err)
		}
		if lines, reason, err = recorded(os.DirFS(".")); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d lines: %s", lines, reason); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}
