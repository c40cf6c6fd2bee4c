package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// flagsOfMake returns the file that tells make what flags each command has.
func flagsOfMake() string {
	root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
	text := "# The flags of each command, as variables of make. Made by `make readme`.\n"
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		names := append(flagNames(cmd.LocalNonPersistentFlags()), "config")
		if cmd.Flags().Lookup("nodes") != nil {
			names = append(names, "n")
		}
		slices.Sort(names)
		text += fmt.Sprintf("FLAGS_%s = %s\n", cmd.Name(),
			strings.ToUpper(strings.ReplaceAll(strings.Join(names, " "), "-", "_")))
	}
	return text
}

// TestFlagsOfMake wants the file to be up to date.
func TestFlagsOfMake(t *testing.T) {
	const path = "flags.mk"
	b, err := os.ReadFile(path)
	switch want := flagsOfMake(); {
	case err == nil && want == string(b):
	case !*updateReadme:
		t.Errorf("%s is out of date: type make readme", path)
	default:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// makeIn returns make in a copy of what it reads, where the program prints its arguments, each in brackets.
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
	for _, name := range []string{"Makefile", "cmd/orchestrator/flags.mk", "internal/suggest/nearest.awk"} {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(b), 0o644)
	}
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

func TestVariablesOfMake(t *testing.T) {
	call := makeIn(t)
	for _, test := range []struct {
		env  []string
		args string
		want string
	}{
		{nil, "bench", "[bench]"},
		{nil, "bench N=3 ALGO=ring", "[bench][--algo=ring][--n=3]"},
		{nil, "bench NODES=3 NO_PROGRESS=true", "[bench][--nodes=3][--no-progress=true]"},
		{nil, "bench KILL=holder AT=1s", "[bench][--at=1s][--kill=holder]"},
		{nil, "bench CUT=0-1/2-4 AT=1s FOR=2s", "[bench][--at=1s][--cut=0-1/2-4][--for=2s]"},
		{nil, "bench CUT=0>1 PLAN=./mine.yaml", "[bench][--cut=0>1][--plan=./mine.yaml]"},
		{nil, "elect N=9 SCHEME=bully", "[elect][--n=9][--scheme=bully][--plan=leader-crashes][--duration=20s]"},
		{nil, "elect KILL=0 N=3", "[elect][--kill=0][--n=3][--duration=20s]"},
		{nil, "elect ARGS=--plan=y", "[elect][--plan=y][--duration=20s]"},
		{nil, "elect DURATION=5s PLAN=x", "[elect][--duration=5s][--plan=x]"},
		{nil, "simulate LOSS=.5 N=2", "[simulate][--loss=.5][--n=2]"},
		{nil, "explore CRASHES=1 N=2", "[explore][--crashes=1][--n=2]"},
		{nil, "bench TREE=it's N=2", "[bench][--n=2][--tree=it's]"},
		{nil, "verify ARGS=latest", "[verify][latest]"},
		{nil, "list JSON=true ARGS=raymond", "[list][--json=true][raymond]"},
		{nil, "bench ARGS= RACE= N=2", "[bench][--n=2]"},
		{nil, "bench GOFLAGS=-p=1 N=2", "[bench][--n=2]"},
		{[]string{"RATE=5", "N=7", "ALGO=x", "ARGS=--json"}, "bench THINK=1ms", "[bench][--think=1ms]"},
	} {
		if got, err := call(test.env, strings.Fields(test.args)...); err != nil || got != test.want {
			t.Errorf("make %s calls %s, %v; not %s", test.args, got, err, test.want)
		}
	}
}

// With too little address space, Go would print a trace of itself.
func TestMakeLooksAtAddressSpace(t *testing.T) {
	call := makeIn(t)
	got, err := call([]string{"SPACE=200000"}, "bench")
	const says = "need 1048576 KB of address space, and the limit is 200000: raise it"
	if err == nil || !strings.Contains(got, says) {
		t.Errorf("it says %q, %v", got, err)
	}
}

func TestMakeRefusesVariables(t *testing.T) {
	call := makeIn(t)
	for args, want := range map[string]string{
		"bench n=5":                "make bench takes no variable n: did you mean N?",
		"bench nodes=5":            "make bench takes no variable nodes: did you mean NODES?",
		"bench N=5 LATENCCY=1ms":   "make bench takes no variable LATENCCY: did you mean LATENCY?",
		"bench ALGORITHM=ring":     "make bench takes no variable ALGORITHM: did you mean ALGO?",
		"bench REPLAY=x":           "make bench takes no variable REPLAY; these do: simulate",
		"simulate PATIENCE=3s N=2": "make simulate takes no variable PATIENCE; these do: bench",
		"explore RATE=5":           "make explore takes no variable RATE; these do: bench simulate",
		"elect ALGO=bully":         "make elect takes no variable ALGO: did you mean SCHEME?",
		"N=5":                      "make help takes no variable N; these do: bench",
		"bench NODES=4 N=5":        "make bench: N and NODES both say how many nodes: leave out one of the two",
		"bench N=":                 "make bench: N has no value: write one behind N=, or leave it out",
		"test FUZZTIM=5":           "make test takes no variable FUZZTIM; it takes BUDGET",
		"fuzz FUZZTIM=5":           "make fuzz takes no variable FUZZTIM: did you mean FUZZTIME?",
		"bench Q'Q=5":              "make bench takes no variable Q'Q; it takes AFTER ALGO",
	} {
		got, err := call(nil, strings.Fields(args)...)
		if err == nil || !strings.Contains(got, want) {
			t.Errorf("make %s says %q, %v; not %q", args, got, err, want)
		}
	}
}
