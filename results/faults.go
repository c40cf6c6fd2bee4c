package results

import (
	"slices"

	"turnstile/judge/measure"
)

// A FaultRow is one fault in one trial: what happened before it began, while it lasted and after it was
// healed. Its tags name its figures in reports; faults.csv has a PhaseRow for each phase.
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

// FaultsAsStored returns faults as they are read back when they have been written.
func FaultsAsStored(faults []FaultRow) []FaultRow { return faultRows(AsStored(PhaseRows(faults))) }

// FaultsTable is faults.csv.
func FaultsTable(faults []FaultRow) Table { return TableOf(FaultsFile, PhaseRows(faults)) }
