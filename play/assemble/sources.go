package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Sources are the files of algorithms, and the machines that they declare. As JSON they are one object: an
// entry for each machine, and files.
type Sources struct {
	Machines map[string]*Machine // by package and type, as in mutex.ricartAgrawala
	Files    map[string]string   // texts by path
}

// MarshalJSON writes the machines and the files as one object.
func (s Sources) MarshalJSON() ([]byte, error) {
	all := map[string]any{"files": s.Files}
	for name, m := range s.Machines {
		all[name] = m
	}
	return json.Marshal(all)
}

// A Machine says where the code of a machine is. Lines count from 1.
type Machine struct {
	File     string              `json:"file"`
	Doc      [2]int              `json:"doc"`      // first and last line of the comment about the algorithm
	Handlers map[string]*Handler `json:"handlers"` // by method
}

// A Handler is a method that handles an input of a machine. The machine may have it from an embedded type of
// another file.
type Handler struct {
	Place
	// Cases are parts of the method, or of that of an embedded type that it calls: in Receive by the type of the
	// message, in Timeout by the name of the timer and by the number of its kind.
	Cases map[string]Place `json:"cases"`
}

// A Place is a part of a file.
type Place struct {
	File string `json:"file"`
	From int    `json:"from"` // its first line
	To   int    `json:"to"`
}

// A goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath string
	Dir        string
	Export     string // file of its exported declarations
	GoFiles    []string
	DepOnly    bool
}

// listed returns the packages of a pattern and all that they import, which comes first.
func listed(root, pattern string) (all []goPackage, err error) {
	list := exec.Command("go", "list", "-deps", "-export",
		"-json=ImportPath,Dir,Export,GoFiles,DepOnly", pattern)
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pattern, err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// A reader reads packages of algorithms.
type reader struct {
	root    string
	files   *token.FileSet
	info    *types.Info
	known   map[string]*types.Package // packages read so far
	others  types.Importer            // for all other packages
	methods map[*types.Func]*ast.FuncDecl
	decls   map[types.Object]declared
	timers  map[types.Object]int64 // kinds of timers, by the constant or variable that has one
	out     Sources
}

// A declared type is the place of its declaration.
type declared struct {
	spec *ast.TypeSpec
	gen  *ast.GenDecl
	file *ast.File
}

// ReadSources reads the packages of a pattern below the root of the repository.
func ReadSources(root, pattern string) (Sources, error) {
	r := reader{root: root, files: token.NewFileSet(), known: map[string]*types.Package{},
		methods: map[*types.Func]*ast.FuncDecl{}, decls: map[types.Object]declared{},
		timers: map[types.Object]int64{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}},
		out: Sources{map[string]*Machine{}, map[string]string{}}}
	packages, err := listed(root, pattern)
	if err != nil {
		return Sources{}, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	r.others = importer.ForCompiler(r.files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, p := range packages {
		if !p.DepOnly {
			if err := r.read(p); err != nil {
				return Sources{}, err
			}
		}
	}
	for _, p := range maps.All(r.known) {
		for _, name := range p.Scope().Names() {
			r.mark(p, p.Scope().Lookup(name))
		}
	}
	return r.out, nil
}

// Import implements types.Importer.
func (r *reader) Import(path string) (*types.Package, error) {
	if p := r.known[path]; p != nil {
		return p, nil
	}
	return r.others.Import(path)
}

// read reads the files of a package.
func (r *reader) read(p goPackage) error {
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		root, err := filepath.Abs(r.root)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		file, err := parser.ParseFile(r.files, below, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
		r.out.Files[below] = string(text)
	}
	checked, err := (&types.Config{Importer: r}).Check(p.ImportPath, r.files, files, r.info)
	if err != nil {
		return err
	}
	r.known[p.ImportPath] = checked
	for _, file := range files {
		r.note(file)
	}
	return nil
}

// note notes the methods, types and timers that a file declares.
func (r *reader) note(file *ast.File) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if f, ok := r.info.Defs[d.Name].(*types.Func); ok {
				r.methods[f] = d
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					r.decls[r.info.Defs[s.Name]] = declared{s, d, file}
				case *ast.ValueSpec:
					r.noteTimers(s)
				}
			}
		}
	}
}
