package publish

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"turnstile/bench"
	"turnstile/results"
)

// The cells and lines of a run of an archive whose digests were made anew, in run.yaml too, are compared with
// each other.
func TestFilesThatContradictEachOther(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "lan")
	made(t, stored(t), Options{To: folder})
	below := results.PublishedRuns + "/run-1"
	for _, c := range []struct {
		file, column string // of the first row; empty: a text is replaced
		was, is      string
		says         string
	}{
		{results.RowsFile, "wait_us_p99", "", "1234.5", "wait_us_p99 is 1234.5, and by latency.hlog it is "},
		{results.RowsFile, "hold_us_p50", "", "", "hold_us_p50 is empty, and by latency.hlog it is "},
		{results.RowsFile, "messages", "", "7", "messages is 7, and by messages.csv it is "},
		{results.RowsFile, "messages_per_entry", "", "7", "messages_per_entry is 7, and by messages.csv it is 3"},
		{results.RowsFile, "entries", "", "7", "entries is 7, and by verdict.yaml it is "},
		{results.RowsFile, "entries_in_window", "", "7", "entries_in_window is 7, and by timeline.csv it is from "},
		{results.RowsFile, "entries_per_s", "", "7", "entries_per_s is 7, and by accepted_in_window and "},
		{results.RowsFile, "violations", "", "7", "violations is 7, and by verdict.yaml it is 0"},
		{results.RowsFile, "reason", "", "all is well", `reason is "all is well", and by verdict.yaml it is `},
		{results.MessagesFile, "sent", "", "7", "and by messages.csv it is "},
		{results.TimelineFile, "entries", "", "77", "and by timeline.csv it is "},
		{"verdict.txt", "", "trial 1: valid", "trial 1: violated", "it lacks the line that verdict.yaml gives"},
		{results.LatencyProfile, "", "#[Mean", "#[mean", "latency.hgrm, line "},
		{results.VerdictFile, "", "- check: progress\n      outcome: valid",
			"- check: progress\n      outcome: violated",
			"the outcome is valid, and that of the check progress is violated"},
	} {
		path := filepath.Join(folder, below, c.file)
		text := read(t, path)
		changed := strings.Replace(string(text), c.was, c.is, 1)
		if c.column != "" {
			changed = withCell(t, string(text), c.column, c.is)
		}
		if changed == string(text) {
			t.Fatalf("%s is not changed in %s, which is\n%s", c.file, c.column, text)
		}
		if body, _, sealed := strings.Cut(changed, "checksum: "); sealed {
			changed = string(results.Sealed([]byte(body)))
		}
		write(t, []byte(changed), path)
		s, err := bench.ReadSummary(&results.Folder{Path: filepath.Join(folder, below)})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Contradictions()
		if err != nil || !slices.ContainsFunc(all, func(d results.Difference) bool {
			return strings.Contains(d.String(), c.says)
		}) {
			t.Errorf("%s %s: %v, %v; nothing says %q", c.file, c.column, all, err, c.says)
		}
		write(t, text, path)
	}
	for _, run := range []string{"run-0", "run-1"} {
		s, err := bench.ReadSummary(&results.Folder{Path: filepath.Join(folder, results.PublishedRuns, run)})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := s.Contradictions(); err != nil || len(all) > 0 {
			t.Errorf("%s as it was made: %v, %v", run, all, err)
		}
	}
}

// An archive whose digests were all made anew is found to contradict itself.
func TestAnArchiveWithNewDigestsContradictsItself(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "lan")
	made(t, stored(t), Options{To: folder})
	run := &results.Folder{Path: filepath.Join(folder, results.PublishedRuns, "run-0")}
	was, err := run.Digest(results.RowsFile)
	if err != nil {
		t.Fatal(err)
	}
	write(t, []byte(withCell(t, string(read(t, run.File(results.RowsFile))), "wait_us_p99", "1234.5")),
		run.File(results.RowsFile))
	is, err := run.Digest(results.RowsFile)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := strings.Cut(string(read(t, run.File(results.RunFile))), "checksum: ")
	write(t, results.Sealed([]byte(strings.Replace(body, was, is, 1))), run.File(results.RunFile))
	write(t, []byte(withCell(t, string(read(t, folder, results.RowsFile)), "wait_us_p99", "1234.5")),
		folder, results.RowsFile)
	for _, file := range []string{results.RowsFile, results.PublishedRuns + "/run-0/" + results.RowsFile,
		results.PublishedRuns + "/run-0/" + results.RunFile} {
		resum(t, folder, file)
	}
	a, err := Check(t.Context(), folder)
	if err != nil || len(a.Differences) != 1 || !strings.HasPrefix(a.Differences[0].String(),
		"runs/run-0/runs.csv, trial 1: wait_us_p99 is 1234.5, and by latency.hlog it is ") {
		t.Errorf("%v, %v", a.Differences, err)
	}
}

// withCell returns a table in which the first row has something else in a column.
func withCell(t *testing.T, table, column, is string) string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lines[1][slices.Index(lines[0], column)] = is
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
