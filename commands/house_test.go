package commands

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHouseRules keeps lines and functions short, and the core free of the outside world.
func TestHouseRules(t *testing.T) {
	const maxLine, maxFunc = 110, 70
	const root = ".."
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
		checkPatterns(t, path, file)
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
	core := strings.HasSuffix(dir, "/nodes") || strings.HasSuffix(dir, "/algorithms/mutex") ||
		strings.HasSuffix(dir, "/algorithms/election") || strings.HasSuffix(dir, "/algorithms/detector") ||
		strings.HasSuffix(dir, "/algorithms/quorum")
	if !core || strings.HasSuffix(path, "_test.go") {
		return
	}
	for _, i := range file.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		switch first, _, _ := strings.Cut(name, "/"); {
		case strings.HasPrefix(name, module):
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

// checkPatterns wants regular expressions to be compiled when they are used, not whenever a program starts.
func checkPatterns(t *testing.T, path string, file *ast.File) {
	services := strings.HasPrefix(filepath.ToSlash(path), "../services/")
	if services || strings.HasSuffix(path, "_test.go") || file.Name.Name == "main" {
		return
	}
	for _, decl := range file.Decls {
		vars, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		ast.Inspect(vars, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
				t.Errorf("%s compiles a regular expression at each start: write pattern.Of", path)
			}
			_, later := n.(*ast.FuncLit)
			return !later
		})
	}
}

// floorsOf reads the floors from the table of docs/architecture.md: the height of each folder; the lowest is
// 1. The package at the root is the folder "".
func floorsOf(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| floor |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows, floors := strings.Split(table, "\n")[2:], map[string]int{}
	for i, row := range rows {
		for name := range strings.SplitSeq(strings.Split(row, "|")[1], ",") {
			floors[strings.TrimPrefix(strings.Trim(name, "` "), "turnstile")] = len(rows) - i
		}
	}
	return floors
}

// forTests is a package that tests alone import.
const forTests = "judge/algotest"

// A goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string // without tests
	Imports    []string

	TestImports, XTestImports []string
}

// listed returns what `go list` says of packages.
func listed(t *testing.T, args ...string) (all []goPackage) {
	t.Helper()
	list := exec.Command("go", append([]string{"list",
		"-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports"}, args...)...)
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// folderOf returns the folder of a package of the project; of the package at the root, "".
func folderOf(path string) string {
	folder, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, frontDoor), "/"), "/")
	return folder
}

// frontDoor is the path of the module, and of the package at its root.
var (
	frontDoor = ofProject
	module    = ofProject + "/"
)

// ofNone are folders that serve every algorithm and know none: they import no package of algorithms.
var ofNone = []string{"results", "judge", "chaos"}

// risingImports lists the imports of a package that lead neither down nor to its own folder.
func risingImports(p goPackage, floors map[string]int) (wrong []string) {
	from := folderOf(p.ImportPath)
	if floors[from] == 0 {
		return []string{p.ImportPath + " is on no floor of docs/architecture.md"}
	}
	for _, path := range p.Imports {
		switch to := folderOf(path); {
		case path == module+forTests:
			wrong = append(wrong, p.ImportPath+" imports "+path+", which is for tests")
		case !strings.HasPrefix(path, module) && path != frontDoor:
		case to != from && floors[to] >= floors[from]:
			wrong = append(wrong, p.ImportPath+" imports "+path)
		case to == "algorithms" && slices.Contains(ofNone, from):
			wrong = append(wrong, p.ImportPath+" knows an algorithm, by "+path)
		}
	}
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		to := folderOf(path)
		runs := (from == "nodes" || from == "algorithms") && (to == "algorithms" || to == "judge" || to == "chaos")
		if strings.HasPrefix(path, module) && floors[to] > floors[from] && !runs {
			wrong = append(wrong, "a test of "+p.ImportPath+" imports "+path)
		}
	}
	return wrong
}

// Imports run one way, down the floors of docs/architecture.md, which has no folder that there is not.
func TestImportsRunOneWay(t *testing.T) {
	packages, floors := listed(t, "./..."), floorsOf(t)
	if len(packages) < 10 || len(floors) < 10 {
		t.Fatalf("there are %d packages on %d floors", len(packages), len(floors))
	}
	for _, p := range packages {
		for _, w := range risingImports(p, floors) {
			t.Error(w)
		}
	}
	for folder := range floors {
		if _, err := os.Stat("../" + folder); err != nil {
			t.Error(err)
		}
	}
}

// A test of an algorithm in another module compiles package turnstile, and soon: it has no broker, no client
// of NATS and no commands.
func TestTheFrontDoorIsLight(t *testing.T) {
	const most = 200
	packages := listed(t, "-deps", ".")
	if len(packages) > most {
		t.Errorf("package %s needs %d packages, more than %d", frontDoor, len(packages), most)
	}
	for _, p := range packages {
		for _, heavy := range []string{"github.com/nats-io/", "github.com/spf13/", module + "commands"} {
			if strings.HasPrefix(p.ImportPath, heavy) {
				t.Errorf("package %s needs %s", frontDoor, p.ImportPath)
			}
		}
	}
}

// No program contains code that is for tests alone, such as mutants of algorithms.
func TestProgramsHoldNothingThatIsForTests(t *testing.T) {
	for _, p := range listed(t, "-deps", "./cmd/...") {
		if !strings.HasPrefix(p.ImportPath, module) {
			continue
		}
		if slices.Contains(p.Imports, "testing") {
			t.Errorf("%s imports testing", p.ImportPath)
		}
		for _, file := range p.GoFiles {
			for _, name := range mutantNames(t, filepath.Join(p.Dir, file)) {
				t.Errorf("%s/%s ships %s: put it into a test file", p.ImportPath, file, name)
			}
		}
	}
}

// mutantNames lists the names in a file that contain mutant, and the name of the file if it does.
func mutantNames(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	note := func(name string) {
		if strings.Contains(strings.ToLower(name), "mutant") {
			names = append(names, name)
		}
	}
	note(filepath.Base(path))
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			note(id.Name)
		}
		return true
	})
	return names
}

// kindBranches is how many branches at most ask which kind of run it is. It may fall, and not rise: what is
// special to a kind belongs in its check.Problem.
const kindBranches = 19

// aboutKind matches a question that code asks about the kind of a run.
var aboutKind = regexp.MustCompile(`\b(Leads|Elector|Mutex) [!=]= nil|` +
	`Kind [!=]= nodes\.(Election|MutualExclusion)|` +
	`\b(stack|s|first)\.Elects\(\)|\.Elect [!=]= ""|` +
	`\bLoad\)? [!=]= (string\()?workload\.Campaign|case workload\.Campaign|load == workload\.Campaign|` +
	`\b(c|r|rules)\.elects\b|[!=]= (check\.)?(Election|Exclusion)\b|\b[lL]eaders [!=]= nil|` +
	`[lL]eaders\.Only|\.Election [!=]= nil|\.enters\b`)

func TestFewBranchesAskForTheKindOfARun(t *testing.T) {
	var found []string
	for _, p := range listed(t, "./...") {
		for _, file := range p.GoFiles {
			path := p.Dir + "/" + file
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				code, _, _ := strings.Cut(line, "//")
				for range aboutKind.FindAllString(code, -1) {
					found = append(found, path+": "+strings.TrimSpace(code))
				}
			}
		}
	}
	if len(found) > kindBranches {
		t.Errorf("%d branches ask for the kind of a run, more than %d:\n%s", len(found), kindBranches,
			strings.Join(found, "\n"))
	}
}
