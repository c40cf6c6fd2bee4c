package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A report follows a run of go test.
type report struct {
	out      io.Writer
	packages []*tested // those in their tests
}

// A tested is a package in its tests.
type tested struct {
	path    string
	output  []event
	running []string        // tests; the one that started or went on last stands last
	passed  map[string]bool // the tests that are over and did not fail
}

// An event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// take takes a line of go test -json, and reports whether anything was printed.
func (r *report) take(line string) (printed bool) {
	e := event{}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		e.Output = line
	}
	if e.Package == "" { // what the compiler says
		fmt.Fprint(r.out, e.Output)
		return e.Output != ""
	}
	at := slices.IndexFunc(r.packages, func(p *tested) bool { return p.path == e.Package })
	if at < 0 {
		at = len(r.packages)
		r.packages = append(r.packages, &tested{path: e.Package, passed: map[string]bool{}})
	}
	p := r.packages[at]
	p.take(e)
	if e.Test != "" || e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
		return false
	}
	p.print(r.out, e.Action == "fail")
	r.packages = slices.Delete(r.packages, at, at+1)
	return true
}

func (p *tested) take(e event) {
	switch e.Action {
	case "output":
		p.output = append(p.output, e)
		return
	case "run", "cont":
		p.running = append(p.running, e.Test)
		return
	case "pass", "skip":
		p.passed[e.Test] = true
	}
	p.running = slices.DeleteFunc(p.running, func(test string) bool { return test == e.Test })
}

// print prints the result of a package and, if it failed, what was printed by the tests that did not pass.
func (p *tested) print(out io.Writer, failed bool) {
	for _, e := range p.output {
		result := e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "? "))
		if result || failed && !p.passed[e.Test] && !strings.HasPrefix(e.Output, "=== ") {
			fmt.Fprint(out, e.Output)
		}
	}
}

// progress says what is being tested.
func (r *report) progress() string {
	var all []string
	for _, p := range r.packages {
		s := fmt.Sprintf("%s: %d done", p.path, len(p.passed))
		if len(p.running) > 0 {
			s += ", running " + p.running[len(p.running)-1]
		}
		all = append(all, s)
	}
	if all == nil {
		return "building"
	}
	return strings.Join(all, "; ")
}
