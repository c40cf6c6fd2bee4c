package commands

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// makeIn returns a function that calls make with a stand-in for the program, which prints its arguments.
func makeIn(t *testing.T) func(env []string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("SKIPPED: there is no make, so its variables are not tested")
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	write("Makefile", string(b), 0o644)
	write("bin/orchestrator", "#!/bin/sh\nprintf '[%s]' \"$@\"\n", 0o755)
	write("path/go", "#!/bin/sh\necho go \"$@\" >>"+filepath.Join(dir, "built")+"\n", 0o755)
	return func(env []string, args ...string) (string, error) {
		limit := `test -z "$SPACE" || ulimit -v "$SPACE"; exec make "$@"`
		cmd := exec.Command("/bin/sh", append([]string{"-c", limit, "sh"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(cleanEnv(), "PATH="+filepath.Join(dir, "path")+":"+os.Getenv("PATH"))
		cmd.Env = append(append(cmd.Env, "MAKEFLAGS=", "MAKELEVEL=0"), env...)
		out, err := cmd.CombinedOutput()
		if _, missing := os.Stat(filepath.Join(dir, "built")); err != nil && missing == nil {
			t.Errorf("make %v fails after it has built something", args)
		}
		os.Remove(filepath.Join(dir, "built"))
		return string(out), err
	}
}

// make hands the variables of its command line to the program, and none of the environment.
func TestVariablesOfMake(t *testing.T) {
	call := makeIn(t)
	for _, test := range []struct {
		env  []string
		args string
		want string
	}{
		{nil, "bench", "[bench]"},
		{nil, "bench N=3 ALGO=ring", "[bench][ALGO=ring][N=3]"},
		{nil, "bench CUT=0>1 PLAN=./mine.yaml", "[bench][CUT=0>1][PLAN=./mine.yaml]"},
		{nil, "elect N=9 SCHEME=bully", "[elect][N=9][SCHEME=bully][--plan=leader-crashes][--duration=20s]"},
		{nil, "elect KILL=0 N=3", "[elect][KILL=0][N=3][--duration=20s]"},
		{nil, "elect ARGS=--plan=y", "[elect][--plan=y][--duration=20s]"},
		{nil, "elect DURATION=5s PLAN=x", "[elect][DURATION=5s][PLAN=x]"},
		{nil, "bench TREE=it's N=2", "[bench][N=2][TREE=it's]"},
		{nil, "bench N= nodes=5", "[bench][N=][nodes=5]"},
		{nil, "verify ARGS=latest", "[verify][latest]"},
		{nil, "list JSON=true ARGS=raymond", "[list][JSON=true][raymond]"},
		{nil, "list N=25", "[list][N=25]"},
		{nil, "bench ARGS= RACE= N=2", "[bench][N=2]"},
		{nil, "bench GOFLAGS=-p=1 N=2", "[bench][N=2]"},
		{[]string{"RATE=5", "N=7", "ALGO=x", "ARGS=--json"}, "bench THINK=1ms", "[bench][THINK=1ms]"},
	} {
		if got, err := call(test.env, strings.Fields(test.args)...); err != nil || got != test.want {
			t.Errorf("make %s calls %s, %v; not %s", test.args, got, err, test.want)
		}
	}
}

// A build is of a changed tree if a file that it reads was changed or is new to git, an embedded file too.
// Other new files, such as plans and pictures, make no difference.
func TestMakeStampsChanges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	goProgram, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"git", "make"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: there is no %s, so the stamps of builds are not tested", program)
		}
	}
	write("path/go", "#!/bin/sh\ntest \"$1\" = build || exec "+goProgram+" \"$@\"\necho \"$@\" >out\n")
	write("Makefile", string(makefile))
	write(".gitignore", "/bin/\n/path/\n/out\n")
	write("go.mod", "module "+ofProject+"\n\ngo 1.26\n")
	write("cmd/node/main.go", "package main\n\nfunc main() {}\n")
	write("cmd/orchestrator/main.go", "package main\n\nimport \"embed\"\n\n//go:embed texts\nvar _ embed.FS\n\n"+
		"func main() {}\n")
	write("cmd/orchestrator/texts/a.txt", "a")
	call := func(words ...string) {
		t.Helper()
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, append(cleanEnv(), "PATH="+filepath.Join(dir, "path")+":"+os.Getenv("PATH"),
			"MAKEFLAGS=", "GOFLAGS=",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", words, err, out)
		}
	}
	call("git", "init", "-q")
	call("git", "add", "-A")
	call("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
	for _, test := range []struct{ file, changed string }{
		{"", "false"}, {"wan.yaml", "false"}, {"docs/a picture.svg", "false"},
		{"cmd/orchestrator/new_test.go", "false"}, {"cmd/orchestrator/texts/b.txt", "true"},
		{"cmd/orchestrator/new.go", "true"}, {"go.work", "true"}, {"Makefile", "true"},
	} {
		before, _ := os.ReadFile(filepath.Join(dir, test.file))
		if test.file != "" {
			write(test.file, string(before)+"\n")
			if strings.HasSuffix(test.file, ".go") {
				write(test.file, "package main\n")
			}
		}
		call("make", "build")
		out, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil || !strings.Contains(string(out), module+"commands.changed="+test.changed) {
			t.Errorf("with %q: %v, %s, not changed=%s", test.file, err, out, test.changed)
		}
		if test.file != "" {
			os.Remove(filepath.Join(dir, test.file))
		}
	}
}

// make refuses too little address space, with which Go would print a stack trace.
func TestMakeLooksAtAddressSpace(t *testing.T) {
	call := makeIn(t)
	got, err := call([]string{"SPACE=200000"}, "bench")
	const says = "need 1048576 KB of address space, and the limit is 200000: raise it"
	if err == nil || !strings.Contains(got, says) {
		t.Errorf("it says %q, %v", got, err)
	}
}

// The words that make hands over become flags; what follows the first other word stays.
func TestVariablesAreFlags(t *testing.T) {
	for args, want := range map[string]string{
		"bench N=3 NO_PROGRESS=true":     "bench --nodes=3 --no-progress=true",
		"bench THINK=1ms --set A=b":      "bench --think=1ms --set A=b",
		"explore CONFIG=a.yaml TREE=a=b": "explore --config=a.yaml --tree=a=b",
		"list N=25":                      "list --nodes=25",
		"verify RESULTS=x latest":        "verify --results=x latest",
		"show N=5":                       "show takes no variable N; these do: ",
		"bench NN=5":                     "bench takes no variable NN: did you mean N?",
		"list NAME=raft":                 "list takes no variable NAME: did you mean ARGS=raft?",
		"bench LATENCCY=1ms":             "bench takes no variable LATENCCY: did you mean LATENCY?",
		"bench ALGORITHM=ring":           "bench takes no variable ALGORITHM: did you mean ALGO?",
		"bench REPLAY=x":                 "bench takes no variable REPLAY; these do: simulate",
		"elect SCHEME=bully":             "elect --algo=bully",
		"bench QQQQ=5":                   "bench takes no variable QQQQ; see orchestrator bench --help: each flag",
		"bench N=":                       "N has no value: write one behind N=, or leave it out",
	} {
		root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
		flags, err := variablesToFlags(root, strings.Fields(args))
		got := strings.Join(flags, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s gives %q, not %q", args, got, want)
		}
	}
}

// Each recipe quotes the variables of its caller: no value runs a command. Programs are stand-ins that print
// two words, so that recipes go on as far as they can.
func TestRecipesQuoteVariables(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("SKIPPED: there is no make, so its recipes are not tested")
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err = errors.Join(err, os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("Makefile", string(makefile))
	for _, name := range strings.Fields("awk cat chmod dirname docker env git go gofmt grep head make mkdir " +
		"mktemp rm sed sh sort tail xargs") {
		write("stand-ins/"+name, "#!/bin/sh\necho word Fuzz\n")
	}
	shell := write("shell", "#!/bin/sh\ncd "+dir+" && PATH="+dir+"/stand-ins && eval \"$2\"\n")
	var targets []string
	for _, m := range regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, strings.Fields(m[1])...)
	}
	for _, list := range regexp.MustCompile(`(?m)^(?:COMMANDS|OVER_CONTAINERS) = ((?:.*\\\n)*.*)$`).
		FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, strings.Fields(strings.ReplaceAll(list[1], "\\\n", " "))...)
	}
	variables := map[string]bool{"ALGO": true}
	read := regexp.MustCompile(`\$\((?:or |if )?([A-Z_]+)[,)]`)
	for _, m := range read.FindAllStringSubmatch(string(makefile), -1) {
		variables[m[1]] = true
	}
	// These variables are commands or lists of words, which recipes do not quote.
	for _, name := range strings.Fields("ARGS BUILD COMMANDS CURDIR GIT GOTEST MAKE MAKEFILE_LIST " +
		"OVER_CONTAINERS PROCESSES PROGRAMS") {
		delete(variables, name)
	}
	targets = slices.DeleteFunc(targets, func(target string) bool { return target[0] == '$' })
	if !variables["ONLY"] || !slices.Contains(targets, "times") || !slices.Contains(targets, "sweep") {
		t.Fatalf("the Makefile is not understood: variables %v, targets %v", variables, targets)
	}
	for _, value := range []string{"x;echo $@>>hit;x", "x';echo $@>>hit;'x", `x";echo $@>>hit;"x`,
		"x`echo $@>>hit`x"} {
		args := append([]string{"-k", "-f", "Makefile", "SHELL=" + shell}, targets...)
		for name := range variables {
			args = append(args, name+"="+value)
		}
		for _, without := range [][]string{nil, {"SHORT=", "RACE="}} {
			cmd := exec.Command("make", append(args, without...)...)
			cmd.Dir, cmd.Env = dir, append(cleanEnv(), "MAKEFLAGS=", "MAKELEVEL=0")
			cmd.Run() // it fails, since programs are missing
			if hit, err := os.ReadFile(filepath.Join(dir, "hit")); err == nil {
				t.Errorf("a value %q is run by recipes of these targets:\n%s", value, hit)
				os.Remove(filepath.Join(dir, "hit"))
			}
		}
	}
}

// make module renames the module in a copy of the tree: all imports are found, and the programs build and
// know what they are.
func TestModuleIsRenamed(t *testing.T) {
	t.Parallel()
	const renamed = "host.example/you/turnstile"
	c := &copiedTree{t, t.TempDir()}
	c.copy("..")
	c.add("../Makefile", "Makefile")
	c.add("../.ci/module", ".ci/module")
	c.run("make", "module", "MODULE="+renamed)
	for _, folder := range []string{".", "services", "services/lease", "examples/algorithm"} {
		list := c.run("go", "-C", folder, "list", "-test", "-deps", "-f",
			"{{if .Module}}{{.Module.Path}}{{end}}", "./...")
		if !strings.Contains(list, renamed) || slices.Contains(strings.Fields(list), ofProject) {
			t.Errorf("the modules below %s:\n%s", folder, list)
		}
	}
	old := regexp.MustCompile(`(^|[^\w./-])` + ofProject + `/(nodes|commands|services|internal)\b`)
	err := filepath.WalkDir(c.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if found := old.FindString(string(text)); found != "" && ofProject != renamed {
			t.Errorf("%s has %q", path, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if !strings.Contains(c.read("examples/algorithm/go.mod"), "replace "+renamed+" => ../..\n") ||
		!strings.Contains(c.read("docs/extending.md"), "cp -r turnstile/examples/algorithm mine") {
		t.Error("the path of a folder has changed, or the module of an example has not")
	}
	if testing.Short() {
		return
	}
	c.run("make", "build")
	says := c.run("bin/orchestrator", "--version")
	if !regexp.MustCompile(`^turnstile +\S+\n`).MatchString(says) {
		t.Errorf("the program has the version %s", says)
	}
	c.run("go", "-C", "services", "build", "-o", "../bin/", ".")
}
