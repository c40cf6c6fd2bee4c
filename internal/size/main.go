// Size prints the size of each room of this repository. A room is a folder, cut to two levels:
//
//	size [-update] [-why REASON]
//
// It prints lines of Go outside tests and testdata, lines of tests, files and exported names outside tests,
// words of Markdown, and their sums; and the counts that measure structure. The file .ci/size has the figures
// of main; -update rewrites it. A room with more lines or exported names than in that file needs a reason,
// which the file keeps.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// record is the file with the figures of main, below the root.
const record = ".ci/size"

// A Room has the figures of a folder.
type Room struct {
	Lines int    `yaml:"lines"` // lines of Go outside tests and testdata
	Tests int    `yaml:"-"`     // lines of tests
	Files int    `yaml:"files"` // files of Go outside tests and testdata
	Names int    `yaml:"names"` // exported names at package level
	Words int    `yaml:"words,omitempty"`
	Why   string `yaml:"why,omitempty"` // the reason of the last rise
}

// free are the rooms that may grow without a reason: algorithms.
var free = []string{"algorithms/mutex", "algorithms/election", "algorithms/detector", "algorithms/register"}

func main() {
	update := flag.Bool("update", false, "write "+record)
	why := flag.String("why", "", "the `reason` of a rise")
	flag.Parse()
	if err := run(*update, *why); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(update bool, why string) error {
	rooms, err := Measure(os.DirFS("."))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := map[string]Room{}
	if err := yaml.Unmarshal(text, &known); err != nil {
		return fmt.Errorf("%s: %w", record, err)
	}
	if update {
		return write(rooms, known, why)
	}
	print(rooms, known)
	counts, err := Counts(os.DirFS("."))
	for _, c := range counts {
		fmt.Printf("%8d  %s  %s\n", c.N, c.What, c.Of)
	}
	return err
}

// Measure returns the rooms of a repository by their folders; "." is the root.
func Measure(root fs.FS) (map[string]Room, error) {
	rooms := map[string]Room{}
	err := fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		base := path.Base(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(base, ".") && file != "." || base == "testdata" || base == "bin" ||
			strings.HasPrefix(file, "results/") || file == "published"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		name := roomOf(file)
		room := rooms[name]
		text, err := fs.ReadFile(root, file)
		switch {
		case err != nil:
			return err
		case path.Ext(file) == ".md":
			room.Words += len(strings.Fields(string(text)))
		case strings.HasSuffix(file, "_test.go"):
			room.Tests += strings.Count(string(text), "\n")
		case path.Ext(file) == ".go":
			room.Lines += strings.Count(string(text), "\n")
			room.Files++
			names, err := exported(file, text)
			if err != nil {
				return err
			}
			room.Names += names
		default:
			return nil
		}
		rooms[name] = room
		return nil
	})
	return rooms, err
}

// roomOf returns the folder of a file, cut to two levels.
func roomOf(file string) string {
	parts := strings.Split(path.Dir(file), "/")
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// exported counts the exported names of a file at package level; 0 for a program.
func exported(file string, text []byte) (names int, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil || parsed.Name.Name == "main" {
		return 0, err
	}
	count := func(name *ast.Ident) {
		if name.IsExported() {
			names++
		}
	}
	for _, decl := range parsed.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					count(s.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						count(name)
					}
				}
			}
		}
	}
	return names, nil
}

// print prints the rooms and their sums, and for each room the change of its lines against the record.
func print(rooms, known map[string]Room) {
	fmt.Printf("%-24s %8s %8s %6s %6s %8s\n", "", "lines", "tests", "files", "names", "words")
	line := func(name string, r Room, more string) {
		fmt.Printf("%-24s %8d %8d %6d %6d %8d  %s\n", name, r.Lines, r.Tests, r.Files, r.Names, r.Words, more)
	}
	var sum Room
	recorded := 0
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		r, was := rooms[name], known[name]
		sum = Room{sum.Lines + r.Lines, sum.Tests + r.Tests, sum.Files + r.Files, sum.Names + r.Names,
			sum.Words + r.Words, ""}
		more := was.Why
		if r.Lines != was.Lines {
			more = fmt.Sprintf("%+d  %s", r.Lines-was.Lines, was.Why)
		}
		line(name, r, more)
	}
	for _, was := range known {
		recorded += was.Lines
	}
	line("all", sum, fmt.Sprintf("%+d", sum.Lines-recorded))
}

// Rises names the rooms that have more lines or exported names than on record, except free ones.
func Rises(rooms, known map[string]Room) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		r, was := rooms[name], known[name]
		if !slices.Contains(free, name) && (r.Lines > was.Lines || r.Names > was.Names) {
			all = append(all, fmt.Sprintf("%s: %d lines of %d, %d exported names of %d", name, r.Lines,
				was.Lines, r.Names, was.Names))
		}
	}
	return all
}

// write writes the record.
func write(rooms, known map[string]Room, why string) error {
	var rises []string
	if len(known) > 0 { // if there is a record already
		rises = Rises(rooms, known)
	}
	if len(rises) > 0 && why == "" {
		return fmt.Errorf("these folders grew, and no reason was given (make size UPDATE=1 WHY='...'):\n%s",
			strings.Join(rises, "\n"))
	}
	for name, r := range rooms {
		r.Why = known[name].Why
		if slices.ContainsFunc(rises, func(rise string) bool { return strings.HasPrefix(rise, name+": ") }) {
			r.Why = why
		}
		rooms[name] = r
	}
	text := "# The size of each room on main, as make size prints it, and why it last grew. " +
		"make size UPDATE=1 writes it.\n"
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		r := rooms[name]
		text += fmt.Sprintf("%s: {lines: %d, files: %d, names: %d", name, r.Lines, r.Files, r.Names)
		if r.Words > 0 {
			text += fmt.Sprintf(", words: %d", r.Words)
		}
		if r.Why != "" {
			text += fmt.Sprintf(", why: %q", r.Why)
		}
		text += "}\n"
	}
	return os.WriteFile(record, []byte(text), 0o644)
}
