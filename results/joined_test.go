package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
)

// joinedSet writes the tables of a set with so many runs, and returns its path.
func joinedSet(t *testing.T, runs int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set")
	if err := MakeSet(filepath.Dir(path), "set"); err != nil {
		t.Fatal(err)
	}
	var rows []Row
	var messages []MessageRow
	for i := range runs {
		row := someRows()[0]
		row.Run = fmt.Sprintf("run-%03d", i)
		m := MessageRow{Run: row.Run, Trial: 1}
		m.Kind = "request"
		rows, messages = append(rows, row), append(messages, m)
	}
	write := func(table string, of func(w io.Writer) error) {
		var b bytes.Buffer
		if err := of(&b); err != nil {
			t.Fatal(err)
		}
		if err := WriteJoined(path, table, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	write(RowsFile, func(w io.Writer) error { return WriteTable(w, rows) })
	write(MessagesFile, func(w io.Writer) error { return WriteTable(w, messages) })
	if err := AddMaking(filepath.Dir(path), "set", Making{Command: "orchestrator sweep"}); err != nil {
		t.Fatal(err)
	}
	return path
}

// Large tables are compressed, and read as others are.
func TestJoinedTables(t *testing.T) {
	for _, runs := range []int{2, 400} {
		path := joinedSet(t, runs)
		if large := exists(filepath.Join(path, RowsFile) + gzipped); large != (runs > 2) || !IsJoined(path) {
			t.Errorf("%d runs: compressed: %v", runs, large)
		}
		set, err := OpenJoined(path)
		if err != nil || len(set.Runs) != runs {
			t.Fatalf("%d runs: %v", runs, err)
		}
		last := set.Runs[runs-1]
		rows, err := last.Rows()
		if err != nil || len(rows) != 1 || rows[0].Run != last.Name() {
			t.Errorf("%v, %v", rows, err)
		}
		if messages, err := last.Messages(); err != nil || len(messages) != 1 || messages[0].Run != last.Name() {
			t.Errorf("%v, %v", messages, err)
		}
		if sizes, err := last.Sizes(); err != nil || sizes != nil {
			t.Errorf("%v, %v", sizes, err)
		}
	}
}

// swapped returns a function that replaces the first of some words in a text.
func swapped(was, is string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(was), []byte(is), 1) }
}

// A table about a run that runs.csv lacks, and one that cannot be parsed, are changed tables.
func TestChangedJoinedTables(t *testing.T) {
	for name, change := range map[string]func(text []byte) []byte{
		"a run that is not there": swapped("run-001", "run-7"),
		"a cell more":             func(b []byte) []byte { return append(b, ",,,\n"...) },
		"no column run":           swapped("run,", "ran,"),
		"nothing":                 func([]byte) []byte { return nil },
	} {
		path := joinedSet(t, 2)
		text, _ := TableIn(path, MessagesFile)
		if err := WriteJoined(path, MessagesFile, change(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenJoined(path); !errors.As(err, new(JoinedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of a table from an older version, each column that it lacks is told, however many they are.
func TestColumnsOfOlderVersions(t *testing.T) {
	head, line := "run", "x"
	for i := range 3 * mostDifferences {
		head, line = head+fmt.Sprintf(",c%d", i), line+",1"
	}
	all := CompareCells("t.csv", []byte("run\nx\n"), []byte(head+"\n"+line+"\n"), "run")
	if len(all) != 3*mostDifferences || slices.ContainsFunc(all,
		func(d Difference) bool { return !d.LacksColumn() }) {
		t.Errorf("%d columns of %d: %v", len(all), 3*mostDifferences, all)
	}
}

// CompareCells finds a changed cell, a row too few, and a filled cell of a column that the other table lacks.
func TestCompareCells(t *testing.T) {
	made := "run,a,b\nx,1,2\nx,3,4\n"
	for stored, want := range map[string][]string{
		made:                              nil,
		"run,a,more,b\nx,1,,2\nx,3,,4\n":  nil,
		"run,a,b\nx,1,2\nx,3,5\n":         {"b"},
		"run,a,b\nx,1,2\n":                {""},
		"run,a,more,b\nx,1,,2\nx,3,9,4\n": {"more"},
		"run,b\nx,2\nx,4\n":               {"a"},
		"":                                {""},
	} {
		var got []string
		for _, d := range CompareCells("t.csv", []byte(stored), []byte(made), "run") {
			got = append(got, d.Column)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", stored, got, want)
		}
	}
}
