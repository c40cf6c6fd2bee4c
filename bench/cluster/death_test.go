package cluster

import (
	"strings"
	"testing"
)

func TestCause(t *testing.T) {
	for _, test := range []struct {
		how, text string
		kills     int
		want      string
	}{
		{"signal: killed", "", 0, ""},
		{"signal: killed", "", 2, "memory ran out (the kernel killed 2 processes for it): " +
			"use fewer nodes, or allow more memory"},
		{"signal: terminated", "", 2, ""},
		{"exit status 1", "node: no such algorithm", 2, ""},
		{"exit status 2", "runtime: failed to create new OS thread (have 2 already; errno=11)", 0,
			"it was given no more threads: raise the limit on this user's processes (ulimit -u), or on those of " +
				"the container"},
		{"exit status 2", "fatal error: runtime: out of memory", 0, "it was given no more memory"},
		{"exit status 2", "fatal error: failed to reserve page summary memory", 0, "it was given no more memory"},
	} {
		if got := cause(test.how, test.text, test.kills); !strings.HasPrefix(got, test.want) ||
			test.want == "" && got != "" {
			t.Errorf("%s after %q: %q, not %q", test.how, test.text, got, test.want)
		}
	}
}

func TestFate(t *testing.T) {
	p := mustLaunch(t, NewLauncher(), "fail", nil, nil)
	ended(t, p)
	if got := p.Fate().Says; !strings.HasPrefix(got, "exit status 7; its last output:\n\tfirst words") {
		t.Errorf("its fate: %q", got)
	}
	p = mustLaunch(t, NewLauncher(), "echo", nil, nil)
	p.input.Close()
	ended(t, p)
	if got := p.Fate().Says; got != "exited with status 0; it printed nothing" {
		t.Errorf("its fate: %q", got)
	}
}
