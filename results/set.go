package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"turnstile/internal/figure"
	"turnstile/internal/yamlfile"
)

// SetFile says, in the folder of a set that a sweep makes, by which commands its runs were made.
const SetFile = "set.yaml"

// A Making is one command that made runs of a set.
type Making struct {
	Command  string            `yaml:"command"`
	Grid     string            `yaml:"grid,omitempty"` // the text of the file that the command names
	Seed     uint64            `yaml:"seed"`
	Trials   int               `yaml:"trials"` // of each configuration
	Cells    int               `yaml:"configurations"`
	Started  time.Time         `yaml:"started"`
	Versions map[string]string `yaml:"versions"`
	Machine  Machine           `yaml:"machine"`
}

// LockSet has this process alone make the runs of a set, until unlock is called or the process ends. It is an
// error if another does.
func LockSet(root, set string) (unlock func() error, err error) {
	path := filepath.Join(root, set, ".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, unwritable(filepath.Dir(path), err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, unwritable(filepath.Dir(path), err)
	}
	others, err := lock(file)
	if others {
		err = fmt.Errorf("another sweep makes runs of the set %s: wait for its end, or give another --set", set)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// A setRecord is what set.yaml holds.
type setRecord struct {
	Format int      `yaml:"format"`
	Made   []Making `yaml:"made"` // the first first
}

// setFormat is the format of set.yaml.
const setFormat = 1

// AddMaking puts on record that a command makes runs of a set. A command that goes on with what the last one
// began is no other.
func AddMaking(root, set string, m Making) error {
	made, err := Makings(root, set)
	if err != nil {
		return err
	}
	if last := len(made) - 1; last >= 0 {
		same := m
		same.Started = made[last].Started
		if reflect.DeepEqual(same, made[last]) {
			return nil
		}
	}
	path := filepath.Join(root, set, SetFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return unwritable(filepath.Dir(path), err)
	}
	return writeFile(path, func(w io.Writer) error {
		return writeSealed(w, setRecord{Format: setFormat, Made: append(made, m)})
	})
}

// Makings returns by which commands the runs of a set were made; none if that is not on record.
func Makings(root, set string) ([]Making, error) {
	path := filepath.Join(root, set, SetFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var record setRecord
	if err == nil {
		err = checkFormat(b, setFormat)
	}
	if err == nil {
		b, err = unsealed(b)
	}
	if err == nil {
		err = yamlfile.Decode(b, &record)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w; restore it, or remove it to have a new one begun", path, err)
	}
	return record.Made, nil
}

// A RateRow is what rates.csv says of a configuration whose highest rate was searched. docs/sweeping.md
// explains each column.
type RateRow struct {
	Version string `csv:"version"`
	Asked          // with the median of the rates that the trials have found as its RatePerS

	LowPerS  figure.Figure `csv:"rate_low_per_s"`
	HighPerS figure.Figure `csv:"rate_high_per_s"`

	TotalPerS     figure.Figure `csv:"total_rate_per_s"` // of all nodes
	TotalLowPerS  figure.Figure `csv:"total_low_per_s"`
	TotalHighPerS figure.Figure `csv:"total_high_per_s"`

	Interval   string        `csv:"interval"` // what low and high are
	LimitedBy  string        `csv:"limited_by"`
	Trials     int           `csv:"trials"`      // that have found something
	ServedNext string        `csv:"served_next"` // which of them serve the next rate too, with spaces between
	Probes     int           `csv:"probes"`
	WaitBoundS figure.Figure `csv:"wait_bound_s"`
	Reason     string        `csv:"reason"` // of the verdict at the next rate
}
