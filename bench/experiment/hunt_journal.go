package experiment

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// HuntFile is the journal of a hunt, in the folder of its set: a line of JSON for what it draws, and then one
// for each plan.
const HuntFile = "services.jsonl"

// A huntHeader is the first line of a journal.
type huntHeader struct {
	Seed     uint64   `json:"seed"`
	Services []string `json:"services"`
}

// A Hunted is what came of a plan.
type Hunted struct {
	Plan    int       `json:"plan"` // its number, from 0
	Service string    `json:"service"`
	With    []string  `json:"with,omitempty"`
	Faults  []string  `json:"faults,omitempty"` // in words
	Class   HuntClass `json:"class"`
	About   string    `json:"about,omitempty"` // the check that says so, or what else
	Says    string    `json:"says,omitempty"`
	Story   []string  `json:"story,omitempty"`  // what happened, line by line
	Folder  string    `json:"folder,omitempty"` // of the run, if it was kept
	Command string    `json:"command,omitempty"`
	Seconds float64   `json:"seconds"`
	LateMS  float64   `json:"late_ms"`           // by how much sleeps beside it were too long at most
	Refused float64   `json:"refused,omitempty"` // tries refused though nobody was inside
	// Shrunk is what is left of the plan of a finding. Of such a line the plan is that of the line before.
	Shrunk *Hunted `json:"shrunk,omitempty"`
	Shown  string  `json:"shown,omitempty"` // of how many runs of it
}

// path returns that of the journal.
func (h *Hunt) path() string { return filepath.Join(h.Setup.Results, h.Setup.Set, HuntFile) }

// read reads the journal, if there is one. A last line that was cut off is left out.
func (h *Hunt) read() error {
	h.Done = map[int]*Hunted{}
	text, err := os.ReadFile(h.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for number, line := range bytes.Split(text[:bytes.LastIndexByte(text, '\n')+1], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		if number == 0 {
			var head huntHeader
			if err := json.Unmarshal(line, &head); err != nil {
				return fmt.Errorf("%s, line 1: %w", h.path(), err)
			}
			if head.Seed != h.Seed || !slices.Equal(head.Services, h.Services) {
				return fmt.Errorf("%s is of --seed %d and --only %s: give the same, or another --set", h.path(),
					head.Seed, strings.Join(head.Services, ","))
			}
			continue
		}
		var one Hunted
		if err := json.Unmarshal(line, &one); err != nil {
			return fmt.Errorf("%s, line %d: %w", h.path(), number+1, err)
		}
		h.Done[one.Plan] = &one // a later line says more
	}
	return nil
}

// open opens the journal for more lines. What a cut-off line has left is removed.
func (h *Hunt) open() (err error) {
	if err = os.MkdirAll(filepath.Dir(h.path()), 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(h.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if h.file, err = os.OpenFile(h.path(), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if err := h.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if whole == 0 {
		return h.write(huntHeader{h.Seed, h.Services})
	}
	return nil
}

// write adds a line.
func (h *Hunt) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(h.file)
	w.Write(append(line, '\n'))
	return w.Flush()
}
