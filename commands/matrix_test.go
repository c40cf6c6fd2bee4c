package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench/service"
	"turnstile/bench/study"
	"turnstile/chaos"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/results"
)

// built returns the program of a service that make build and make services have built; nil: they have not.
func built(t *testing.T, name string) []string {
	t.Helper()
	if slices.ContainsFunc(ownServices, func(s *service.Service) bool { return s.Name == name }) {
		build(t)
		return append([]string{filepath.Join(programs, "orchestrator")}, serviceArgs...)
	}
	for _, program := range []string{"services-" + name, "services"} {
		if path := filepath.Join("..", "bin", program); exists(path) {
			return []string{path}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// The options of each line are those of its service, and its faults can be carried out. Where the program of
// a service or of its servers is missing, its lines are not tested, and the log says so.
func TestServiceLinesResolve(t *testing.T) {
	t.Parallel()
	tested := 0
	for _, l := range soak.Few(study.ServiceLines()) {
		program := built(t, l.Service)
		if program == nil {
			t.Logf("NOT TESTED: number %d, %s: its program is not built", l.Number, l.Text())
			continue
		}
		subject, _, err := subjectOf(t.Context(), &service.Program{Command: program, Name: l.Service,
			Words: l.With}, nodes.Config{N: l.Nodes})
		switch {
		case err != nil && (strings.Contains(err.Error(), "install the Debian package") ||
			strings.Contains(err.Error(), "there is no service")): // as of lease, which has a program of its own
			t.Logf("NOT TESTED: number %d, %s: %v", l.Number, l.Text(), err)
			continue
		case err != nil:
			t.Errorf("number %d, %s: %v", l.Number, l.Text(), err)
			continue
		}
		m := study.ServiceMatrix{Cases: []*study.ServiceCase{{Line: l, Subject: subject}}}
		if err := m.Resolve(); err != nil {
			t.Error(err)
		}
		tested++
	}
	if tested == 0 {
		t.Error("no line is tested, not even those of nats-kv")
	}
}

// The options of each line of failovers are those of its service, and its faults can be carried out. What
// servers grant is known of each service that has a time to live. No test runs in parallel: a client that is
// asked what it declares is ended with all children of this process.
func TestFailoversResolve(t *testing.T) {
	var cases []*study.FailoverCase
	for _, l := range study.FailoverLines() {
		if built(t, l.Service) != nil {
			l.Client = strings.ReplaceAll(l.Client, "examples/", "../examples/")
			cases = append(cases, l.Cases([]time.Duration{time.Second})...)
		}
	}
	describeFailovers(t.Context(), cases, 1, func(name string) ([]string, error) { return built(t, name), nil })
	tested := 0
	for _, c := range cases {
		if c.Err != nil && (strings.Contains(c.Err.Error(), "install the Debian package") ||
			strings.Contains(c.Err.Error(), "there is no service") ||
			strings.Contains(c.Err.Error(), "not found")) {
			t.Logf("NOT TESTED: %s: %v", c.Text(), c.Err)
			continue
		}
		if m := (study.Failover{Cases: []*study.FailoverCase{c}}); c.Err != nil || m.Resolve() != nil {
			t.Errorf("%s: %v, %v", c.Text(), c.Err, m.Resolve())
			continue
		}
		granted, own := c.Subject.Granted, c.Line.Client == ""
		if own && (granted > 0) != (c.Asked > 0) || granted < c.Asked {
			t.Errorf("%s: %v are granted of %v", c.Text(), granted, c.Asked)
		}
		tested++
	}
	if tested == 0 {
		t.Error("no case is tested, not even those of nats-kv")
	}
}

// The matrix makes the run of a line, says what it shows, and does not make it again. A line that cannot be
// run is named, and does not count as passed.
func TestServiceMatrix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, want := range []string{"2 runs, 0 of them in the set", "2 runs, 2 of them in the set"} {
		cmd := orchestrator(t, dir, "matrix", "failures", "--only", "18,23", "--no-progress")
		out, _ := cmd.CombinedOutput()
		says := strings.Join(strings.Fields(string(out)), " ")
		if status := cmd.ProcessState.ExitCode(); status != 2 || !strings.Contains(says, want) ||
			!strings.HasPrefix(says, "not run postgres: the program services, which has postgres,") ||
			!strings.Contains(says, "18 nats-kv members=3 none L L L L") ||
			!strings.Contains(says,
				"4 lines: 2 as expected, 0 not, 2 not run.") {
			t.Errorf("call %d: status %d\n%s", i+1, status, says)
		}
	}
	if set := results.OpenSet(filepath.Join(dir, "results"), servicesSet); set == nil || len(set.Runs) != 2 {
		t.Error("the set does not have two runs")
	}
	for _, x := range []struct {
		args, says string
		status     int
	}{
		{"failures --only redis", "no case can be run: redis: the program services,", 64},
		{"failures --only 99", "no line has the number or the service \"99\"", 64},
		{"failover --only 9", "there are no failovers of \"9\"", 64},
		{"failover --ttl 1s,1s", "1s is named twice", 64},
		{"failover --ttl 1ms", "write times from 100ms to 1m", 64},
		{"failover --parallel 0", "--parallel: 0", 64},
		{"failover --algo ricart", "matrix failover does not take it; these do: bench,", 64},
		{"failover --only redis --ttl 1s", "can be run: redis: the program services, which has redis,", 64},
	} {
		ends(t, orchestrator(t, t.TempDir(), append([]string{"matrix"}, strings.Fields(x.args)...)...), x.status,
			x.says)
	}
}

// A cell without a run is not as expected, and an inconclusive run is not one that did not recover.
func TestCellsWithoutEvidence(t *testing.T) {
	central, err := (catalog.Table{}).Find("central")
	if err != nil {
		t.Fatal(err)
	}
	cell := func(runs ...*study.Result) *study.Cell {
		return &study.Cell{Spec: central, Plan: chaos.ScenariosOf(central)[0], Runs: runs,
			May: algorithm.FaultCell{May: algorithm.Recovers}}
	}
	var out strings.Builder
	a := &app{stdout: &output{Writer: &out}}
	(&matrixCall{}).printDiffering(a, []*study.Cell{cell(), cell(&study.Result{Shown: algorithm.Recovers})})
	if want := "2 cells: 1 as expected, 0 not, 1 not run.\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	unsure := cell(&study.Result{})
	printMatrix(&out, []*study.Cell{unsure}, []results.MatrixRow{{Fault: "one-way", May: "recovers", Runs: 1,
		Inconclusive: 1}})
	if !regexp.MustCompile(`(?m)^one-way +recovers +- +- `).MatchString(out.String()) {
		t.Errorf("an inconclusive run is printed as\n%s", out.String())
	}
}
