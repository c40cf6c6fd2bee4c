package nodes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Algorithms stay pure: of the packages under nodes/ and algorithms/, only host, history and foreign/program
// do I/O or read clocks; replay/story, which is for tests, may read files. No package imports math/rand,
// since random decisions are hashes. Tables of algorithms are literals: no init function fills them.
func TestHygiene(t *testing.T) {
	files := token.NewFileSet()
	seen := 0
	look := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		for _, o := range offences(filepath.ToSlash(filepath.Dir(path)), file) {
			t.Errorf("%s: %s", path, o)
		}
		return nil
	}
	for _, root := range []string{".", "../algorithms"} {
		if err := filepath.WalkDir(root, look); err != nil {
			t.Error(err)
		}
	}
	if seen < 150 {
		t.Errorf("looked at %d files alone", seen)
	}
}

// The check finds all offences in a source; which ones count depends on the folder of its package.
func TestHygieneIsSeen(t *testing.T) {
	const source = `package x
		import ( "log/slog"; "math/rand/v2"; "os"; "net/http"; "time" )
		func init() {}
		func f() { time.Now(); time.Sleep(time.Second) }`
	for dir, want := range map[string]int{"../algorithms/mutex": 7, ".": 6, "sim": 6, "host": 1} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := offences(dir, file); len(got) != want {
			t.Errorf("in %s: %q, want %d", dir, got, want)
		}
	}
}

// clocks are the functions of package time that read a clock or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// offences lists what a file does although its package must not. dir is its folder, relative to nodes/.
func offences(dir string, file *ast.File) []string {
	var all []string
	world := dir == "host" || dir == "history" || dir == "foreign/program"
	files := world || dir == "replay/story"
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		root, _, _ := strings.Cut(path, "/")
		switch {
		case root == "os" && files:
		case !world && slices.Contains([]string{"net", "os", "log", "syscall"}, root),
			strings.HasPrefix(path, "math/rand"):
			all = append(all, "imports "+path)
		}
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Recv == nil && f.Name.Name == "init" && strings.HasPrefix(dir, "../algorithms/") {
			all = append(all, "has an init function")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && !world {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, sel.Sel.Name) {
				all = append(all, fmt.Sprintf("calls time.%s", sel.Sel.Name))
			}
		}
		return true
	})
	return all
}
