package cluster

import (
	"runtime"
	"strings"
	"testing"
)

func TestCheckLimits(t *testing.T) {
	if err := CheckLimits(1); err != nil {
		t.Errorf("one node is too many: %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	err := CheckLimits(1 << 24) // more threads than Linux can number
	if err == nil || !strings.Contains(err.Error(), "use fewer nodes") {
		t.Errorf("16 million nodes: %v", err)
	}
}

// The limits are lowered in a process of its own.
func TestCheckLimitOnFiles(t *testing.T) {
	for role, says := range map[string]string{
		"75 files": "4 nodes take 76 open files, and the limit is 75: use fewer nodes, " +
			"or raise the limit (ulimit -Hn 76)",
		"76 files": "<nil>",
	} {
		var out lines
		mustLaunch(t, NewLauncher(), role, nil, out.add)
		if got := out.await(t); got != says {
			t.Errorf("with %s: %q, not %q", role, got, says)
		}
	}
}
