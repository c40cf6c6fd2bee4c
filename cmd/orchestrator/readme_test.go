package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

var updateReadme = flag.Bool("update-readme", false, "bring the README's table of algorithms up to date")

// TestReadme wants the table of the README to be what list --markdown prints.
func TestReadme(t *testing.T) {
	const path, begin, end = "../../README.md", "<!-- algorithms: made by `make readme` -->\n", "<!-- end -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table, between %q and %q", path, begin, end)
	}
	var table bytes.Buffer
	if status := run(t.Context(), []string{"list", "--markdown"}, &table, os.Stderr); status != 0 {
		t.Fatalf("list --markdown: exit status %d", status)
	}
	want := before + begin + table.String() + end + after
	switch {
	case want == string(b):
	case !*updateReadme:
		t.Errorf("the table of algorithms in the README is out of date: type make readme")
	default:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
