package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"go.yaml.in/yaml/v3"

	"turnstile/nodes/history"
	"turnstile/results"
)

// identity returns what tells the run from others. That of a simulated run follows from what was asked for,
// since equal options give equal histories.
func (r *Record) identity() string {
	about := []any{r.Options, r.Simulated}
	if !r.Simulated {
		about = append(about, r.Started)
	}
	text, err := yaml.Marshal(about)
	if err != nil {
		panic(err) // it could not be written to run.yaml either
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// origin returns what tells a trial from all others (see history.Header).
func (r *Record) origin(trial int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", r.ID, trial))
	return binary.LittleEndian.Uint64(sum[:])
}

// checkOrigin checks whether a history is that of the trial. Otherwise it would be judged by what another
// run was asked to be. Of a run over hosts, all logs of nodes may be lost with these, and nodes with them
// that nobody else has mentioned.
func (r *Run) checkOrigin(number int, h history.Header) error {
	fewer := h.Nodes < r.total() && (h.Nodes == 0 || r.Hosts > 0)
	if h.Origin != r.Record.origin(number) || h.Nodes != r.total() && !fewer {
		return fmt.Errorf("%s is not the history of trial %d of the run that %s describes: one of them is "+
			"of another run or trial", r.Folder.Histories()[number-1], number, r.Folder.File(results.RunFile))
	}
	return nil
}
