package bench

import (
	"time"

	"turnstile/chaos"
	"turnstile/chaos/place"
	"turnstile/results"
)

// A Record is what run.yaml holds: all that is needed to repeat the run, and what came of it.
type Record struct {
	Format    int               `yaml:"format"` // results.RunFormat
	ID        string            `yaml:"id"`     // tells the histories of this run from those of others
	Started   time.Time         `yaml:"started"`
	Status    string            `yaml:"status"` // running, or over
	Options   Options           `yaml:"options"`
	Simulated bool              `yaml:"simulated,omitempty"` // otherwise the run was made by real processes
	Versions  map[string]string `yaml:"versions"`
	Machine   results.Machine   `yaml:"machine"`
	Before    *results.Load     `yaml:"before,omitempty"` // of the machine when a run of processes began
	Fleet     *FleetRecord      `yaml:"fleet,omitempty"`  // its hosts, if it had any but this machine
	Kinds     []string          `yaml:"kinds"`            // names of message kinds, by their number in histories
	// Places are the hosts by their numbers, with the nodes on each; none: the run was on one machine.
	Places []place.Host  `yaml:"places,omitempty"`
	Trials []TrialRecord `yaml:"trials,omitempty"`
	// Sweep says which run of a sweep it is; nil: it was made alone.
	Sweep *SweepRun `yaml:"sweep,omitempty"`
	// Digests are those of the tables, by their names, once the run is over.
	Digests map[string]string `yaml:"digests,omitempty"`
}

// A SweepRun names a run of a sweep. Equal trials of equal configurations have equal names.
type SweepRun struct {
	Name  string `yaml:"name"`
	Trial int    `yaml:"trial"` // from 1
}

// Program is what the program is called in commands that are put on record.
const Program = "orchestrator"

// Unfinished reports whether the run goes on, or its orchestrator was killed.
func (r *Record) Unfinished() bool { return r.Status != statusOver }

// CutShort reports whether the run was ended before its first trial was over.
func (r *Record) CutShort() bool {
	return r.Unfinished() || len(r.Trials) == 0 || r.Trials[0].Interrupted()
}

// A TrialRecord is what run.yaml says of one trial.
type TrialRecord struct {
	Seed    uint64    `yaml:"seed"`
	Started time.Time `yaml:"started"` // the trial's zero of time
	// Faults are what came of the plan: each takes place once, and says whom it hit.
	Faults  []chaos.Fault `yaml:"faults,omitempty"`
	Verdict string        `yaml:"verdict"`
	Reason  string        `yaml:"reason"`
	Trouble string        `yaml:"trouble,omitempty"` // why it ended early, in full
}

// Interrupted reports whether the user ended the trial.
func (t *TrialRecord) Interrupted() bool { return t.Trouble == results.Interrupted }

// The states of a run, in its Record.
const (
	statusRunning = "running"
	statusOver    = "over"
)
