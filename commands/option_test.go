package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/option"
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
		os.Exit(Main(catalog.Table{}, nil))
		return
	}
	algo := mutex.Table[0]
	o := option.Defaults()
	o.Workload.Campaigns = 7
	j, err := bench.Resolve(catalog.Table{}, o, algo, true)
	if err != nil {
		panic(err)
	}
	fmt.Println(commandOf(algo, &j.Options, false, ""))
}

// A new option of runs is one entry of option.Table: it is a flag, a variable of the environment and of make,
// a setting in a file, a list of a sweep, part of commands, of the first line of a summary, a
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
		{"", []string{"bench", "--help-all"}, "--spare int "},
		{"", append(run, "--spare", "2"), ", spare 2, "},
		{"TURNSTILE_SPARE=3", run, ", spare 3, "},
		{"", append(run, "--config", "spare.yaml"), ", spare 4, "},
		{"", append([]string{"simulate", "SPARE=5"}, run[1:]...), ", spare 5, "},
		{"", []string{"verify", "--again"}, "THE SAME "},
		{"", []string{"command"}, " --spare 7"},
		{"", append([]string{"sweep", "--simulated", "--spare", "1,2", "--trials", "1"}, run[1:7]...), "2 runs"},
		{"", []string{"compare", "sweep", "--by", "spare"}, "\n  2 "},
		{"", []string{"list", "columns", "spare"}, "how many were spare"},
	} {
		if says := call(c.variable, c.args...); !strings.Contains(says, c.want) {
			t.Errorf("%s %q does not say %q:\n%s", c.variable, c.args, c.want, says)
		}
	}
	if says := call("", "elect", "--help-all"); strings.Contains(says, "--spare") {
		t.Errorf("elect has the option too:\n%s", says)
	}
}

// zeroMeans are the flags of which zero is a value like others: no time, a rate of zero, node 0, the seed 0,
// none of them. The port 0 is any that is free.
var zeroMeans = strings.Fields("hold think zipf latency timing warmup seed at after delay reorder loss " +
	"duplicate kill pause slow clock lag throttle stall reset promote drop-answer " +
	"hold-request delete expire leave losses duplicates " +
	"crashes suspicions simulated real calm compare initiators port node from first shrink")

// zerosOf returns what a zero of a flag may look like on a command line.
func zerosOf(f *pflag.Flag) []string {
	if list, is := f.Value.(*listFlag); is {
		f = list.of
	}
	text := slices.Contains([]string{"string", "stringSlice", "stringArray", "func", "nodes"}, f.Value.Type())
	switch {
	case f.Value.Type() == "bool":
		return nil
	case text, slices.Contains(zeroMeans, f.Name):
		return []string{""}
	case f.Value.Type() == "duration":
		return []string{"", "0s"}
	}
	return []string{"", "0"}
}

// A flag with zero or with an empty value never means the same as no flag.
func TestFlagsRefuseZeros(t *testing.T) {
	t.Chdir(t.TempDir())
	root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
	for _, cmd := range allBelow(root) {
		if cmd.Hidden {
			continue
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			for _, zero := range zerosOf(f) {
				err := f.Value.Set(zero)
				if f.Changed = true; err == nil {
					_, err = settingsOf(cmd)
				}
				f.Changed = false
				if err == nil && !refusedByCommand(nameOf(cmd), "--"+f.Name+"="+zero, f.Name) {
					t.Errorf("%s takes --%s=%q", nameOf(cmd), f.Name, zero)
				}
			}
		})
	}
}

// refusedByCommand reports whether the whole command refuses a flag, and names it.
func refusedByCommand(cmd, arg, name string) bool {
	var stderr bytes.Buffer
	status := run(context.Background(), program{}, append(strings.Fields(cmd), arg), io.Discard, &stderr)
	return status == usage && strings.Contains(stderr.String(), strings.TrimSuffix(name, "s"))
}

// What most people need of a command is on one screen.
func TestHelpIsOneScreen(t *testing.T) {
	root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
	for _, cmd := range allBelow(root) {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		most := 50
		if cmd.Name() == "bench" {
			most = 40
		}
		var help bytes.Buffer
		words := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		run(context.Background(), program{}, words, &help, io.Discard)
		if lines := strings.Count(help.String(), "\n"); lines > most {
			t.Errorf("%q prints %d lines, more than %d", words, lines, most)
		}
	}
}

// A flag with one value is refused when it is given twice. Otherwise the last value would win silently.
func TestFlagsAreGivenOnce(t *testing.T) {
	for args, want := range map[string]string{
		"bench --plan one-way --plan copies": `--plan is given twice, as "one-way" and as "copies": leave out`,
		"bench --nodes 4 -n 5":               `--nodes is given twice, as "4" and as "5" (-n is short for it)`,
		"bench -n4 --n=5":                    "--nodes is given twice",
		"simulate --retry 1ms --retry 2ms":   "--retry is given twice",
		"list --json --json raymond":         "--json is given twice",
		"--config=a runs --config b":         "--config is given twice",
		"bench --fault x --fault y":          "",
		"matrix --algo ring --algo raymond":  "",
		"history --node 1 --node 2":          "",
		"bench --nodes 4 --nodess 4":         "", // cobra says that
		"nothing --nodes 4 --nodes 4":        "",
	} {
		root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
		cmd, rest, err := root.Find(strings.Fields(args))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if errors.As(err, new(givenTwice)) != (want != "") || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
