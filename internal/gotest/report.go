package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// A report follows a run of go test.
type report struct {
	out      io.Writer
	packages []*tested // those in their tests
	over     []*tested // those whose tests are over
}

// A tested is a package in its tests.
type tested struct {
	path    string
	output  []event
	running []string        // tests; the one that started or went on last stands last
	passed  map[string]bool // the tests that are over and did not fail
	skipped []skip
	wall    time.Duration // how long its tests took
	cpu     time.Duration // the CPU time that they took, with the processes that they started
	// How fast the machine was meanwhile.
	meanwhile speed
}

// A skip is a test that was skipped, and why.
type skip struct{ test, why string }

// An event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

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
	p.wall = time.Duration(e.Elapsed * float64(time.Second))
	r.packages, r.over = slices.Delete(r.packages, at, at+1), append(r.over, p)
	return true
}

// printTimes prints how long the tests of each package took, the slowest first.
func (r *report) printTimes(all time.Duration) {
	fmt.Fprintf(r.out, "\n%-34s%9s%9s\n", "package", "took", "CPU")
	cpu := time.Duration(0)
	slices.SortFunc(r.over, func(a, b *tested) int { return cmp.Compare(b.cpu, a.cpu) })
	for _, p := range r.over {
		if cpu += p.cpu; p.wall+p.cpu >= 50*time.Millisecond {
			fmt.Fprintf(r.out, "%-34s%9s%9s\n", p.path, seconds(p.wall), seconds(p.cpu))
		}
	}
	fmt.Fprintf(r.out, "%-34s%9s%9s\n", "all, with what was built", seconds(all), seconds(cpu))
	if perUnit := r.speed().perUnit(); perUnit > 0 {
		fmt.Fprintf(r.out, "%-43s%9s\n", "a unit of work meanwhile", millis(perUnit))
	}
}

// speed returns how fast the machine was throughout all tests.
func (r *report) speed() (all speed) {
	for _, p := range r.over {
		all.cpu, all.units = all.cpu+p.meanwhile.cpu, all.units+p.meanwhile.units
	}
	return all
}

// printSkipped prints which tests were skipped, by the reason.
func (r *report) printSkipped() {
	tests := map[string]map[string][]string{} // by the reason and the test: the cases of it
	for _, p := range r.over {
		for _, s := range p.skipped {
			test, one, _ := strings.Cut(s.test, "/")
			test = strings.TrimPrefix(p.path, "turnstile/") + " " + test
			if tests[s.why] == nil {
				tests[s.why] = map[string][]string{}
			}
			tests[s.why][test] = append(tests[s.why][test], one)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(tests)) {
		fmt.Fprintf(r.out, "skipped, since %s:\n", why)
		for _, test := range slices.Sorted(maps.Keys(tests[why])) {
			line := "  " + test
			switch cases := tests[why][test]; {
			case len(cases) > 1:
				line += fmt.Sprintf(": %d cases", len(cases))
			case cases[0] != "":
				line += "/" + cases[0]
			}
			fmt.Fprintln(r.out, line)
		}
	}
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func (p *tested) take(e event) {
	switch e.Action {
	case "output":
		p.output = append(p.output, e)
		return
	case "run", "cont":
		p.running = append(p.running, e.Test)
		return
	case "skip":
		if e.Test != "" {
			p.skipped = append(p.skipped, skip{e.Test, p.lastLine(e.Test)})
		}
		p.passed[e.Test] = true
	case "pass":
		p.passed[e.Test] = true
	}
	p.running = slices.DeleteFunc(p.running, func(test string) bool { return test == e.Test })
}

// lastLine returns what a test said last, without the place that said it.
func (p *tested) lastLine(test string) string {
	for _, e := range slices.Backward(p.output) {
		line := strings.TrimSpace(e.Output)
		if e.Test != test || line == "" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "=== ") {
			continue
		}
		if _, said, placed := strings.Cut(line, ".go:"); placed {
			_, line, _ = strings.Cut(said, ": ")
		}
		return line
	}
	return "it says nothing"
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
