package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A perf that can count writes a line of fields; one that cannot says so in place of the count.
func TestInstructionsOfPerf(t *testing.T) {
	for text, want := range map[string]float64{
		"# started on Fri\n\n123456,,instructions:u,1000,100.00,,\n": 123456,
		"<not supported>,,instructions:u,0,100.00,,\n":               0,
		"no such event\n": 0,
	} {
		got, err := instructionsIn(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// With perf a command costs the instructions that perf has counted; without it, CPU time.
func TestAMeterCountsWhatPerfCan(t *testing.T) {
	for name, test := range map[string]struct{ count, unit string }{
		"perf counts":  {"42,,instructions:u,1,1,,", "instructions of user space"},
		"perf cannot":  {"<not supported>,,instructions:u,1,1,,", "ns of CPU time"},
		"without perf": {"", "ns of CPU time"},
	} {
		folder := t.TempDir()
		if test.count != "" { // its arguments: stat -x, -e instructions:u -o FILE -- COMMAND...
			script := "#!/bin/sh\necho '" + test.count + "' >\"$6\"\nshift 7\nexec \"$@\"\n"
			if err := os.WriteFile(filepath.Join(folder, "perf"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, tool := range []string{"true", "echo"} {
			if err := os.Symlink("/bin/"+tool, filepath.Join(folder, tool)); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", folder)
		m := newMeter(t.Context())
		cost, out, err := m.cost(folder, "echo", "hello")
		if m.unit != test.unit || err != nil || out != "hello\n" || m.perf && cost != 42 {
			t.Errorf("%s: %v %s; it printed %q; %v", name, cost, m.unit, out, err)
		}
	}
}

// entriesIn reads the column entries, and no other column with a similar name.
func TestEntriesOfATable(t *testing.T) {
	table := filepath.Join(t.TempDir(), "runs.csv")
	for text, want := range map[string]float64{
		"trial,entries_asked,entries\n1,9,7\n": 7,
		"trial\n1\n":                           0,
		"trial,entries\n":                      0,
	} {
		if err := os.WriteFile(table, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := entriesIn(table); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
