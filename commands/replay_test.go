package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// simulate --replay plays the schedules of the algorithms' stories, and tells the same stories.
func TestSchedulesOfTheAlgorithmsAreReplayed(t *testing.T) {
	paths, err := filepath.Glob("../algorithms/mutex/testdata/*/*.txt")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d schedules, %v", len(paths), err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, told, _ := strings.Cut(string(b), "\n----\n")
		told, _, _ = strings.Cut(told, "\n----")
		told, _, _ = strings.Cut(told, "\n  ") // who waits for whom
		told = strings.TrimSuffix(told, "\n")
		last := strings.LastIndexByte(told, '\n')
		story, end := told[:last+1], told[last+1:]

		var out, errs bytes.Buffer
		status := run(t.Context(), program{}, []string{"simulate", "--replay", path}, &out, &errs)
		story = strings.TrimSuffix("  "+strings.ReplaceAll(story, "\n", "\n  "), "  ")
		if story == "" || !strings.Contains(out.String(), "\n\n"+story+"\n") {
			t.Errorf("%s: it tells\n%s%s\nand not\n%s", path, &out, &errs, story)
		}
		outside := strings.Contains(end, "outside its model")
		if broken := strings.HasPrefix(end, "broken: "); status > 2 || !outside && broken != (status == 1) {
			t.Errorf("%s: %s, and the exit status is %d", path, end, status)
		}
	}
}

// A schedule that ends before all agree on a leader breaks no promise, however many steps it has: they take
// no time.
func TestSchedulesThatEndEarlyBreakNothing(t *testing.T) {
	for _, text := range []string{"chang-roberts\nn 3\ncampaign 0", "bully\nn 3\ncampaign 0",
		"raft-election\nn 3\ntiming 1us 1us\ncampaign 0" + strings.Repeat("; try tick", 4000)} {
		path := filepath.Join(t.TempDir(), "early.txt")
		if err := os.WriteFile(path, []byte("turnstile schedule 1\nalgorithm "+text), 0o644); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		status := run(t.Context(), program{}, []string{"simulate", "--replay", path}, &out, &errs)
		if status != 2 ||
			!strings.Contains(out.String(), "the schedule ends, and no promise was broken by then") {
			t.Errorf("%.40q: the exit status is %d\n%s%s", text, status, &out, &errs)
		}
	}
}
