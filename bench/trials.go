package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"turnstile/bench/compare"
	"turnstile/internal/english"
	"turnstile/nodes/catalog"
	"turnstile/results"
)

// StoredTrials returns the trials of runs that their folders store, in that order, to compare them. Of a run
// that is damaged, or that was changed after it was written, it returns what can be read, and tells damaged
// what is wrong.
func StoredTrials(folders []*results.Folder, damaged func(*results.Folder, error)) (all []compare.Trial) {
	trials, errs := make([][]compare.Trial, len(folders)), make([]error, len(folders))
	var group sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(folders)); i = next.Add(1) - 1 {
				trials[i], errs[i] = trialsOf(folders[i])
			}
		})
	}
	group.Wait()
	told := false // that a run is of another format; the others of a published set are too
	for i, err := range errs {
		all = append(all, trials[i]...)
		other := errors.As(err, new(results.LackError))
		if err != nil && !(other && told) {
			damaged(folders[i], err)
		}
		told = told || other
	}
	return all
}

// trialsOf returns the trials of one run, as far as they can be read, and what is wrong.
func trialsOf(folder *results.Folder) ([]compare.Trial, error) {
	var record Record
	wrong := folder.ReadYAML(&record)
	machine := ""
	if wrong == nil {
		machine = MachineText(record.Machine)
		if err := record.CheckRows(folder); err != nil {
			return nil, err
		}
	}
	rows, err := folder.Rows(catalog.OptionNames()...)
	if wrong == nil && record.Unfinished() && errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New(results.UnfinishedSays)
	}
	trials := make([]compare.Trial, len(rows))
	for i := range rows {
		trials[i] = compare.Trial{Row: rows[i], Machine: machine, Started: record.Started}
		trials[i].Run = folder.Name() // it may have been renamed
	}
	return trials, errors.Join(wrong, err)
}

// TableTrials returns the trials that the table of a set lists, to compare them, where the folders of its
// runs are not there. A trial has the machine of the command of its version that made runs of the set.
func TableTrials(set *results.Folder) ([]compare.Trial, error) {
	rows, err := set.Rows(catalog.OptionNames()...)
	if err != nil {
		return nil, err
	}
	made, err := results.Makings(filepath.Dir(set.Path), set.Name())
	if err != nil {
		return nil, err
	}
	machines := map[string]string{}
	for _, m := range made {
		machines[m.Versions["turnstile"]] = MachineText(m.Machine)
	}
	all := make([]compare.Trial, len(rows))
	for i := range rows {
		all[i] = compare.Trial{Row: rows[i], Machine: machines[rows[i].Version]}
	}
	return all, nil
}

// CheckRows returns an error if the table of the trials of a run was changed after it was written.
func (r *Record) CheckRows(folder *results.Folder) error {
	if r.hasChanged(folder, results.RowsFile) {
		return fmt.Errorf("%s was changed after it was written, so it is left out: verify names what differs",
			results.RowsFile)
	}
	return nil
}

// MachineText describes a machine in words.
func MachineText(m results.Machine) string {
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
