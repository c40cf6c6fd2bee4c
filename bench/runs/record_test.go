package runs

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/hosts/control"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/nodes"
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
	r, err := Reopen(t.Context(), catalog.Table{}, folder)
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
	o := bench.Options{Algorithm: spec.Name, Config: nodes.Config{N: 4}, Entries: 300, Seed: 1, Trials: 1,
		Patience: time.Second, Latency: chance.Constant(time.Millisecond),
		Workload: workload.Workload{Load: workload.Saturated},
		Faults:   []chaos.Fault{{Effect: &effect.Loss{Of: loss}}}}
	r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// held returns how many bytes of memory a run takes, given the function that makes it.
func held(make func() *Run) int {
	memory := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what a sync.Pool holds is freed by the second
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	r := make()
	with := memory()
	runtime.KeepAlive(r)
	r = nil
	return with - memory()
}

// A run holds little of each trial in memory, when it is made and when it is judged again: its rows and its
// verdict, but not its histograms.
func TestTrialsAreLetGo(t *testing.T) { // not in parallel, since it measures the memory of the process
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	ofMade, ofReopened := map[int]int{}, map[int]int{}
	for _, trials := range []int{5, 25} {
		o := bench.Options{Algorithm: spec.Name, Config: nodes.Config{N: 4}, Entries: 50, Seed: 1, Trials: trials,
			Patience: time.Second, Latency: chance.Constant(time.Millisecond),
			Workload: workload.Workload{Load: workload.Saturated}}
		var folder *results.Folder
		ofMade[trials] = held(func() *Run {
			r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
			if err != nil {
				t.Fatal(err)
			}
			folder = r.Folder
			return r
		})
		ofReopened[trials] = held(func() *Run {
			r, err := Reopen(t.Context(), catalog.Table{}, folder)
			if err != nil {
				t.Fatal(err)
			}
			return r
		})
	}
	for how, of := range map[string]map[int]int{"made": ofMade, "reopened": ofReopened} {
		if each := (of[25] - of[5]) / 20; each > 20_000 {
			t.Errorf("a run that was %s holds %d bytes for each trial", how, each)
		}
	}
}

// rewrite replaces runs.csv and, if a record is given, also its digest in run.yaml.
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

// Different words are a difference if they were changed after the run, but not if another commit wrote them.
// Different figures are always a difference.
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
		len(a.Remarks) != 1 || !strings.Contains(a.Remarks[0], "measures differently from this version") {
		t.Errorf("figures of another commit: %v", a)
	}
}

// Files and cells that are not made from the histories are compared by digests. A change is a remark, not a
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
	want("verdict.yaml was changed after it was written, and has the same content")
	renamed := &results.Folder{Path: folder.Path + "-renamed"}
	if err := os.Rename(folder.Path, renamed.Path); err != nil {
		t.Fatal(err)
	}
	folder = renamed
	want("verdict.yaml")
	record := r.Record
	record.Status, record.Digests = statusRunning, nil
	if err := folder.WriteYAML(record); err != nil {
		t.Fatal(err)
	}
	want("the run is unfinished")
}

// A run without its record gives its rows, and an error.
func TestTrialsOfADamagedRun(t *testing.T) {
	folder := &results.Folder{Path: filepath.Join(t.TempDir(), "renamed")}
	if err := os.Mkdir(folder.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	table := "run,trial,kind,nodes,wait_us_p99\nonce,1,bench,3,12.5\nonce,2,bench,3,13\n"
	if err := os.WriteFile(folder.File(results.RowsFile), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	var wrong []error
	missing := &results.Folder{Path: filepath.Join(t.TempDir(), "missing")}
	folders := []*results.Folder{missing, folder}
	trials := StoredTrials(catalog.Table{}, folders, func(_ *results.Folder, err error) {
		wrong = append(wrong, err)
	})
	if len(trials) != 2 || trials[0].Run != "renamed" || trials[1].Nodes != 3 || trials[0].Machine != "" {
		t.Errorf("%+v", trials)
	}
	if len(wrong) != 2 || !strings.Contains(wrong[1].Error(), results.RunFile) {
		t.Errorf("its record is missing, and the errors are %v", wrong)
	}
}

// A killed run is a leftover. A finished run is not, and neither is a run that goes on, as its lock or its
// socket shows.
func TestLeftoversAreOfNobody(t *testing.T) {
	r := stalledRun(t)
	root, sets := filepath.Dir(filepath.Dir(r.Folder.Path)), []string{"set"}
	want := func(when string, count int, says string) []Leftover {
		t.Helper()
		left, spared := Leftovers(root, sets)
		if len(left) != count || !strings.Contains(spared[r.Folder.Ref()], says) || says == "" && len(spared) > 0 {
			t.Errorf("%s: left are %v, spared %v", when, left, spared)
		}
		return left
	}
	want("finished", 0, "")
	r.Record.Status = statusRunning
	if err := r.Folder.WriteYAML(r.Record); err != nil {
		t.Fatal(err)
	}
	release, err := r.Folder.Hold()
	if err != nil {
		t.Fatal(err)
	}
	want("held", 0, "it goes on")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	server, err := control.NewServer(r.Folder.Path, control.Reply{})
	if err != nil {
		t.Fatal(err)
	}
	want("its socket is served", 0, "it goes on")
	if err := server.End(control.Reply{}); err != nil {
		t.Fatal(err)
	}
	left := want("killed", 1, "")
	if release, err = r.Folder.Hold(); err != nil {
		t.Fatal(err)
	}
	if err := left[0].Remove(root); err == nil {
		t.Error("a run is removed that goes on by now")
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := left[0].Remove(root); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.Folder.Path); err == nil {
		t.Error("it is still there")
	}
}

// The description of a machine has all that is recorded of it.
func TestMachinesInWords(t *testing.T) {
	m := results.Machine{OS: "linux", Arch: "amd64", Cores: 2, CPU: "Z80", CPUQuota: 1.5, MemoryMB: 2048,
		Kernel: "6.1"}
	const want = "linux/amd64, 2 cores of Z80, limited to 1.5 CPUs, 2,048 MB, kernel 6.1"
	if got := MachineText(m); got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
