package bench

import (
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// audited judges a stored run again, and compares its tables.
func audited(t *testing.T, folder *results.Folder) *Audit {
	t.Helper()
	stored, err := ReadRecord(folder)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Reopen(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return r.Audit(stored)
}

// stalledRun makes a run that stalls, with faults.
func stalledRun(t *testing.T) *Run {
	t.Helper()
	spec, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	loss := effect.Losses{Rate: 0.05}
	o := Options{Algorithm: spec.Name, Config: nodes.Config{N: 4}, Entries: 300, Seed: 1, Trials: 1,
		Patience: time.Second, Latency: chance.Constant(time.Millisecond),
		Workload: workload.Workload{Load: workload.Saturated},
		Faults:   []chaos.Fault{{Effect: &effect.Loss{Of: loss}}}}
	r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rewrite replaces runs.csv and, if it has other digests, run.yaml.
func rewrite(t *testing.T, folder *results.Folder, rows []results.Row, record *Record) {
	t.Helper()
	digest, err := folder.Write(results.TableOf(results.RowsFile, rows))
	if err == nil && record != nil {
		changed := *record
		changed.Digests = maps.Clone(record.Digests)
		changed.Digests[results.RowsFile] = digest
		err = folder.WriteYAML(changed)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Other words are a difference if they were changed after the run, and none if another commit wrote them.
// Other figures are a difference always.
func TestAuditOfOtherVersions(t *testing.T) {
	r := stalledRun(t)
	rows := r.Rows()
	rows[0].Reason = "all is well"
	rewrite(t, r.Folder, rows, nil)
	if a := audited(t, r.Folder); len(a.Differences) != 1 || a.Differences[0].Column != "reason" {
		t.Errorf("words that were changed: %v", a)
	}
	rewrite(t, r.Folder, rows, &r.Record)
	if a := audited(t, r.Folder); len(a.Differences) > 0 || len(a.Remarks) > 0 {
		t.Errorf("words of another commit: %v", a)
	}
	rows[0].Entries = figure.Count(7)
	rewrite(t, r.Folder, rows, &r.Record)
	if a := audited(t, r.Folder); len(a.Differences) != 1 || a.Differences[0].Column != "entries" ||
		len(a.Remarks) != 1 || !strings.Contains(a.Remarks[0], "measures otherwise than this version") {
		t.Errorf("figures of another commit: %v", a)
	}
}

// Files and cells from outside the histories are compared with digests. Their change is a remark, and no
// difference.
func TestAuditRemarks(t *testing.T) {
	r := stalledRun(t)
	folder := r.Folder
	want := func(remarks ...string) {
		t.Helper()
		a := audited(t, folder)
		if len(a.Differences) > 0 {
			t.Errorf("it differs: %v", a.Differences)
		}
		if len(a.Remarks) != len(remarks) {
			t.Fatalf("the remarks are %q, not %q", a.Remarks, remarks)
		}
		for i, remark := range remarks {
			if !strings.Contains(a.Remarks[i], remark) {
				t.Errorf("the remark is %q, not %q", a.Remarks[i], remark)
			}
		}
	}
	want()
	if r.Trials[0].Verdict.Stall == nil {
		t.Fatal("it has not stalled")
	}
	r.Trials[0].Verdict.Stall[0].States[1].Machine = "nothing"
	for _, table := range r.tables(1) {
		if _, err := folder.Write(table); err != nil {
			t.Fatal(err)
		}
	}
	want("verdict.yaml was changed after it was written, and has the same content", "verdict.txt")
	renamed := &results.Folder{Path: folder.Path + "-renamed"}
	if err := os.Rename(folder.Path, renamed.Path); err != nil {
		t.Fatal(err)
	}
	folder = renamed
	want("verdict.yaml", "verdict.txt")
	record := r.Record
	record.Status, record.Digests = statusRunning, nil
	if err := folder.WriteYAML(record); err != nil {
		t.Fatal(err)
	}
	want("the run is unfinished")
}
