package results

import (
	"bytes"
	"encoding/csv"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/judge/measure"
)

// someFaults returns a stored faults.csv, with its faults.
func someFaults(t *testing.T) (text []byte, faults []FaultRow) {
	t.Helper()
	text, err := os.ReadFile("testdata/faults.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readTable[PhaseRow]("faults.csv", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return text, faultRows(rows)
}

// Faults are written by phase, and read back.
func TestFaultsByPhase(t *testing.T) {
	text, faults := someFaults(t)
	golden(t, "faults.csv", string(made(FaultsTable(faults).write)))
	if diff := cmp.Diff(FaultsAsStored(faults), faults); diff != "" {
		t.Error(diff)
	}
	for i := range faults {
		if !faults[i].Messages[0].Known() || bytes.Count(text, []byte(faults[i].Fault)) < len(measure.Phases) {
			t.Errorf("row %d lacks figures", i)
		}
	}
}

// Each changed cell of faults.csv is found.
func TestChangedFaultsDiffer(t *testing.T) {
	text, faults := someFaults(t)
	table := FaultsTable(faults)
	differ := func(text []byte, changed bool) int {
		return len(table.compare(text, comparison{changed: changed}))
	}
	if n := differ(text, false) + differ(text, true); n > 0 {
		t.Fatalf("it differs in %d places before it was changed", n)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(lines); i++ {
		if lines[i][1] != "1" {
			continue // trial 2 repeats trial 1
		}
		for j, header := range lines[0] {
			var b bytes.Buffer
			other := slices.Clone(lines)
			other[i] = slices.Clone(lines[i])
			other[i][j] = otherCell(other[i][j])
			csv.NewWriter(&b).WriteAll(other)
			changed := header == "run" || header == "fault" || header == BoundsColumn // an unchanged file may differ
			if differ(b.Bytes(), changed) == 0 {
				t.Errorf("line %d, %s: %q for %q is not found", i+1, header, other[i][j], lines[i][j])
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
