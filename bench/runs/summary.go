package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/results"
)

// A Summary describes a run: the contents of its folder, except the histories. Rows and Verdicts have an
// element for each judged trial, in the order of the trials.
type Summary struct {
	*bench.Job
	Folder    *results.Folder
	Record    Record                        // run.yaml
	Rows      []results.Row                 // runs.csv
	Messages  []results.MessageRow          // messages.csv, of all trials
	Sizes     []results.SizeRow             // sizes.csv, of all trials
	Resources []results.ResourceRow         // resources.csv, of all trials
	Faults    []results.FaultRow            // faults.csv, of all trials
	Timeline  []results.IntervalRow         // timeline.csv, of all trials
	Beliefs   []results.BeliefRow           // beliefs.csv, of all trials
	Verdicts  []check.Verdict               // verdict.yaml
	Latencies map[string]*measure.Histogram // latency.hlog: histograms of all trials together, by tag
	Changed   []string                      // files of a stored run that were changed after it ended
	Unjudged  []Unjudged                    // trials that could not be judged again
}

// An Unjudged is a trial that cannot be judged, since its history cannot be read.
type Unjudged struct {
	Trial int
	Why   error
}

// Summary returns the summary of a run that has been made or judged again. It equals what ReadSummary reads
// from the folder, digit by digit.
func (r *Run) Summary() *Summary {
	s := &Summary{Job: r.Job, Folder: r.Folder, Record: r.Record, Rows: r.Rows(),
		Latencies: r.latencies.Pooled, Unjudged: r.Unjudged}
	for _, t := range r.Trials {
		s.Verdicts = append(s.Verdicts, t.Verdict)
		s.Messages = append(s.Messages, t.Messages...)
		s.Sizes = append(s.Sizes, t.Sizes...)
		s.Resources = append(s.Resources, t.Resources...)
		s.Faults = append(s.Faults, t.Faults...)
		s.Timeline = append(s.Timeline, t.Timeline...)
		s.Beliefs = append(s.Beliefs, t.Beliefs...)
	}
	return s
}

// ReadRecord reads the record of a stored run.
func ReadRecord(folder *results.Folder) (*Record, error) {
	var r Record
	if err := folder.ReadYAML(&r); err != nil {
		return nil, err
	}
	return &r, nil
}

// ReadSummary reads the summary of a stored run. It does not judge it again.
func ReadSummary(known catalog.Table, folder *results.Folder) (*Summary, error) {
	s := &Summary{Folder: folder}
	err := folder.ReadYAML(&s.Record)
	if err != nil {
		return nil, err
	}
	if s.Job, err = s.Record.job(known, folder); err != nil {
		return nil, err
	}
	if err := s.readTables(); err != nil {
		return nil, TablesError{err}
	}
	return s, nil
}

// A TablesError is the error of a stored run whose tables cannot be read, or contradict each other. Its
// histories can still be judged.
type TablesError struct{ error }

func (e TablesError) Unwrap() error { return e.error }

// readTables reads the files next to the record.
func (s *Summary) readTables() (err error) {
	folder := s.Folder
	s.Rows, err = folder.Rows()
	if errors.Is(err, fs.ErrNotExist) && len(s.Record.Trials) == 0 && s.Record.Digests[results.RowsFile] == "" {
		return nil // the run ended before its first trial did
	}
	if err != nil {
		return err
	}
	if err := s.readParts(); err != nil {
		return err
	}
	if s.Latencies, err = folder.ReadLatencies(); err != nil {
		return err
	}
	if err := folder.ReadVerdicts(&s.Verdicts); err != nil && len(s.Rows) > 0 {
		return err
	}
	if err := s.agree(); err != nil {
		return err
	}
	s.Changed = s.Record.Changed(folder)
	return nil
}

// readParts reads the tables of parts of trials.
func (s *Summary) readParts() (err error) {
	if s.Messages, err = s.Folder.Messages(); err != nil {
		return err
	}
	if s.Sizes, err = s.Folder.Sizes(); err != nil {
		return err
	}
	if s.Resources, err = s.Folder.Resources(); err != nil {
		return err
	}
	if s.Faults, s.Timeline, err = s.Folder.Faults(); err != nil {
		return err
	}
	s.Beliefs, err = s.Folder.Beliefs()
	return err
}

// agree returns an error if the files of the run disagree about its trials.
func (s *Summary) agree() error {
	const advice = "they belong to different runs, or one was changed"
	if n := len(s.Rows); n != len(s.Verdicts) || n > len(s.Record.Trials) {
		return fmt.Errorf("%s: %s has %d trials, %s %d and %s %d: %s", s.Folder.Path, results.RowsFile, n,
			results.VerdictFile, len(s.Verdicts), results.RunFile, len(s.Record.Trials), advice)
	}
	for _, b := range s.Beliefs {
		if b.Node < 0 || b.Node >= s.Record.Options.Config.N || b.Trial < 1 || b.Trial > len(s.Rows) {
			return fmt.Errorf("%s: %s is about node %d in trial %d, and the run has %d nodes and %d trials: %s",
				s.Folder.Path, results.BeliefsFile, b.Node, b.Trial, s.Record.Options.Config.N, len(s.Rows), advice)
		}
	}
	for i, row := range s.Rows {
		for _, l := range []struct {
			tag string
			p50 figure.Figure
		}{{measure.WaitTag, row.WaitUSP50}, {measure.HoldTag, row.HoldUSP50},
			{measure.SynchronizationDelayTag, row.SynchronizationDelayUSP50}} {
			if l.p50.Known() && s.Latencies[l.tag] == nil {
				return fmt.Errorf("%s: %s has a median of %s, and %s no histogram of it: %s", s.Folder.Path,
					results.RowsFile, l.tag, results.LatencyLog, advice)
			}
		}
		trial, v := s.Record.Trials[i], s.Verdicts[i]
		if row.Seed != trial.Seed || row.Verdict != trial.Verdict || v.Outcome.String() != trial.Verdict ||
			v.Reason != trial.Reason {
			return fmt.Errorf("%s: of trial %d, %s says %s with seed %d, %s %s, and %s %s with seed %d: %s",
				s.Folder.Path, i+1, results.RowsFile, row.Verdict, row.Seed, results.VerdictFile, v.Outcome,
				results.RunFile, trial.Verdict, trial.Seed, advice)
		}
	}
	return nil
}

// Outcome returns the worst outcome of the trials, and at least Inconclusive if the run lacks some trials.
func (s *Summary) Outcome() check.Outcome {
	worst := check.Valid
	if len(s.Verdicts) < max(1, s.Record.Options.Trials) {
		worst = check.Inconclusive
	}
	for _, v := range s.Verdicts {
		worst = max(worst, v.Outcome)
	}
	return worst
}

// verdictLine returns the outcome of a trial and its reason, with which VerdictText begins.
func (s *Summary) verdictLine(i int) string {
	v := s.Verdicts[i]
	outcome := v.Outcome.String()
	if v.Uncontended != "" {
		outcome += " (" + v.Uncontended + ")"
	}
	return fmt.Sprintf("trial %d: %s: %s\n", s.Rows[i].Trial, outcome, v.Reason)
}

// VerdictText prints the verdict of a trial, given its index in Verdicts, with the findings of each check and
// their witnesses. The report of a stall is in verdict.yaml alone.
func (s *Summary) VerdictText(i int) string {
	var b strings.Builder
	v := s.Verdicts[i]
	b.WriteString(s.verdictLine(i))
	for _, f := range v.Findings {
		fmt.Fprintf(&b, "  %-12s %-13s %s\n", f.Outcome, f.Check, f.Says)
		for _, line := range f.Witness {
			fmt.Fprintf(&b, "      %s\n", line)
		}
	}
	for _, says := range v.Misses {
		fmt.Fprintf(&b, "  %-12s %s\n", "warning", says)
	}
	if v.Stall != nil {
		fmt.Fprintf(&b, "who waits for whom, and the states of the nodes: see %s\n", results.VerdictFile)
	}
	return b.String()
}

// Heartbeat reports whether messages of the named kind are heartbeats.
func (s *Summary) Heartbeat(kind string) bool {
	codec := s.Stack.Codec()
	i := slices.Index(codec.Names(), kind)
	return i >= 0 && codec.Kind(i).Heartbeat
}

// Ledgers returns the nodes' beliefs about the leader in each trial of a run about leaders, in the order of
// Rows.
func (s *Summary) Ledgers() (all []*results.Ledger) {
	for i := range s.Rows {
		all = append(all, results.LedgerOf(s.Beliefs, s.Faults, s.Rows[i].Trial))
	}
	return all
}

// Outcome returns the same outcome as the run's summary.
func (r *Run) Outcome() check.Outcome {
	s := Summary{Record: r.Record}
	for _, t := range r.Trials {
		s.Verdicts = append(s.Verdicts, t.Verdict)
	}
	return s.Outcome()
}

// Rows returns the rows of runs.csv, one for each trial, as stored.
func (r *Run) Rows() (rows []results.Row) {
	for _, t := range r.Trials {
		rows = append(rows, t.Row)
	}
	return rows
}
