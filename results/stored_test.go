package results

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
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

// storedTables are tables of all kinds, of a run of such a name.
func storedTables(name string) []Table {
	verdicts := []map[string]string{{"outcome": "valid", "reason": "it is " + name}}
	return append(LatencyTables([]Interval{{1, time.Unix(1_700_000_000, 0), time.Second,
		[]measure.Tagged{{Tag: measure.WaitTag, Hist: histOf(1000, 2000)}}}}), TableOf(RowsFile, someRowsOf(name)),
		VerdictsTable(verdicts),
		TextTable("verdict.txt", name+"\nwaits\n"), Table{Name: FaultsFile, None: true})
}

// A tableChange is a change of a stored table, and the differences that it makes.
type tableChange struct {
	file   string
	change func(b string) string
	known  []string // with digests
	old    []string // without; nil: the same
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
			[]string{"runs.csv, line 2, trial 1, entries_per_s: stored 9999, the history gives 1234.5"}, nil},
		{RowsFile, replaced(",1234.5,", ",,"),
			[]string{"runs.csv, line 2, trial 1, entries_per_s: stored nothing, the history gives 1234.5"}, nil},
		{RowsFile, replaced(",valid,,wait_us_p99", ",valid,,"),
			[]string{"runs.csv, line 2, trial 1, at_least: stored nothing, the history gives wait_us_p99"}, nil},
		{RowsFile, replaced(",valid,,wait_us_p99", ",valid,,wait_us_p99 wait_us_mode"),
			[]string{"runs.csv, line 2: at_least names wait_us_mode, which is no column"}, []string{}},
		{RowsFile, replaced(",9000000,", ",5,"),
			[]string{"runs.csv, line 2, trial 1, wait_us_p99: stored 5, the history gives 9000000"}, nil},
		{RowsFile, func(b string) string { return strings.ReplaceAll(b, "\n", ",999\n") },
			[]string{"runs.csv, line 1: the column 999 is none that this Turnstile writes"}, []string{}},
		{RowsFile, replaced(",violated,", ",valid,"),
			[]string{"runs.csv, line 3, trial 2, verdict: stored valid, the history gives violated"}, nil},
		{RowsFile, replaced("inside together", "outside"),
			[]string{`runs.csv, line 3, trial 2, reason: stored 0 and 1 were outside, see "verdict.txt", ` +
				`the history gives 0 and 1 were inside together, see "verdict.txt"`}, []string{}},
		{RowsFile, replaced(",cpu_busy,", ",cpu_bus,"),
			[]string{"runs.csv, line 1: the column cpu_busy is missing"}, []string{}},
		{RowsFile, func(b string) string { return b[:strings.Index(b, "\nr,2,")+1] },
			[]string{"runs.csv: it has 1 rows, and the histories give 2"}, nil},
		{RowsFile, func(b string) string { return b[:len(b)-40] },
			[]string{`runs.csv, line 3: extraneous or missing " in quoted-field`}, nil},
		{RowsFile, func(string) string { return "" },
			[]string{"runs.csv, line 1: the file is empty: it lacks even its headers"}, nil},
		{LatencyLog, replaced("1.000000,", "2.000000,"), []string{"latency.hlog, line 6, Interval_Length: " +
			"stored 2.000000, the history gives 1.000000"}, nil},
		{LatencyLog, func(b string) string { return b[:len(b)-9] + "\n" }, []string{"latency.hlog, line 6: " +
			"the histogram cannot be decoded"}, nil},
		{LatencyLog, func(b string) string {
			var other bytes.Buffer
			LatencyTables([]Interval{{1, time.Unix(1_700_000_000, 0), time.Second,
				[]measure.Tagged{{Tag: measure.WaitTag, Hist: histOf(1000, 1000, 2000)}}}})[0].write(&other)
			return other.String()
		}, []string{"latency.hlog, line 6, Interval_Compressed_Histogram: stored 3 values up to 2000 ns, " +
			"mean 1333 ns, the history gives 2 values up to 2000 ns, mean 1500 ns"}, nil},
		{LatencyLog, replaced("[Trial: 1]", "[Trial: 7]"),
			[]string{"latency.hlog, line 5: stored #[Trial: 7], the history gives #[Trial: 1]"}, []string{}},
		{LatencyProfile, func(b string) string { return b[:strings.Index(b, "\n")+1] },
			[]string{"latency.hgrm: it has 1 lines, and the histories give 13"}, nil},
		{VerdictFile, replaced("it is r", "it was r"),
			[]string{"verdict.yaml, line 2: stored reason: it was r, the history gives reason: it is r"}, nil},
		{"verdict.txt", replaced("waits", "pauses"),
			[]string{"verdict.txt, line 2: stored pauses, the history gives waits"}, []string{}},
		{FaultsFile, func(string) string { return "run\nr\n" },
			[]string{"faults.csv: it is there, and the run has no such table"}, nil},
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
		if c.old == nil {
			c.old = c.known
		}
		for i, want := range map[int][]string{0: c.known, 1: c.old} {
			got := []string{}
			for j, table := range tables {
				digest := digests[j]
				if i == 1 {
					digest = ""
				}
				differences, remark := f.Compare(table, digest, nil)
				for _, d := range differences {
					got = append(got, d.String())
				}
				if remark != "" {
					t.Errorf("%s: %s", c.file, remark)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, case %d (-want +got):\n%s", c.file, i, diff)
			}
		}
	}
}

// A folder that was renamed differs in nothing that follows from the histories; nor does a table that a
// spreadsheet has saved again.
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

// A table of an older version agrees, though it counted refused entries and the warm-up, and a remark says
// what is not compared. Where nothing was refused, nothing is left out.
func TestOlderTablesAgree(t *testing.T) {
	for _, c := range []struct {
		name             string
		refused, warmup  float64
		stored           string
		differs, remarks bool
	}{
		{"entries were refused", 3, 0, "entries_per_s\nr,1,40", false, true},
		{"none was", 0, 0, "entries_per_s\nr,1,40", true, false},
		{"there was a warm-up", 0, 1, "overtaken_max\nr,1,40", false, true},
		{"there was none", 0, 0, "overtaken_max\nr,1,40", true, false},
		{"the column that tells is there", 3, 1,
			"entries_refused,passed_over_max,entries_per_s\nr,1,3,2,40", true, false},
	} {
		f := mustCreate(t, t.TempDir(), "set", "r")
		if err := f.WriteText(RowsFile, "run,trial,"+c.stored+"\n"); err != nil {
			t.Fatal(err)
		}
		differences, remark := f.Compare(TableOf(RowsFile, []Row{{Run: "r", Trial: 1, Figures: measure.Figures{
			EntriesRefused: figure.Number(c.refused), WarmupTookS: figure.Number(c.warmup),
			EntriesPerS: figure.Number(30), OvertakenMax: figure.Number(5),
			PassedOverMax: figure.Number(2)}}}), "", nil)
		if (len(differences) > 0) != c.differs || (remark != "") != c.remarks {
			t.Errorf("%s: %v, %q", c.name, differences, remark)
		}
	}
}

// A log of an older version agrees though it counted elections until all agreed, and a remark says so; the
// log of this one does not.
func TestElectionsOfAnOlderVersion(t *testing.T) {
	tagged := func(tag string, took int64) measure.Tagged {
		h := hdrhistogram.New(1, 1e12, 3)
		if err := h.RecordValue(took); err != nil {
			t.Fatal(err)
		}
		return measure.Tagged{Tag: tag, Hist: h}
	}
	log := func(latencies ...measure.Tagged) Table {
		return LatencyTables([]Interval{{Trial: 1, Latencies: latencies}})[0]
	}
	made := log(tagged("leaderless", 7), tagged("elect", 1000), tagged(measure.AllAgreedTag, 9000))
	for _, c := range []struct {
		name    string
		stored  Table
		differs bool
		remarks bool
	}{
		{"of this version", made, false, false},
		{"of an older one", log(tagged("leaderless", 7), tagged("elect", 9000)), false, true},
		{"of an older one, with another time", log(tagged("leaderless", 8), tagged("elect", 9000)), true, true},
		{"of this version, with another time", log(tagged("leaderless", 7), tagged("elect", 2000),
			tagged(measure.AllAgreedTag, 9000)), true, false},
	} {
		f := mustCreate(t, t.TempDir(), "set", "r")
		if _, err := f.Write(c.stored); err != nil {
			t.Fatal(err)
		}
		differences, remark := f.Compare(made, "", nil)
		if (len(differences) > 0) != c.differs || (remark != "") != c.remarks {
			t.Errorf("%s: %v, %q", c.name, differences, remark)
		}
	}
	elections := FaultRow{Run: "r", Trial: 1, OfFault: measure.OfFault{Number: 1, ToS: figure.Number(2),
		Elections: measure.ByPhase[figure.Figure]{measure.During: figure.Number(3)},
		Changes:   measure.ByPhase[figure.Figure]{figure.Number(0), figure.Number(0)}}}
	f := mustCreate(t, t.TempDir(), "set", "r")
	const older = "run,trial,number,to_s,healed,elections_during\nr,1,1,2,false,0\n"
	if err := f.WriteText(FaultsFile, older); err != nil {
		t.Fatal(err)
	}
	table := TableOf(FaultsFile, []FaultRow{elections})
	if differences, remark := f.Compare(table, "", nil); len(differences) > 0 ||
		remark == "" {
		t.Errorf("elections around a fault: %v, %q", differences, remark)
	}
}
