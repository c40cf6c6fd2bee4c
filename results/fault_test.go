package results

import (
	"bytes"
	"encoding/csv"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
)

// olderFaults returns faults.csv as older versions wrote it, a row for each fault, with its faults.
func olderFaults(t *testing.T) (text []byte, faults []FaultRow) {
	t.Helper()
	text, err := os.ReadFile("testdata/faults-0.csv")
	if err != nil {
		t.Fatal(err)
	}
	faults, err = readFaults("faults-0.csv", text)
	if err != nil {
		t.Fatal(err)
	}
	return text, faults
}

// A file of older versions has the same faults as one with a row for each phase, but for what runs.csv has.
func TestFaultsByPhase(t *testing.T) {
	_, want := olderFaults(t)
	var b bytes.Buffer
	if err := WriteTable(&b, PhaseRows(want)); err != nil {
		t.Fatal(err)
	}
	golden(t, "faults.csv", b.String())
	got, err := readFaults("faults.csv", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(FaultsAsStored(want), want); diff != "" {
		t.Error(diff)
	}
	for i := range want {
		if !want[i].EntriesRefused.Known() && want[i].Entries[0].Known() || !want[i].Lost.Known() {
			t.Errorf("row %d lacks figures of the whole run", i)
		}
		want[i].EntriesRefused, want[i].Lost = figure.Figure{}, figure.Figure{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each changed cell of faults.csv is found, in a file of this version and of older ones.
func TestChangedFaultsDiffer(t *testing.T) {
	older, faults := olderFaults(t)
	table := FaultsTable(faults)
	for name, text := range map[string][]byte{"older": older, "this": made(table.write)} {
		differ := func(text []byte, as origin) int { return len(table.compare(text, comparison{as: as})) }
		for _, as := range []origin{unknown, asWritten, changed} {
			if n := differ(text, as); n > 0 || table.anew(text) != "" {
				t.Fatalf("%s version: it differs in %d places before it was changed", name, n)
			}
		}
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(lines); i++ {
			if lines[i][1] != "1" {
				continue // the same again
			}
			for j, header := range lines[0] {
				var b bytes.Buffer
				other := slices.Clone(lines)
				other[i] = slices.Clone(lines[i])
				other[i][j] = otherCell(other[i][j])
				csv.NewWriter(&b).WriteAll(other)
				as := unknown // which finds less
				if header == "run" || header == "fault" || header == BoundsColumn {
					as = changed
				}
				if differ(b.Bytes(), as) == 0 {
					t.Errorf("%s version, line %d, %s: %q for %q is not found", name, i+1, header, other[i][j],
						lines[i][j])
				}
			}
		}
	}
}

// otherCell returns another value of the same type.
func otherCell(text string) string {
	switch text {
	case "true":
		return "false"
	case "":
		return "7"
	}
	return "1" + text
}
