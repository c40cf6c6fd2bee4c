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

	"turnstile/internal/yamlfile"
)

// SetFile says, in the folder of a set that a sweep makes, by which commands its runs were made.
const SetFile = "set.yaml"

// A Making is one command that made runs of a set.
type Making struct {
	Command  string            `yaml:"command"`
	Seed     uint64            `yaml:"seed"`
	Trials   int               `yaml:"trials"` // of each configuration
	Cells    int               `yaml:"configurations"`
	Started  time.Time         `yaml:"started"`
	Versions map[string]string `yaml:"versions"`
	Machine  Machine           `yaml:"machine"`
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
		b, err = unsealed(b)
	}
	if err == nil {
		err = yamlfile.Decode(b, &record)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", path, err)
	case record.Format != setFormat:
		return nil, fmt.Errorf("%s is of format %d, and this Turnstile reads format %d", path, record.Format,
			setFormat)
	}
	return record.Made, nil
}
