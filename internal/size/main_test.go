package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
)

// No room is larger than .ci/size says, so that each rise has a reason.
func TestRooms(t *testing.T) {
	root := os.DirFS("../..")
	rooms, err := Measure(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../" + record)
	if err != nil {
		t.Fatal(err)
	}
	var known map[string]Room
	if err := yaml.Unmarshal(text, &known); err != nil {
		t.Fatal(err)
	}
	if rises := Rises(rooms, known); len(rises) > 0 {
		t.Errorf("folders are larger than %s says: delete, or say why (make size UPDATE=1 WHY='...'):\n%s", record,
			strings.Join(rises, "\n"))
	}
	for name := range known {
		if _, there := rooms[name]; !there {
			t.Errorf("%s has %s, which is gone: make size UPDATE=1", record, name)
		}
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
	grown := Rises(rooms, map[string]Room{"a/b": {Lines: 9, Names: 3}, "cmd/x": {Lines: 3}, "docs": {}})
	if len(grown) != 1 || !strings.HasPrefix(grown[0], "a/b: 10 lines of 9") {
		t.Errorf("grown: %q", grown)
	}
}
