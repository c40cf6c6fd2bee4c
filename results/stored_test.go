package results

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"turnstile/judge/measure"
)

// someRowsOf returns the rows of a run of such a name.
func someRowsOf(name string) []Row {
	rows := someRows()
	for i := range rows {
		rows[i].Run, rows[i].Reason = name, oneLine.Replace(rows[i].Reason)
	}
	return rows
}

// waits returns the tables of latencies of a trial with such waits in nanoseconds.
func waits(ns ...int64) []Table {
	var l Latencies
	l.Add(1, time.Unix(1_700_000_000, 0), time.Second,
		[]measure.Tagged{{Tag: measure.WaitTag, Hist: histOf(ns...)}})
	return l.Tables()
}

// storedTables are tables of all kinds, of a run of such a name.
func storedTables(name string) []Table {
	verdicts := []map[string]string{{"outcome": "valid", "reason": "it is " + name}}
	return append(waits(1000, 2000), TableOf(RowsFile, someRowsOf(name)),
		VerdictsTable(verdicts),
		TextTable("verdict.txt", name+"\nwaits\n"), Table{Name: FaultsFile, None: true})
}

// A tableChange is a change of a stored table, and the differences that it makes.
type tableChange struct {
	file   string
	change func(b string) string
	want   []string
}

// replaced replaces a text that must be there.
func replaced(old, by string) func(b string) string {
	return func(b string) string {
		if !strings.Contains(b, old) {
			panic(old + " is not in " + b)
		}
		return strings.Replace(b, old, by, 1)
	}
}

func tableChanges() []tableChange {
	return []tableChange{
		{RowsFile, replaced(",1234.5,", ",9999,"),
			[]string{"runs.csv, line 2, trial 1, entries_per_s: stored 9999, the history gives 1234.5"}},
		{RowsFile, replaced(",1234.5,", ",,"),
			[]string{"runs.csv, line 2, trial 1, entries_per_s: stored nothing, the history gives 1234.5"}},
		{RowsFile, replaced(",valid,,wait_us_p99", ",valid,,"),
			[]string{"runs.csv, line 2, trial 1, at_least: stored nothing, the history gives wait_us_p99"}},
		{RowsFile, replaced(",valid,,wait_us_p99", ",valid,,wait_us_p99 wait_us_mode"),
			[]string{"runs.csv, line 2: at_least names the unknown column wait_us_mode"}},
		{RowsFile, replaced(",9000000,", ",5,"),
			[]string{"runs.csv, line 2, trial 1, wait_us_p99: stored 5, the history gives 9000000"}},
		{RowsFile, func(b string) string { return strings.ReplaceAll(b, "\n", ",999\n") },
			[]string{"runs.csv, line 1: this Turnstile does not write the column 999"}},
		{RowsFile, replaced(",violated,", ",valid,"),
			[]string{"runs.csv, line 3, trial 2, verdict: stored valid, the history gives violated"}},
		{RowsFile, replaced("inside together", "outside"),
			[]string{`runs.csv, line 3, trial 2, reason: stored 0 and 1 were outside, see "verdict.txt", ` +
				`the history gives 0 and 1 were inside together, see "verdict.txt"`}},
		{RowsFile, replaced(",cpu_busy,", ",cpu_bus,"),
			[]string{"runs.csv, line 1: the column cpu_busy is missing"}},
		{RowsFile, func(b string) string { return b[:strings.Index(b, "\nr,2,")+1] },
			[]string{"runs.csv: it has 1 rows, and the histories give 2"}},
		{RowsFile, func(b string) string { return b[:len(b)-40] },
			[]string{`runs.csv, line 3: extraneous or missing " in quoted-field`}},
		{RowsFile, func(string) string { return "" },
			[]string{"runs.csv, line 1: the file is empty: it lacks even its headers"}},
		{LatencyLog, replaced("1.000000,", "2.000000,"), []string{"latency.hlog, line 6, Interval_Length: " +
			"stored 2.000000, the history gives 1.000000"}},
		{LatencyLog, func(b string) string { return b[:len(b)-9] + "\n" }, []string{"latency.hlog, line 6: " +
			"the histogram cannot be decoded"}},
		{LatencyLog, func(b string) string {
			var other bytes.Buffer
			waits(1000, 1000, 2000)[0].write(&other)
			return other.String()
		}, []string{"latency.hlog, line 6, Interval_Compressed_Histogram: stored 3 values up to 2000 ns, " +
			"mean 1333 ns, the history gives 2 values up to 2000 ns, mean 1500 ns"}},
		{LatencyLog, replaced("[Trial: 1]", "[Trial: 7]"),
			[]string{"latency.hlog, line 5: stored #[Trial: 7], the history gives #[Trial: 1]"}},
		{LatencyProfile, func(b string) string { return b[:strings.Index(b, "\n")+1] },
			[]string{"latency.hgrm: it has 1 lines, and the histories give 13"}},
		{VerdictFile, replaced("it is r", "it was r"),
			[]string{"verdict.yaml, line 2: stored reason: it was r, the history gives reason: it is r"}},
		{"verdict.txt", replaced("waits", "pauses"),
			[]string{"verdict.txt, line 2: stored pauses, the history gives waits"}},
		{FaultsFile, func(string) string { return "run\nr\n" },
			[]string{"faults.csv: it is there, and the run has no such table"}},
	}
}

// A changed table is a difference that names the file, the line, the column, and both values.
func TestStoredTablesDiffer(t *testing.T) {
	for _, c := range tableChanges() {
		f := mustCreate(t, t.TempDir(), "set", "r")
		tables := storedTables("r")
		digests := mustWrite(t, f, tables...)
		b, _ := os.ReadFile(f.File(c.file))
		if err := f.WriteText(c.file, c.change(string(b))); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, table := range tables {
			differences, remark := f.Compare(table, digests[i], nil)
			for _, d := range differences {
				got = append(got, d.String())
			}
			if remark != "" {
				t.Errorf("%s: %s", c.file, remark)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, diff)
		}
	}
}

// A folder that was renamed still agrees with the histories, and so does a table that a spreadsheet has saved
// again.
func TestStoredTablesAgree(t *testing.T) {
	f := mustCreate(t, t.TempDir(), "set", "r")
	digests := mustWrite(t, f, storedTables("r")...)
	for i, table := range storedTables("renamed") {
		differences, remark := f.Compare(table, digests[i], nil)
		if len(differences) > 0 || remark != "" {
			t.Errorf("renamed: %v %s", differences, remark)
		}
	}
	b, _ := os.ReadFile(f.File(RowsFile))
	text := strings.ReplaceAll(strings.Replace(string(b), ",1234.5,", ",1234.50,", 1), "\n", "\r\n")
	if err := f.WriteText(RowsFile, text); err != nil {
		t.Fatal(err)
	}
	differences, remark := f.Compare(TableOf(RowsFile, someRowsOf("r")), digests[2], nil)
	want := "runs.csv was changed after it was written, and has the same content"
	if len(differences) > 0 || remark != want {
		t.Errorf("written again: %v %q", differences, remark)
	}
}

// A peak measures how much memory is in use while something is written.
type peak struct {
	written int // bytes since the last measurement
	bytes   int // most bytes of the heap that were in use
}

func (p *peak) Write(b []byte) (int, error) {
	if p.written += len(b); p.written > 100_000 {
		p.written = 0
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		p.bytes = max(p.bytes, int(m.HeapAlloc))
	}
	return len(b), nil
}

// The verdicts of many trials are encoded in little memory, and as one list would be.
func TestVerdictsAreWrittenAsAStream(t *testing.T) { // not in parallel, since it measures the memory
	verdictsOf := func(trials int) (all []map[string][]string) {
		for range trials {
			all = append(all, map[string][]string{"findings": slices.Repeat([]string{"valid"}, 200)})
		}
		return all
	}
	for _, trials := range []int{0, 1, 64, 65, 129} {
		var whole bytes.Buffer
		if err := writeSealed(&whole, verdictsOf(trials)); err != nil {
			t.Fatal(err)
		}
		if parts := made(VerdictsTable(verdictsOf(trials)).write); !bytes.Equal(parts, whole.Bytes()) {
			t.Errorf("%d verdicts are written differently in parts", trials)
		}
	}
	peaks := map[int]int{}
	for _, trials := range []int{200, 800} {
		var p peak
		verdicts := verdictsOf(trials)
		if err := VerdictsTable(verdicts).write(&p); err != nil {
			t.Fatal(err)
		}
		peaks[trials] = p.bytes
	}
	if grown := (peaks[800] - peaks[200]) / 600; grown > 30_000 {
		t.Errorf("writing verdicts takes %d bytes for each", grown)
	}
}
