package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHouseRules keeps lines and functions short, and the core free of the outside world.
func TestHouseRules(t *testing.T) {
	const maxLine, maxFunc = 110, 70
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		for i, line := range lines {
			if n := utf8.RuneCountInString(line); n > maxLine {
				t.Errorf("%s:%d has %d characters, more than %d", path, i+1, n, maxLine)
			}
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, b, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > maxFunc {
				t.Errorf("%s: %s has %d lines, more than %d", path, f.Name, n, maxFunc)
			}
		}
		checkImports(t, path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkImports wants algorithms to do no I/O, read no clock and throw no dice of their own: so what is
// measured can also be simulated.
func checkImports(t *testing.T, path string, file *ast.File) {
	dir := filepath.ToSlash(filepath.Dir(path))
	core := strings.HasSuffix(dir, "/nodes") || strings.HasSuffix(dir, "/nodes/mutex") ||
		strings.HasSuffix(dir, "/nodes/election") || strings.HasSuffix(dir, "/nodes/detector")
	if !core || strings.HasSuffix(path, "_test.go") {
		return
	}
	for _, i := range file.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		switch first, _, _ := strings.Cut(name, "/"); {
		case first == "net" || first == "os" || first == "log" || name == "math/rand" || name == "math/rand/v2" ||
			strings.Contains(first, "."):
			t.Errorf("%s imports %s, and the core does not", path, name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && (s.Sel.Name == "Now" || s.Sel.Name == "Sleep") {
				t.Errorf("%s calls time.%s, and the core does not", path, s.Sel.Name)
			}
		}
		return true
	})
}
