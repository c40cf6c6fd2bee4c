package bench

import (
	"errors"
	"fmt"
	"strconv"

	"turnstile/bench/compare"
	"turnstile/internal/english"
	"turnstile/results"
)

// StoredTrials returns the trials of a run that its folder stores, to compare them with others. Of a run that
// is damaged, or that was changed after it was written, it returns what can be read, and an error that says
// what is wrong.
func StoredTrials(folder *results.Folder) ([]compare.Trial, error) {
	var record Record
	wrong := folder.ReadYAML(&record)
	if wrong == nil {
		wrong = record.checkFormat(folder)
	}
	machine := ""
	if wrong == nil {
		machine = machineOf(record.Machine)
		if record.hasChanged(folder, results.RowsFile) {
			wrong = fmt.Errorf("%s was changed after it was written: verify names what differs", results.RowsFile)
		}
	}
	rows, err := folder.Rows()
	trials := make([]compare.Trial, len(rows))
	for i := range rows {
		trials[i] = compare.Trial{Row: rows[i], Machine: machine}
		trials[i].Run = folder.Name() // it may have been renamed
	}
	return trials, errors.Join(wrong, err)
}

// machineOf describes a machine in words.
func machineOf(m results.Machine) string {
	text := fmt.Sprintf("%s/%s, %s", m.OS, m.Arch, english.Count(m.Cores, "core", "cores"))
	if m.CPU != "" {
		text += " of " + m.CPU
	}
	if m.CPUQuota > 0 {
		text += ", limited to " + strconv.FormatFloat(m.CPUQuota, 'g', 3, 64) + " CPUs"
	}
	if m.MemoryMB > 0 {
		text += ", " + english.Count(m.MemoryMB, "MB", "MB")
	}
	if m.Kernel != "" {
		text += ", kernel " + m.Kernel
	}
	return text
}
