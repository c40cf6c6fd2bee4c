package main

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// zeroMeans are the flags of which zero is a value like others: no time, a rate of zero, node 0, the seed 0,
// none of them. The port 0 is any that is free.
var zeroMeans = strings.Fields("hold think zipf latency timing warmup seed at after delay reorder loss " +
	"duplicate kill pause slow clock lag throttle stall reset kill-broker pause-broker " +
	"kill-server pause-server clock-server promote drop-answer losses duplicates " +
	"crashes suspicions simulated real calm compare initiators port node from")

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
	for _, cmd := range root.Commands() {
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
				if err == nil && !refusedByCommand(cmd.Name(), "--"+f.Name+"="+zero, f.Name) {
					t.Errorf("%s takes --%s=%q", cmd.Name(), f.Name, zero)
				}
			}
		})
	}
}

// refusedByCommand reports whether the whole command refuses a flag, and names it.
func refusedByCommand(cmd, arg, name string) bool {
	var stderr bytes.Buffer
	status := run(context.Background(), []string{cmd, arg}, io.Discard, &stderr)
	return status == usage && strings.Contains(stderr.String(), strings.TrimSuffix(name, "s"))
}

// A flag takes zero if zero has a meaning for it.
func TestFlagsTakeZerosThatMeanSomething(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{"--hold 0s", "--latency 0s", "--think 0", "--seed 0", "--warmup 0s",
		"--loss 0% --at 0s", "--kill 0"} {
		cmd := (&app{stdout: io.Discard, stderr: io.Discard}).benchCommand()
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if s, err := settingsOf(cmd); err != nil {
			t.Errorf("%s: %v, %v", args, s, err)
		}
	}
}

// A flag with one value is refused when it is given twice: the last would win without a word.
func TestFlagsAreGivenOnce(t *testing.T) {
	for args, want := range map[string]string{
		"bench --plan one-way --plan copies": `--plan is given twice, as "one-way" and as "copies": leave out`,
		"bench --nodes 4 -n 5":               `--nodes is given twice, as "4" and as "5" (-n is short for it)`,
		"bench -n4 --n=5":                    "--nodes is given twice",
		"simulate --retry 1ms --retry 2ms":   "--retry is given twice",
		"list --json --json raymond":         "--json is given twice",
		"--config a runs --config b":         "--config is given twice",
		"bench --fault x --fault y":          "",
		"matrix --algo ring --algo raymond":  "",
		"history --node 1 --node 2":          "",
		"bench --nodes 4 --nodess 4":         "", // cobra says that
		"nothing --nodes 4 --nodes 4":        "",
	} {
		root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
		err := givenOnce(root, strings.Fields(args))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
