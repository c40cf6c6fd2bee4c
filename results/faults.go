package results

import (
	"bytes"
	"slices"

	"turnstile/judge/measure"
)

// A FaultRow is one fault in one trial: what happened before it began, while it lasted and after it was
// healed. Older versions wrote faults.csv with such rows; since, it has a PhaseRow for each phase.
type FaultRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfFault
}

// A PhaseRow is what faults.csv says of one phase of one fault in one trial. docs/columns.md explains each
// column.
type PhaseRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfPhase
}

// PhaseRows returns the rows of faults.csv.
func PhaseRows(faults []FaultRow) (rows []PhaseRow) {
	for i := range faults {
		for _, p := range faults[i].ByPhases() {
			rows = append(rows, PhaseRow{faults[i].Run, faults[i].Trial, p})
		}
	}
	return rows
}

// faultRows returns the faults that rows of faults.csv are about.
func faultRows(rows []PhaseRow) (faults []FaultRow) {
	for len(rows) > 0 {
		first, end := &rows[0], 1
		of := []measure.OfPhase{first.OfPhase}
		for ; end < len(rows); end++ {
			p := &rows[end]
			if p.Run != first.Run || p.Trial != first.Trial || p.Number != first.Number ||
				slices.ContainsFunc(of, func(o measure.OfPhase) bool { return o.Phase == p.Phase }) {
				break
			}
			of = append(of, p.OfPhase)
		}
		faults = append(faults, FaultRow{first.Run, first.Trial, measure.FaultOf(of)})
		rows = rows[end:]
	}
	return faults
}

// FaultsAsStored returns faults as they are read back when they have been written. They keep the figures of
// the whole run, which only files of older versions have.
func FaultsAsStored(faults []FaultRow) []FaultRow {
	stored := faultRows(AsStored(PhaseRows(faults)))
	for i := range stored {
		stored[i].EntriesRefused, stored[i].Lost = faults[i].EntriesRefused, faults[i].Lost
	}
	return stored
}

// FaultsTable is faults.csv. A stored one is compared in its own form: by phase or, if an older version wrote
// it, by fault.
func FaultsTable(faults []FaultRow) Table {
	long, wide := TableOf(FaultsFile, PhaseRows(faults)), TableOf(FaultsFile, faults)
	byPhase, byFault := long, wide
	form := func(stored []byte) *Table {
		if isWide(stored) {
			return &byFault
		}
		return &byPhase
	}
	long.compare = func(stored []byte, how comparison) []Difference { return form(stored).compare(stored, how) }
	long.anew = func(stored []byte) string { return form(stored).anew(stored) }
	return long
}

// isWide reports whether a table has faults as older versions wrote them.
func isWide(stored []byte) bool {
	header := headerOf(stored)
	return slices.Contains(header, "number") && !slices.Contains(header, "phase")
}

// readFaults reads faults.csv, of this version or an older one.
func readFaults(name string, text []byte) ([]FaultRow, error) {
	if isWide(text) {
		return readTable[FaultRow](name, bytes.NewReader(text))
	}
	rows, err := readTable[PhaseRow](name, bytes.NewReader(text))
	return faultRows(rows), err
}
