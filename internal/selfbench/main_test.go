package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Counts are added up. A perf that cannot count says so in place of a count.
func TestInstructionsOfCounts(t *testing.T) {
	for text, want := range map[string]float64{
		"# started on Fri\n\n123456,,instructions:u,1000,100.00,,\n": 123456,
		"5,,instructions\n7,,instructions\n":                         12,
		"<not supported>,,instructions:u,0,100.00,,\n":               0,
		"no such event\n": 0,
	} {
		got, err := instructionsIn(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// onPath makes a folder with a program for each script, and sets PATH to this folder alone.
func onPath(t *testing.T, scripts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, script := range scripts {
		text := []byte("#!/bin/sh\n" + script + "\n")
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
	return folder
}

// Stand-ins: perf is called with stat -x, -e instructions:u -o FILE -- COMMAND..., and QEMU with
// -plugin PLUGIN,out=FILE COMMAND...
const (
	perfCounts = `echo 42,,instructions:u,1,1,, >"$6"; shift 7; exec "$@"`
	perfCannot = `echo '<not supported>,,instructions:u,1,1,,' >"$6"; shift 7; exec "$@"`
	qemuCounts = `echo 17,,instructions >>"${2#*,out=}"; shift 2; exec "$@"`
	qemuCannot = `echo "unknown option '-plugin'"; exit 1`
	compiles   = `exit 0`
)

// Instructions are counted by perf, or by QEMU; where neither can, the cost is CPU time. The meter says which
// of them it is, and what the better ones lacked.
func TestTheFirstMeterThatWorks(t *testing.T) {
	for name, test := range map[string]struct {
		perf, qemu, cc string
		cost           float64 // 0: CPU time
		says           []string
	}{
		"perf":               {perfCounts, qemuCounts, compiles, 42, []string{"instructions, counted by perf\n"}},
		"perf cannot":        {perfCannot, qemuCounts, compiles, 17, []string{"counted by QEMU", "supported>"}},
		"no perf":            {"", qemuCounts, compiles, 17, []string{"by QEMU", "perf is not installed"}},
		"no compiler":        {"", qemuCounts, "", 0, []string{"ns of CPU time", "cc is not installed"}},
		"QEMU cannot":        {"", qemuCannot, compiles, 0, []string{"CPU time", "unknown option"}},
		"neither perf, QEMU": {"", "", compiles, 0, []string{"CPU time", "perf is not", "qemu-x86_64 is not"}},
	} {
		scripts := map[string]string{"true": "", "echo": `echo "$@"`}
		for name, script := range map[string]string{"perf": test.perf, emulator(): test.qemu, "cc": test.cc} {
			if script != "" {
				scripts[name] = script
			}
		}
		folder := onPath(t, scripts)
		var says strings.Builder
		m := newMeter(t.Context(), t.TempDir(), &says)
		cost, out, err := m.cost(folder, filepath.Join(folder, "echo"), "hello")
		if m.prefix == nil { // CPU time differs
			cost = 0
		}
		if err != nil || out != "hello\n" || cost != test.cost {
			t.Errorf("%s: a command costs %v %s; it printed %q; %v", name, cost, m.unit, out, err)
		}
		for _, text := range test.says {
			if !strings.Contains(says.String(), strings.ReplaceAll(text, "qemu-x86_64", emulator())) {
				t.Errorf("%s: the meter says %q without %q", name, &says, text)
			}
		}
	}
}

// With QEMU each node of a run is counted, and the broker, which the run is given and which ends with it.
func TestQEMUCountsNodesAndBroker(t *testing.T) {
	scripts := onPath(t, map[string]string{"true": "", emulator(): qemuCounts, "cc": compiles})
	m := newMeter(t.Context(), t.TempDir(), t.Output())
	bin := onPath(t, map[string]string{"node": `echo "$1" >>"$0".had`, "orchestrator": `
case "$1" in
broker) trap 'exit 0' INT; echo nats://here; while :; do :; done ;;
bench) test "$5" = --nats=nats://here && for i in 1 2 3; do "${6#--node-program=}" "node $i"; done ;;
esac`})
	t.Setenv("PATH", scripts)
	cost, err := (&tree{t.TempDir(), bin}).trial(m, []string{"bench", "-n=3"})
	had, _ := os.ReadFile(filepath.Join(bin, "node.had"))
	if err != nil || cost != 4*17 || string(had) != "node 1\nnode 2\nnode 3\n" {
		t.Errorf("a run of three nodes and a broker costs %v, %v, and they had %q", cost, err, had)
	}
}

// Counts of the real QEMU repeat, and grow with the work.
func TestQEMURepeats(t *testing.T) {
	m := &meter{ctx: t.Context(), folder: t.TempDir()}
	if err := byQEMU(m); err != nil {
		t.Skip("SKIPPED: ", err)
	}
	var cost [3]float64
	for i, turns := range []string{"500", "500", "2000"} {
		var err error
		loop := "i=0; while test $i -lt " + turns + "; do i=$((i + 1)); done"
		if cost[i], _, err = m.cost(".", "/bin/sh", "-c", loop); err != nil {
			t.Fatal(err)
		}
	}
	if cost[0] > 1.02*cost[1] || cost[1] > 1.02*cost[0] || cost[2] < 1.5*cost[0] {
		t.Errorf("two loops and one that is twice as long cost %v instructions", cost)
	}
}

// What is asked for is checked before anything is built.
func TestRefusals(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "usage: ",
		"-base HEAD extra":              "usage: ",
		"-base HEAD -rounds 0":          "usage: ",
		"-base no-such":                 `"no-such" is no commit`,
		"-base --all":                   `"--all" is no commit`,
		"-base HEAD -only nothing-such": `"nothing-such" in its name:` + "\n  Delivery",
	} {
		var stdout, stderr strings.Builder
		status := run(t.Context(), strings.Fields(args), &stdout, &stderr)
		if status != 64 || stdout.String() != "" || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s ends with %d: %s%s", args, status, &stdout, &stderr)
		}
	}
}
