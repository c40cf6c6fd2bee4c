package access

import (
	"bytes"
	"strings"
	"testing"
)

// A line of the log is one line, whatever a client says, and a flood of them is counted.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	r := &refusals{out: &out}
	r.know([]client{{Identity{Host, "a"}, "UAAA"}})
	r.write("%s", "\"$G/nkey:UAAA\" said x\n09:00:00 control: all is well\x1b[2J")
	got := out.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, "control: host a said x?09") ||
		strings.Contains(got, "\x1b") {
		t.Errorf("it logs %q", got)
	}
	for range 3 * linesPerSecond {
		r.write("flood")
	}
	r.second-- // a second later
	r.write("last")
	got = out.String()
	if strings.Count(got, "flood") > 2*linesPerSecond || !strings.Contains(got, "were left out") {
		t.Errorf("it logs %q", got)
	}
}
