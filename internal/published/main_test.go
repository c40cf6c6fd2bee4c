package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Tables of algorithms are joined below one head, and those with other columns are refused.
func TestTablesAreJoined(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, c := write("a", "x,y\n1,2\n"), write("b", "x,y\n3,4\n"), write("c", "x\n5\n")
	to := filepath.Join(dir, "set", "all")
	if err := join([]string{a, b}, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(to); string(text) != "x,y\n1,2\n3,4\n" {
		t.Errorf("%q, %v", text, err)
	}
	err := join([]string{a, c}, to)
	if err == nil || !strings.HasSuffix(err.Error(), "has other columns than "+a) {
		t.Error(err)
	}
}

// No two sets have the same name, and the file of each sweep exists.
func TestSets(t *testing.T) {
	names := map[string]bool{}
	for _, s := range sets {
		if names[s.name] {
			t.Errorf("there are two sets %s", s.name)
		}
		names[s.name] = true
		for _, call := range s.calls {
			if call[0] != "sweep" {
				continue
			}
			if _, err := os.Stat(filepath.Join("../..", call[1])); err != nil {
				t.Error(err)
			}
		}
	}
}
