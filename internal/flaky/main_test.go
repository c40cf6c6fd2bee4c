package main

import (
	"io"
	"strings"
	"testing"
)

// A test that starts processes may fail once, if a busy machine explains the failure; no other test may fail.
func TestJudge(t *testing.T) {
	failed := func(pkg, test, output string) string {
		at := `"Package":"` + pkg + `","Test":"` + test + `"`
		return `{"Action":"run",` + at + "}\n" +
			`{"Action":"output",` + at + `,"Output":"` + output + `\n"}` + "\n" +
			`{"Action":"fail",` + at + "}\n" + `{"Action":"fail","Package":"` + pkg + `"}` + "\n"
	}
	for _, c := range []struct {
		events, says string
		excused      bool
	}{
		{events: `{"Action":"pass","Package":"m/a","Test":"TestA"}` + "\n", excused: true},
		{failed("m/bench", "TestA", "timed out"), "FLAKY m/bench TestA\ntimed out\n", true},
		{failed("m/bench/site", "TestA/one", "timed out"), "FLAKY m/bench/site TestA/one\n", true},
		{failed("m/benches", "TestA", "timed out"), "m/benches starts no process", false},
		{failed("m/bench", "TestA", "VIOLATED  two were inside"), "it found VIOLATED", false},
		{failed("m/bench", "TestA", "panic: oh"), "it found panic\n", false},
		{failed("m/bench", "TestA", "a process was left behind"), "it found left behind", false},
	} {
		var out strings.Builder
		excused, err := judge(strings.NewReader(c.events), []string{"m/bench", "m/cmd"}, &out)
		if err != nil || excused != c.excused || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: %v, %v, it says %q, want %v and %q", c.events, excused, err, out.String(), c.excused, c.says)
		}
	}
}

// A test may print a great deal: what is done for each line does not grow with what was printed before it.
func BenchmarkJudge(b *testing.B) {
	line := `{"Action":"output","Package":"m/a","Test":"TestA","Output":"` + strings.Repeat("x", 80) + `\n"}
`
	events := `{"Action":"run","Package":"m/a","Test":"TestA"}` + "\n" + strings.Repeat(line, 100_000)
	for b.Loop() {
		if _, err := judge(strings.NewReader(events), nil, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
