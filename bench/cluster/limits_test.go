package cluster

import (
	"runtime"
	"strings"
	"testing"
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

// The limits are lowered in a process of its own.
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
