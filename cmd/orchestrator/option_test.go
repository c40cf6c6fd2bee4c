package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/nodes/mutex"
)

// spareVariable has this program be orchestrator with one more option of runs.
const spareVariable = "SPARE_OPTION_OF_THE_TEST"

// spare is that option.
var spare = &option.Option{Name: "spare", Group: option.Running, For: option.Exclusion,
	Usage:   "how many are spare",
	Of:      func(r *option.Run) any { return &r.Workload.Campaigns },
	Columns: []option.Column{{Name: "spare", Unit: "pieces", Is: "how many were spare"}}}

// beOrchestratorWithSpare is orchestrator with the option, or prints a command that makes a run which has it.
func beOrchestratorWithSpare() {
	option.Table = append(option.Table, spare)
	defer os.Exit(0)
	if os.Args[1] != "command" {
		main()
		return
	}
	row := mutex.Table[0]
	o := option.Defaults()
	o.Workload.Campaigns = 7
	j, err := bench.Resolve(o, row, true)
	if err != nil {
		panic(err)
	}
	fmt.Println(commandOf(row, &j.Options, false, ""))
}

// A new option of runs is one entry of option.Table: it is a flag, a variable of the environment and of make,
// a setting in a file, a list of a sweep, part of commands, of the first line of a summary and of reruns, a
// column, and documented.
func TestANewOptionIsOneEntry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	call := func(variable string, args ...string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0], args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), spareVariable+"=1", variable)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if err := os.WriteFile(filepath.Join(dir, "spare.yaml"), []byte("spare: 4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := []string{"simulate", "--algo", "central", "-n", "3", "--entries", "20", "--seed", "1"}
	for _, c := range []struct {
		variable string
		args     []string
		want     string
	}{
		{"", []string{"bench", "--help"}, "--spare int "},
		{"", append(run, "--spare", "2"), ", spare 2, "},
		{"TURNSTILE_SPARE=3", run, ", spare 3, "},
		{"", append(run, "--config", "spare.yaml"), ", spare 4, "},
		{"", append([]string{"simulate", "SPARE=5"}, run[1:]...), ", spare 5, "},
		{"", []string{"rerun", "latest"}, ", spare 5, "},
		{"", []string{"command"}, " --spare 7"},
		{"", append([]string{"sweep", "--simulated", "--spare", "1,2", "--trials", "1"}, run[1:7]...), "2 runs"},
		{"", []string{"compare", "sweep", "--by", "spare"}, "\n  2 "},
		{"", []string{"list", "--columns", "spare"}, "how many were spare"},
	} {
		if says := call(c.variable, c.args...); !strings.Contains(says, c.want) {
			t.Errorf("%s %q does not say %q:\n%s", c.variable, c.args, c.want, says)
		}
	}
	if says := call("", "elect", "--help"); strings.Contains(says, "--spare") {
		t.Errorf("elect has the option too:\n%s", says)
	}
}
