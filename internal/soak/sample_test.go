package soak

import (
	"flag"
	"testing"
)

// With the race detector, the sample runs, unless -run says which tests do.
func TestSample(t *testing.T) {
	run := flag.Lookup("test.run")
	defer run.Value.Set(run.Value.String())
	for _, c := range []struct {
		given  string
		racing bool
		want   string
	}{{"", true, "TestSome"}, {"TestOther", true, "TestOther"}, {"", false, ""}} {
		run.Value.Set(c.given)
		if choose("TestSome", c.racing); run.Value.String() != c.want {
			t.Errorf("-run=%s, race detector %t: %s run, want %s", c.given, c.racing, run.Value, c.want)
		}
	}
}

// The short form has every eighth row.
func TestFew(t *testing.T) {
	if got, want := every(8, make([]int, 26)), 4; len(got) != want {
		t.Errorf("%d of 26 rows, want %d", len(got), want)
	}
}
