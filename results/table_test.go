package results

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/algorithms/catalog"
	"turnstile/internal/figure"
	"turnstile/judge/measure"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenFile(t, filepath.Join("testdata", name), got)
}

func goldenFile(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); -rewrite if it should:\n%s", path, diff)
	}
}

func someRows() []Row {
	return []Row{
		{Run: "r1", Trial: 1, Version: "v1.0.0", Seed: 1<<64 - 1, HoldUS: figure.Number(0),
			LatencyUS: figure.Number(1000),
			Asked: Asked{Kind: "bench", Algorithm: "ricart-agrawala", Nodes: 5, Cells: map[string]any{
				"hosts": figure.Number(1), "units": figure.Number(1), "resources": figure.Number(1),
				"load": "saturated", "hold": "0s", "latency": "1ms"}},
			Figures: measure.Figures{EntriesPerS: figure.Number(1234.5), MessagesPerEntry: figure.Number(8),
				WaitUSP50: figure.Number(4001.5), WaitUSP99: figure.AtLeast(9e6), BytesPerEntry: figure.Number(96.4)},
			Verdict: "valid"},
		{Run: "r1", Trial: 2, Version: "v1.0.0", Asked: Asked{Kind: "simulate", Algorithm: "raymond",
			Options: map[string]string{"tree": "line", "max-wait": "1/2 s"}, Nodes: 3,
			Cells: map[string]any{"multicast": true, "load": "closed", "hold": "uniform:1ms,3ms"}},
			Verdict: "violated", Reason: "0 and 1 were inside together,\nsee \"verdict.txt\""},
	}
}

func TestRowsGolden(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, someRows()); err != nil {
		t.Fatal(err)
	}
	golden(t, "runs.csv", b.String())
	want := someRowsOf("r1")
	got, err := readTable[Row]("runs.csv", &b)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	// Published sets may have options by their names alone.
	const published = "run,trial,algorithm,tree,max_wait\nr,1,raymond,line,1s\nr,2,ring,,\n"
	got, err = readTable[Row]("runs.csv", strings.NewReader(published), "tree", "max-wait")
	if err != nil || len(got) != 2 || got[0].Options["max-wait"] != "1s" || len(got[1].Options) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A table has the columns that concern its rows, and the columns of their options.
func TestColumnsConcernTheRows(t *testing.T) {
	row := func(load, algorithm string, f measure.Figures, options map[string]string) Row {
		return Row{Run: "r", Trial: 1, Figures: f,
			Asked: Asked{Kind: "bench", Algorithm: algorithm, Options: options,
				Cells: map[string]any{"load": load, "units": figure.Number(1)}}}
	}
	client := row("saturated", "raymond", measure.Figures{Entries: figure.Number(5)},
		map[string]string{"tree": "line"})
	leads := row("campaign", "bully-majority", measure.Figures{Entries: figure.Number(0),
		Elections: figure.Number(2)}, map[string]string{"lapse": "1s"})
	served := row("closed", "central-failover", measure.Figures{Elections: figure.Number(1)}, nil)
	const entries, elections, tree, lapse = "entries", "elections", "raymond_tree", "bully_majority_lapse"
	all := []string{entries, elections, tree, lapse, "messages", "units", "initiators"}
	for _, c := range []struct {
		name string
		rows []Row
		has  []string // the columns in all that the table has
	}{
		{"clients", []Row{client}, []string{entries, tree, "messages", "units"}},
		{"leaders", []Row{leads}, []string{elections, lapse, "messages", "initiators"}},
		{"both", []Row{leads, client}, all},
		{"clients of a leader", []Row{served}, []string{entries, elections, "messages", "units", "initiators"}},
		{"a kind of another version", []Row{row("asking", "x", measure.Figures{}, nil)},
			[]string{entries, elections, "messages", "units", "initiators"}},
		{"none", nil, []string{entries, elections, "messages", "units", "initiators"}},
	} {
		var b bytes.Buffer
		if err := WriteTable(&b, c.rows); err != nil {
			t.Fatal(err)
		}
		header := headerOf(b.Bytes())
		for _, column := range all {
			if has := slices.Contains(header, column); has != slices.Contains(c.has, column) {
				t.Errorf("%s: the column %s is there: %v", c.name, column, has)
			}
		}
		got, err := readTable[Row]("", &b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].Entries != c.rows[i].Figure(entries) || got[i].Text("units") != c.rows[i].Text("units") ||
				!maps.Equal(got[i].Options, c.rows[i].Options) {
				t.Errorf("%s: row %d was read as %+v", c.name, i, got[i])
			}
		}
	}
}

// Each header is used once, and each column has a type that can be written and read.
func TestColumns(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[Row](), reflect.TypeFor[MessageRow](),
		reflect.TypeFor[FaultRow](), reflect.TypeFor[PhaseRow](),
		reflect.TypeFor[IntervalRow](), reflect.TypeFor[SizeRow]()} {
		seen := map[string]bool{BoundsColumn: true}
		for _, c := range withAllOptions(columnsOf(typ)) {
			if c.header == "" || seen[c.header] {
				t.Errorf("a column of %v has the header %q, which is empty or taken", typ, c.header)
			}
			seen[c.header] = true
			switch of := c.in(reflect.New(typ).Elem()).Type(); of.Kind() {
			case reflect.String, reflect.Int, reflect.Uint64, reflect.Bool:
			default:
				if of != reflect.TypeFor[figure.Figure]() && !c.options {
					t.Errorf("%s of %v has a type that no cell can hold", c.header, typ)
				}
			}
		}
	}
}

// withAllOptions puts in the columns of all options, and checks that optionIn finds each by both its headers.
func withAllOptions(columns []column) []column {
	at := slices.IndexFunc(columns, func(c column) bool { return c.options })
	if at < 0 {
		return columns
	}
	var all []column
	for _, algo := range (catalog.Table{}).Algorithms() {
		for _, o := range algo.Options {
			c := columns[at].named(OptionColumnOf(algo.Name, o.Name))
			all = append(all, *c)
			if got := optionIn(c.header, algo.Name, nil); got != o.Name {
				panic(c.header + " names " + got)
			}
			if got := optionIn(OptionColumn(o.Name), algo.Name, catalog.Table{}.OptionNames()); got != o.Name {
				panic(o.Name + " names " + got)
			}
		}
	}
	return slices.Concat(columns[:at], all, columns[at+1:])
}

// Nothing that is done with tables changes the columns that all tables share.
func TestColumnsAreShared(t *testing.T) {
	AsStored(someRows())
	if err := WriteTable(io.Discard, someRows()[1:]); err != nil {
		t.Fatal(err)
	}
	for range Cells(someRows()[0]) {
	}
	typ := reflect.TypeFor[Row]()
	if diff := cmp.Diff(readColumns(typ), columnsOf(typ), cmp.AllowUnexported(column{})); diff != "" {
		t.Error(diff)
	}
	if one, other := columnsOf(typ), columnsOf(typ); &one[0] != &other[0] {
		t.Error("the columns are made anew for each table")
	}
}

// Columns are found by their headers, in any order and among any others.
func TestColumnsAreFoundByHeader(t *testing.T) {
	want := []Row{{Trial: 7, Asked: Asked{Algorithm: "lamport"},
		Figures: measure.Figures{WaitUSP99: figure.AtLeast(12.5)}}, {Trial: 8}}
	const text = "\ufeffat_least,wait_us_p99,colour,trial,algorithm\n" +
		"colour wait_us_p99 hue,12.5,9,7,lamport\n,,,8,\n"
	got, err := readTable[Row]("any.csv", strings.NewReader(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestTableErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "x.csv:1: the file is empty: it lacks even its headers",
		"a,b\n":                              "x.csv:1: none of the headers is known",
		"trial,trial\n":                      "x.csv:1: trial: two columns have this header",
		"run,trial\nr,1\nr,one\n":            `x.csv:3:3: trial: "one" is no whole number`,
		"run,seed\nr,-1\n":                   `x.csv:2:3: seed: "-1" is no whole number from 0`,
		"multicast\nmaybe\n":                 `x.csv:2:1: multicast: "maybe" is neither true nor false`,
		"run,cpu_busy\nr,NaN\n":              `x.csv:2:3: cpu_busy: "NaN" is not a number`,
		"run,wait_us_p50\nr,>5\n":            `x.csv:2:3: wait_us_p50: ">5" is not a number`,
		"run,entries,at_least\nr,,run\n":     "x.csv:2:4: at_least: run has no number",
		"run,entries,at_least\nr,,entries\n": "x.csv:2:4: at_least: entries has no number",
		"run,trial\nr\n":                     "x.csv:2: this line has more or fewer cells than the headers",
		"run,trial\n\"r\nr\",1\nr,\"x\n":     "x.csv:4:6: extraneous or missing \" in quoted-field",
	} {
		_, err := readTable[Row]("x.csv", strings.NewReader(text))
		var cell *cellError
		if !errors.As(err, &cell) || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func FuzzReadTable(f *testing.F) {
	var b bytes.Buffer
	WriteTable(&b, someRows())
	f.Add(b.String())
	f.Add("run,trial\r\n\"a\r\r\nb\",1\n")
	f.Add("wait_us_p50,seed\n-0,18446744073709551615\n")
	f.Add("trial,cpu_busy\n+1,1e308\n")
	f.Add("cpu_busy,at_least\n-0,cpu_busy seed  cpu_busy\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := readTable[Row]("fuzz.csv", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.csv:") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		var first, second bytes.Buffer
		WriteTable(&first, rows)
		again, err := readTable[Row]("again.csv", bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first.String())
		}
		WriteTable(&second, again)
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("written twice it differs:\n%s\n%s", first.String(), second.String())
		}
	})
}
