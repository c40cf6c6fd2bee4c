package results

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/option"
)

// inPandas returns what a script that needs pandas prints. Without a Python that has it, the test is skipped.
func inPandas(t *testing.T, script string, args ...string) string {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		var says bytes.Buffer
		cmd := exec.Command(name, append([]string{"-c", script}, args...)...)
		cmd.Stderr = &says
		out, err := cmd.Output()
		switch missing := strings.Contains(says.String(), "No module named 'pandas'"); {
		case err == nil:
			return string(out)
		case !missing && !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist):
			t.Fatalf("%v\n%s", err, &says)
		}
	}
	t.Skip("NOT TESTED: whether tables load in pandas, since there is no python3 with pandas")
	return ""
}

// dtypes prints the type that each column has once pandas has read a table, with no options.
const dtypes = `
import sys, pandas
for path in sys.argv[1:]:
    table = pandas.read_csv(path)
    for column in table.columns:
        of = table[column]
        if of.isna().all(): kind = "empty"
        elif pandas.api.types.is_bool_dtype(of.dropna().infer_objects()): kind = "bool"
        elif pandas.api.types.is_numeric_dtype(of): kind = "number"
        else: kind = "words" if all(isinstance(v, str) for v in of.dropna()) else "mixed"
        print(path, column, kind)
`

// Tables load in pandas with no options: numbers as numbers, true and false as such, words as words.
func TestTablesLoadInPandas(t *testing.T) {
	rows := someRowsOf("r")
	leads := Row{Run: "elected", Trial: 1, Verdict: "valid", Figures: measure.Figures{
		Entries: figure.Number(0), Elections: figure.Number(2), ElectUSMax: figure.AtLeast(7)},
		Asked: Asked{Kind: "bench", Algorithm: "bully",
			Cells:   map[string]any{"load": "campaign", "initiators": "all", "units": figure.Number(1)},
			Options: map[string]string{"notice": "lower"}}}
	_, faults := someFaults(t)
	kinds := map[reflect.Kind]string{reflect.String: "words", reflect.Bool: "bool", reflect.Int: "number",
		reflect.Uint64: "number", reflect.Map: "words"}
	f := &Folder{Path: t.TempDir()}
	var paths []string
	for name, table := range map[string]Table{RowsFile: TableOf(RowsFile, append(rows, leads)),
		"clients.csv": TableOf("", rows), "leaders.csv": TableOf("", []Row{leads}),
		FaultsFile: FaultsTable(faults)} {
		table.Name = name
		if _, err := f.Write(table); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, f.File(name))
	}
	want := map[string]string{BoundsColumn: "words"}
	for _, row := range []reflect.Type{reflect.TypeFor[Row](), reflect.TypeFor[PhaseRow]()} {
		for _, c := range columnsOf(row) {
			want[c.header] = kinds[row.FieldByIndex(c.field).Type.Kind()]
			if c.figures {
				want[c.header] = "number"
			}
		}
	}
	o := option.Defaults()
	for _, c := range option.Columns() {
		if c.Cell != nil && reflect.TypeOf(c.Cell(&o, true)).Kind() == reflect.Bool {
			want[c.Name] = "bool"
		}
	}
	lines := strings.Split(strings.TrimSpace(inPandas(t, dtypes, paths...)), "\n")
	if len(lines) < 300 {
		t.Errorf("the tables have %d columns", len(lines))
	}
	for _, line := range lines {
		words := strings.Fields(line)
		should := cmp.Or(want[words[1]], "words") // a column of an option has words
		if is := words[2]; is != should && (is != "empty" || should == "bool") {
			t.Errorf("pandas takes %s of %s for %s, not %s", words[1], filepath.Base(words[0]), is, should)
		}
	}
}
