// Size prints the size of each room of this repository. A room is a folder, cut to two levels:
//
//	size [-update] [-why REASON]
//
// It prints lines of Go outside tests and testdata, lines of tests, files and exported names outside tests,
// words of Markdown, and their sums. The file .ci/size has the lines of main outside tests and algorithms;
// -update rewrites it. More lines need a reason, which the file keeps.
package main

import (
	"cmp"
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
	"strconv"
	"strings"
)

// record is the file with the lines of main, below the root.
const record = ".ci/size"

// A Room has the figures of a folder.
type Room struct {
	Lines int // lines of Go outside tests and testdata
	Tests int // lines of tests
	Files int // files of Go outside tests and testdata
	Names int // exported names at package level
	Words int
}

// free are the rooms that may grow without a reason: algorithms.
var free = []string{"algorithms/mutex", "algorithms/election", "algorithms/detector", "algorithms/register",
	"algorithms/quorum", "examples/algorithm"}

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
	most, reason, err := recorded(os.DirFS("."))
	if err != nil {
		return err
	}
	if update {
		return write(Bound(rooms), most, reason, why)
	}
	print(rooms)
	fmt.Printf("%d lines outside algorithms, %+d: %s\n", Bound(rooms), Bound(rooms)-most, reason)
	return nil
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

// print prints the rooms and their sums.
func print(rooms map[string]Room) {
	fmt.Printf("%-24s %8s %8s %6s %6s %8s\n", "", "lines", "tests", "files", "names", "words")
	line := func(name string, r Room) {
		fmt.Printf("%-24s %8d %8d %6d %6d %8d\n", name, r.Lines, r.Tests, r.Files, r.Names, r.Words)
	}
	var sum Room
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		r := rooms[name]
		sum = Room{sum.Lines + r.Lines, sum.Tests + r.Tests, sum.Files + r.Files, sum.Names + r.Names,
			sum.Words + r.Words}
		line(name, r)
	}
	line("all", sum)
}

// Bound returns the lines that may not grow without a reason: those of all rooms but the free ones.
func Bound(rooms map[string]Room) (lines int) {
	for name, r := range rooms {
		if !slices.Contains(free, name) {
			lines += r.Lines
		}
	}
	return lines
}

// recorded returns the lines on record, and why they last grew. The record is one line.
func recorded(root fs.FS) (lines int, reason string, err error) {
	text, err := fs.ReadFile(root, record)
	if err != nil {
		return 0, "", err
	}
	number, reason, _ := strings.Cut(strings.TrimSpace(string(text)), " lines: ")
	if lines, err = strconv.Atoi(number); err != nil {
		return 0, "", fmt.Errorf("%s is no number of lines with a reason, such as: 70000 lines: a reason", record)
	}
	return lines, reason, nil
}

// write writes the record. If there are more lines than on record, there has to be a new reason, why.
func write(lines, most int, reason, why string) error {
	if lines > most && why == "" {
		return fmt.Errorf("the code grew from %d to %d lines, and no reason was given (make size UPDATE=1 "+
			"WHY='...')", most, lines)
	}
	return os.WriteFile(record, fmt.Appendf(nil, "%d lines: %s\n", lines, cmp.Or(why, reason)), 0o644)
}
