package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The schedules that tell of the algorithms are played by simulate --replay as by their own test.
func TestSchedulesOfTheAlgorithmsAreReplayed(t *testing.T) {
	paths, err := filepath.Glob("../../nodes/mutex/testdata/*/*.txt")
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
		status := run(t.Context(), []string{"simulate", "--replay", path}, &out, &errs)
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
