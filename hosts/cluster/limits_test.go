//go:build linux

package cluster

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCheckLimits(t *testing.T) {
	if err := CheckLimits(1, 4); err != nil {
		t.Errorf("one node is too many: %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	err := CheckLimits(1<<24, 1) // more threads than Linux can number
	if err == nil || !strings.Contains(err.Error(), "use fewer nodes") {
		t.Errorf("16 million nodes: %v", err)
	}
}

func TestCheckThreads(t *testing.T) {
	user := limit{name: "the limit on this user's processes", max: 100, used: 30, raise: "ulimit -u %d"}
	machine := limit{name: "kernel.threads-max", max: 60}
	for _, test := range []struct {
		what   string
		need   int
		limits []limit
		says   string
	}{
		{"2 nodes take", 61, nil, ""},
		{"2 nodes take", 60, []limit{user, machine}, ""},
		{"2 nodes take", 61, []limit{user, machine}, "2 nodes take 61 threads, and kernel.threads-max is 60: " +
			"use fewer nodes, or raise it"},
		{"2 nodes take", 70, []limit{user}, ""},
		{"2 nodes take", 71, []limit{user}, "2 nodes take 71 threads, and the limit on this user's processes " +
			"is 100, 30 of them taken: use fewer nodes, or raise it (ulimit -u 101)"},
		{"this program takes", 71, []limit{user}, "this program takes 71 threads, and the limit on this " +
			"user's processes is 100, 30 of them taken: raise it (ulimit -u 101)"},
	} {
		got := ""
		if err := checkThreads(test.what, test.need, test.limits); err != nil {
			got = err.Error()
		}
		if got != test.says {
			t.Errorf("%s %d: %q, not %q", test.what, test.need, got, test.says)
		}
	}
}

// The limits are lowered in a separate process.
func TestCheckLimitOn(t *testing.T) {
	for role, says := range map[string]string{
		"79 files": "4 nodes take 80 open files, and the limit is 79: use fewer nodes, " +
			"or raise the limit (ulimit -Hn 80)",
		"80 files": "<nil>",
		"900000 KB": "each process needs 1048576 KB of address space, and the limit is 900000: " +
			"raise it (ulimit -v 1048576)",
	} {
		var out lines
		mustLaunch(t, NewLauncher(), role, nil, out.add)
		if got := out.await(t); got != says {
			t.Errorf("with %s: %q, not %q", role, got, says)
		}
	}
}

func TestThreadsOf(t *testing.T) {
	status := func(uid, threads string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("Name:\tuser Uid: 7\nUid:\t" + uid + "\nThreads:\t" + threads + "\n")}
	}
	proc := fstest.MapFS{
		"1/status":     status("0\t0\t0\t0", "3"),
		"20/status":    status("7\t7\t7\t7", "4"),
		"2/status":     status("7\t7\t7\t7", "8"),
		"30/status":    status("7\t0\t0\t0", "16"), // a process with a setuid program
		"31/status":    status("0\t7\t7\t7", "32"),
		"40/status":    {Data: []byte("Uid:\n")}, // cut off
		"50/stat":      {},                       // it has just ended
		"self/status":  status("7\t7\t7\t7", "64"),
		"irq/7/status": status("7\t7\t7\t7", "128"),
	}
	for _, test := range []struct{ uid, except, want int }{
		{7, 2, 20}, {7, 20, 24}, {7, 99, 28}, {0, 99, 35}, {8, 99, 0},
	} {
		if got := threadsOf(proc, test.uid, test.except); got != test.want {
			t.Errorf("user %d has %d threads beside process %d, not %d", test.uid, got, test.except, test.want)
		}
	}
	if n := threadsOf(os.DirFS("/proc"), os.Getuid(), 0); n < 2 {
		t.Errorf("this user has %d threads", n)
	}
}
