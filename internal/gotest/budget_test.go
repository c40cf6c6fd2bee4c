package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func budgetFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "budget")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A package fails by more than twice the CPU time that it is granted, whether it is named or not.
func TestBudgets(t *testing.T) {
	b, err := readBudgets(budgetFile(t, "# CPU time\nunit 10ms\nothers 1s\n\nnodes/sim 10s # explores\n"))
	if err != nil {
		t.Fatal(err)
	}
	took := func(path string, cpu time.Duration) *tested { return &tested{path: path, cpu: cpu} }
	over := b.exceeded([]*tested{took("m/nodes/sim", 20*time.Second), took("m/nodes", 2*time.Second),
		took("m/nodes/sim", 21*time.Second), took("m/bench", 3*time.Second)}, 10*time.Millisecond)
	want := []string{"m/nodes/sim took 21.0 s of CPU time, and its budget is 10.0 s, " +
		"1.00 times 10.0 s since a unit of work took 10.00 ms and not 10.00 ms",
		"m/bench took 3.0 s of CPU time, and its budget is 1.0 s, " +
			"1.00 times 1.0 s since a unit of work took 10.00 ms and not 10.00 ms"}
	if !slices.Equal(over, want) {
		t.Errorf("it says %q, want %q", over, want)
	}
	for perUnit, want := range map[time.Duration]int{15 * time.Millisecond: 0, 14 * time.Millisecond: 1,
		5 * time.Millisecond: 1} {
		if over := b.exceeded([]*tested{took("m/nodes/sim", 29*time.Second)}, perUnit); len(over) != want {
			t.Errorf("where a unit of work takes %v, 29 s make %q, want %d lines", perUnit, over, want)
		}
	}
	if over := budgets(nil).exceeded([]*tested{took("m/bench", time.Hour)}, time.Second); over != nil {
		t.Errorf("without budgets, %q", over)
	}
	for text, want := range map[string]string{
		"bench 5\nothers 1s\n":               "line 1: time: missing unit",
		"others 1s\nothers 2s\n":             "line 2: others has a budget already",
		"others\n":                           "line 1: want a package and a duration",
		"unit 1ms\nbench 5s # and no others": "it needs a line for the packages that it does not name",
		"others 1s\n":                        "it needs a line for the CPU time of a unit of work",
	} {
		if _, err := readBudgets(budgetFile(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// The CPU time of a package includes that of the processes which its tests start.
func TestMeter(t *testing.T) {
	m, err := newMeters()
	if err != nil {
		t.Fatal(err)
	}
	defer m.remove()
	const loop = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
	if status := meter(m.folder, []string{"sh", "-c", "sh -c '" + loop + "'; exit 3"}); status != 3 {
		t.Errorf("exit status %d, want that of the tests, 3", status)
	}
	here := &tested{path: "turnstile/internal/gotest"}
	if err := m.read([]*tested{here, {path: "turnstile/none"}}); err != nil || here.cpu < time.Millisecond {
		t.Errorf("its CPU time is %v, %v", here.cpu, err)
	}
	if here.meanwhile.units < 1 || here.meanwhile.perUnit() <= 0 {
		t.Errorf("the speed of the machine meanwhile is %+v, want that of one unit at least", here.meanwhile)
	}
}
