// Flaky reads the record (--jsonfile) of gotestsum about a run of tests in which failed tests were run again:
//
//	flaky FILE PACKAGE...
//
// It prints FLAKY, the name and the first output of each test that failed and then passed, and exits with 1
// if one of them may not be flaky: its package is outside all of PACKAGE, or it found something that a busy
// machine does not explain.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// final are texts in the output of a failed test that a busy machine does not explain.
var final = []string{"panic: ", "DATA RACE", "VIOLATED", "left behind"}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: flaky FILE PACKAGE...")
		os.Exit(64)
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer file.Close()
	mayFlake, err := judge(file, os.Args[2:], os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "reading %s: %v\n", os.Args[1], err)
	}
	if err != nil || !mayFlake {
		os.Exit(1)
	}
}

// An event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// A test is a test of a package.
type test struct{ Package, Test string }

// judge prints the tests that failed at first, and reports whether all of them may be flaky.
func judge(events io.Reader, packages []string, out io.Writer) (mayFlake bool, err error) {
	output, said := map[test]*strings.Builder{}, map[test]string{}
	var failed []test
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var e event
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err != nil {
			return false, err
		}
		t := test{e.Package, e.Test}
		switch {
		case e.Test == "":
		case e.Action == "run":
			output[t] = new(strings.Builder)
		case e.Action == "output" && output[t] != nil:
			output[t].WriteString(e.Output)
		case e.Action == "fail" && !slices.Contains(failed, t):
			failed = append(failed, t)
			if output[t] != nil {
				said[t] = output[t].String()
			}
		}
	}
	mayFlake = true
	for _, t := range failed {
		inside := func(other test) bool {
			return other.Package == t.Package && strings.HasPrefix(other.Test, t.Test+"/")
		}
		if !slices.ContainsFunc(failed, inside) { // not a test that failed because of a subtest
			fmt.Fprintf(out, "FLAKY %s %s\n%s", t.Package, t.Test, said[t])
		}
		if why := never(t, said[t], packages); why != "" {
			fmt.Fprintf(out, "%s may not fail once: %s\n", t.Test, why)
			mayFlake = false
		}
	}
	return mayFlake, nil
}

// never returns why a test may not fail even once, or "".
func never(t test, said string, packages []string) string {
	inside := func(p string) bool { return t.Package == p || strings.HasPrefix(t.Package, p+"/") }
	if !slices.ContainsFunc(packages, inside) {
		return t.Package + " starts no process"
	}
	for _, word := range final {
		if strings.Contains(said, word) {
			return "it found " + strings.TrimSuffix(word, ": ")
		}
	}
	return ""
}
