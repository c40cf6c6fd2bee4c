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

// layers are the packages, the highest layer first: a package imports only packages of lower layers.
var layers = [][]string{
	{"cmd/node", "cmd/orchestrator", "cmd/manual"},
	{"orchestrator"},
	{"commands"},
	{frontDoor, "bench/study", "bench/node", "report/text", "bench/publish", "report/diagram", "report/export"},
	{"report/page"},
	{"bench/runs"},
	{"bench/trial"},
	{"bench/site"},
	{"bench/service/local", "bench/service/natskv", "bench/benchtest"},
	{"hosts/agent", "bench/service"},
	{"hosts/cluster", "hosts/control", "bench/compare", "hosts/netcut"},
	{"hosts/access"},
	{"draw", "bench/plans"},
	{"bench"},
	{"results"},
	{"option"},
	{forTests}, // imports chaos and all of nodes but the tables, whose tests use it
	{"judge/measure", "judge/check", "judge/spacetime"},
	{"judge/section", "judge/leadership"},
	{"chaos"},
	{"chaos/place"},
	{"chaos/effect"},
	{"algorithms/catalog"},
	{"algorithms/mutex", "algorithms/election"},
	{"algorithms/detector", "algorithms/register", "algorithms/quorum"},
	{"nodes/explore", "nodes/replay/story"},
	{"nodes/host", "nodes/sim", "nodes/replay"},
	{"nodes/lab"},
	{"nodes/stall", "nodes/leading"},
	{"nodes/foreign"},
	{"nodes/workload", "nodes/history"},
	{"nodes/foreign/program"},
	{"nodes/algorithm", "nodes/port"},
	{"nodes"},
	{"internal/selfbench"},
	{"internal/broker", "internal/chance", "internal/yamlfile", "internal/format", "internal/proc",
		"internal/stats"},
	{"internal/terminal", "internal/secret"},
	{"internal/certs", "internal/cgroup", "internal/ddmin", "internal/disk", "internal/english",
		"internal/figure", "internal/flaky", "internal/heap", "internal/input", "internal/jsonseq",
		"internal/mapped", "internal/offset", "internal/plainjson", "internal/quickpipe", "internal/relay",
		"internal/size", "internal/skew", "docs", "internal/primitives", "internal/soak",
		"internal/suggest", "internal/times", "internal/unavailable", "internal/unit"},
	{"internal/pattern"},
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

// layer returns the line of a package, or -1.
func layer(path string) int {
	return slices.IndexFunc(layers, func(line []string) bool {
		return slices.Contains(line, strings.TrimPrefix(path, module))
	})
}

// frontDoor is the path of the module, and of the package at its root.
var (
	frontDoor = ofProject
	module    = ofProject + "/"
)

// ofNone are packages that serve every algorithm and know none: no package of algorithms is imported by them.
var (
	ofNone = []string{module + "results", module + "judge/measure", module + "judge/check",
		module + "chaos"}
	ofAlgorithms = []string{module + "algorithms/catalog", module + "algorithms/mutex",
		module + "algorithms/election", module + "algorithms/detector"}
)

// risingImports lists the imports of a package that do not lead down.
func risingImports(p goPackage) (wrong []string) {
	from := layer(p.ImportPath)
	if from < 0 {
		return []string{p.ImportPath + " has no layer: give it one"}
	}
	for _, path := range p.Imports {
		if strings.HasPrefix(path, module) && layer(path) <= from {
			wrong = append(wrong, p.ImportPath+" imports "+path)
		} else if slices.Contains(ofNone, p.ImportPath) && slices.Contains(ofAlgorithms, path) {
			wrong = append(wrong, p.ImportPath+" knows an algorithm, by "+path)
		}
		if path == module+forTests {
			wrong = append(wrong, p.ImportPath+" imports "+path+", which is for tests")
		}
	}
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		if strings.HasPrefix(path, module) && path != p.ImportPath && !mayTest(p.ImportPath, path) {
			wrong = append(wrong, "a test of "+p.ImportPath+" imports "+path)
		}
	}
	return wrong
}

// mayTest reports whether the tests of one package may import another: those of its layer and of lower ones,
// and if the package is in nodes or algorithms, all of nodes, algorithms, judge and chaos.
func mayTest(tested, imported string) bool {
	under := func(path string, folders ...string) bool {
		return slices.ContainsFunc(folders, func(f string) bool {
			return path == module+f || strings.HasPrefix(path, module+f+"/")
		})
	}
	if under(tested, "nodes", "algorithms") && under(imported, "nodes", "algorithms", "judge", "chaos") {
		return true
	}
	return layer(imported) >= layer(tested)
}

// Imports run one way: from cmd by commands, report, bench, hosts, results, chaos, judge and algorithms to
// nodes, and from there to internal.
func TestImportsRunOneWay(t *testing.T) {
	packages := listed(t, "./...")
	if len(packages) < 10 {
		t.Fatalf("there are %d packages", len(packages))
	}
	for _, p := range packages {
		for _, w := range risingImports(p) {
			t.Error(w)
		}
	}
}

// docs/architecture.md lists every package in its table of the layers; those of internal are one algorithm.
func TestArchitectureListsEveryPackage(t *testing.T) {
	text, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range listed(t, "./...") {
		path := strings.TrimPrefix(p.ImportPath, module)
		if !strings.HasPrefix(path, "internal/") && !strings.Contains(string(text), "`"+path+"`") {
			t.Errorf("docs/architecture.md does not say what %s holds", path)
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
