package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// A Count is how often the code has something that it should have once, or seldom.
type Count struct {
	What string
	N    int
	Of   string // names the things, or the place with most of them
}

// sources are the Go files of packages, without tests.
type sources struct {
	files *token.FileSet
	of    map[string]map[string]*ast.File // files by folder, and then by name
}

// parse reads all Go files of a repository, except tests and testdata.
func parse(root fs.FS) (*sources, error) {
	s := &sources{token.NewFileSet(), map[string]map[string]*ast.File{}}
	err := fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		base := path.Base(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(base, ".") && file != "." || base == "testdata" || base == "bin"):
			return fs.SkipDir
		case path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(s.files, file, text, parser.SkipObjectResolution)
		dir := path.Dir(file)
		if s.of[dir] == nil {
			s.of[dir] = map[string]*ast.File{}
		}
		s.of[dir][base] = parsed
		return err
	})
	return s, err
}

// Counts returns the counts that measure the structure of the code.
func Counts(root fs.FS) ([]Count, error) {
	s, err := parse(root)
	if err != nil {
		return nil, err
	}
	most, name := s.mostMethods()
	dying := s.setting("Pdeathsig")
	all := []Count{
		{"files that set the parent-death signal", len(dying), strings.Join(dying, " ")},
		{"tests of the type of an effect, outside chaos/effect", s.asking(), ""},
		{"comparisons with nil of parts of a site, in " + strings.Join(aRun, ", "), s.nils(), ""},
		{"methods of the largest type, with functions over it", most, name},
	}
	for _, dir := range slices.Concat(aRun, []string{"bench/study", "commands"}) {
		circle := s.circle(dir)
		all = append(all, Count{"files in the largest circle of " + dir, len(circle),
			fmt.Sprintf("of %d", len(s.of[dir]))})
	}
	return all, nil
}

// aRun are the packages that make one run.
var aRun = []string{"bench", "bench/site", "bench/trial", "bench/runs"}

// each calls do with the nodes of all files.
func (s *sources) each(do func(dir, file string, n ast.Node)) {
	for _, dir := range slices.Sorted(maps.Keys(s.of)) {
		for _, name := range slices.Sorted(maps.Keys(s.of[dir])) {
			ast.Inspect(s.of[dir][name], func(n ast.Node) bool {
				if n != nil {
					do(dir, path.Join(dir, name), n)
				}
				return true
			})
		}
	}
}

// setting returns the files that set a field with a given name.
func (s *sources) setting(field string) (all []string) {
	s.each(func(_, file string, n ast.Node) {
		pair, is := n.(*ast.KeyValueExpr)
		if !is {
			return
		}
		if key, is := pair.Key.(*ast.Ident); is && key.Name == field && !slices.Contains(all, file) {
			all = append(all, file)
		}
	})
	return all
}

// asking counts tests of the type of an effect: hasEffect[*effect.X], assertions, cases of a type switch.
func (s *sources) asking() (count int) {
	effects := func(all ...ast.Expr) {
		for _, x := range all {
			if star, is := x.(*ast.StarExpr); is {
				x = star.X
			}
			of, is := x.(*ast.SelectorExpr)
			if !is {
				continue
			}
			if from, is := of.X.(*ast.Ident); is && from.Name == "effect" {
				count++
			}
		}
	}
	s.each(func(dir, _ string, n ast.Node) {
		if dir == "chaos/effect" {
			return
		}
		switch n := n.(type) {
		case *ast.IndexExpr:
			if f, is := n.X.(*ast.Ident); is && f.Name == "hasEffect" {
				effects(n.Index)
			}
		case *ast.TypeAssertExpr:
			effects(n.Type)
		case *ast.TypeSwitchStmt:
			for _, c := range n.Body.List {
				effects(c.(*ast.CaseClause).List...)
			}
		}
	})
	return count
}

// partsOfSite are the optional parts of a site, which are nil in some runs.
var partsOfSite = []string{"fleet", "transport", "proxies", "service", "serving", "servers", "endpoint",
	"second", "brokers", "cutter", "through", "resource"}

// nils counts comparisons of parts of a site with nil in the packages that make one run.
func (s *sources) nils() (count int) {
	s.each(func(dir, _ string, n ast.Node) {
		b, is := n.(*ast.BinaryExpr)
		if !is || !slices.Contains(aRun, dir) || b.Op != token.EQL && b.Op != token.NEQ {
			return
		}
		if to, is := b.Y.(*ast.Ident); !is || to.Name != "nil" {
			return
		}
		name := ""
		switch x := b.X.(type) {
		case *ast.Ident:
			name = x.Name
		case *ast.SelectorExpr:
			name = x.Sel.Name
		}
		if slices.Contains(partsOfSite, name) {
			count++
		}
	})
	return count
}

// mostMethods returns the name of the type with most methods, and their number, including functions that take
// it.
func (s *sources) mostMethods() (most int, name string) {
	counts := map[string]int{}
	s.each(func(dir, _ string, n ast.Node) {
		f, is := n.(*ast.FuncDecl)
		if !is {
			return
		}
		takes := f.Type.Params.List
		if f.Recv != nil {
			takes = f.Recv.List
		}
		seen := map[string]bool{}
		for _, field := range takes {
			x := field.Type
			if star, is := x.(*ast.StarExpr); is {
				x = star.X
			}
			if id, is := x.(*ast.Ident); is && types.Universe.Lookup(id.Name) == nil && !seen[id.Name] {
				seen[id.Name] = true
				counts[dir+"."+id.Name]++
			}
		}
	})
	for _, of := range slices.Sorted(maps.Keys(counts)) {
		if counts[of] > most {
			most, name = counts[of], of
		}
	}
	return most, name
}

// circle returns the files of the largest cycle in a package, where each file uses a name that the next
// declares.
func (s *sources) circle(dir string) []string {
	uses := s.usesOf(dir)
	reach := map[string]map[string]bool{}
	var walk func(from, at string)
	walk = func(from, at string) {
		for to := range uses[at] {
			if !reach[from][to] {
				reach[from][to] = true
				walk(from, to)
			}
		}
	}
	for file := range s.of[dir] {
		reach[file] = map[string]bool{}
		walk(file, file)
	}
	var largest []string
	for file := range s.of[dir] {
		var circle []string
		for other := range s.of[dir] {
			if reach[file][other] && reach[other][file] {
				circle = append(circle, other)
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	return largest
}

// usesOf returns, for each file of a package, the other files that declare names that it uses.
func (s *sources) usesOf(dir string) map[string]map[string]bool {
	var all []*ast.File
	for _, name := range slices.Sorted(maps.Keys(s.of[dir])) {
		all = append(all, s.of[dir][name])
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	// Imports are ignored, so much does not type-check. Names of the package are found anyway.
	config := types.Config{Importer: nothing{}, Error: func(error) {}}
	pkg, _ := config.Check(dir, s.files, all, &info)
	uses := map[string]map[string]bool{}
	for id, of := range info.Uses {
		_, field := of.(*types.Var)
		if of.Pkg() != pkg || field && of.Parent() != pkg.Scope() {
			continue
		}
		from, to := path.Base(s.files.Position(id.Pos()).Filename), path.Base(s.files.Position(of.Pos()).Filename)
		if of.Parent() != nil && of.Parent() != pkg.Scope() || from == to {
			continue // the name is local, or the file itself declares it
		}
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		uses[from][to] = true
	}
	return uses
}

// nothing imports every package as an empty one.
type nothing struct{}

// Import implements types.Importer.
func (nothing) Import(of string) (*types.Package, error) {
	p := types.NewPackage(of, path.Base(of))
	p.MarkComplete()
	return p, nil
}
