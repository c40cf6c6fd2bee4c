package results

import (
	"path/filepath"
	"reflect"
	"slices"

	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
)

// A Row is the row of one trial in runs.csv: its parameters and its results. docs/columns.md explains each
// column. Columns are in the order of the fields; a new field may be anywhere, since files are read by their
// header.
type Row struct {
	Run     string `csv:"run,outside"`
	Trial   int    `csv:"trial"` // from 1
	Version string `csv:"version"`
	Seed    uint64 `csv:"seed"`
	Asked

	HoldUS    figure.Figure `csv:"hold_us" of:"exclusion"` // means of the requested distributions
	ThinkUS   figure.Figure `csv:"think_us" of:"exclusion"`
	LatencyUS figure.Figure `csv:"latency_injected_us"`

	measure.Figures

	Verdict string `csv:"verdict"`
	Reason  string `csv:"reason,outside"`
}

// Asked has the parameters of a run. Trials with equal parameters and version are repetitions of one
// experiment.
type Asked struct {
	Kind      string            `csv:"kind"` // bench or simulate
	Algorithm string            `csv:"algorithm"`
	Nodes     int               `csv:"nodes"` // number of clients
	Options   map[string]string `csv:"*"`     // options of the algorithm, with a column each
	Cells     map[string]any    `csv:"**"`    // the columns of option.Table, by header
}

// Cell returns the cell of a column of option.Table as text.
func (a *Asked) Cell(column string) string {
	if v := a.Cells[column]; v != nil {
		return cell(v)
	}
	return ""
}

// Number returns the figure in the cell of a column of option.Table; unknown if the cell has no figure.
func (a *Asked) Number(column string) figure.Figure {
	f, _ := a.Cells[column].(figure.Figure)
	return f
}

// With returns a copy of the parameters with another cell in a column of option.Table.
func (a Asked) With(column string, cell any) Asked {
	cells := map[string]any{column: cell}
	for of, was := range a.Cells {
		if of != column {
			cells[of] = was
		}
	}
	a.Cells = cells
	return a
}

// Medians returns a row with the median of each figure over the rows that measured it. Its other cells are
// empty.
func Medians(rows []Row) (medians Row) {
	for _, c := range columnsOf(reflect.TypeFor[Row]()) {
		if !c.figures {
			continue
		}
		var known []figure.Figure
		for i := range rows {
			if f := c.of(reflect.ValueOf(rows[i])).(figure.Figure); f.Known() {
				known = append(known, f)
			}
		}
		row := reflect.ValueOf(&medians).Elem()
		v := c.in(row)
		v.Set(reflect.ValueOf(stats.MedianOf(known)))
		c.put(row, v)
	}
	return medians
}

// A MessageRow is the row in messages.csv of one kind of message in one phase of a trial.
type MessageRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfMessages
}

// An IntervalRow is the row in timeline.csv of one of the equal intervals of a trial with faults.
type IntervalRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfInterval
}

// A SizeRow is the row in sizes.csv of the requests for one number of units in a trial.
type SizeRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfSize
}

// A ResourceRow is the row in resources.csv of the requests for one of several resources in a trial.
type ResourceRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfResource
}

// A BeliefRow is the row of one stretch of time of one node in beliefs.csv, for a run about leaders. Within a
// stretch neither the belief of the node nor the faults in force changed. docs/columns.md explains each
// column.
type BeliefRow struct {
	Run    string           `csv:"run,outside"`
	Trial  int              `csv:"trial"`
	Node   int              `csv:"node"`
	State  leadership.State `csv:"state"`
	Leader figure.Figure    `csv:"leader"`
	Term   figure.Figure    `csv:"term"`
	FromS  figure.Figure    `csv:"from_s"` // in seconds from the beginning of the window
	ToS    figure.Figure    `csv:"to_s"`
	TwoS   figure.Figure    `csv:"two_leaders_s"` // how long there were two leaders within this stretch
	Side   string           `csv:"side"`          // nodes with which Node could exchange messages; empty: all
	Faults string           `csv:"faults"`        // numbers of the faults in force, with spaces between
}

// A MatrixRow is the row of one algorithm under one fault in matrix.csv. docs/columns.md explains each
// column.
type MatrixRow struct {
	Algorithm    string `csv:"algorithm"`
	Fault        string `csv:"fault"` // name of the plan; for a known failure of a service: its faults in words
	Kind         string `csv:"kind"`  // as in runs.csv
	May          string `csv:"may"`   // expected outcomes, by their letters
	Shown        string `csv:"shown"`
	Differs      bool   `csv:"differs"`
	Runs         int    `csv:"runs"`
	Recovered    int    `csv:"recovered"` // number of runs that recovered; the next five fields count runs too
	Starved      int    `csv:"starved"`
	Blocked      int    `csv:"blocked"`
	Broke        int    `csv:"broke"`
	Unhit        int    `csv:"unhit"`
	Inconclusive int    `csv:"inconclusive"`

	NextEntryS     figure.Figure `csv:"next_entry_s"` // medians of the runs that recovered
	OldRateS       figure.Figure `csv:"old_rate_s"`
	WaitMaxS       figure.Figure `csv:"wait_max_s"` // the longest of all runs that recovered
	MessagesBefore figure.Figure `csv:"messages_per_entry_before"`
	MessagesDuring figure.Figure `csv:"messages_per_entry_during"`
	MessagesAfter  figure.Figure `csv:"messages_per_entry_after"`
	AcceptedDuring figure.Figure `csv:"accepted_during"` // entries accepted during the first fault
	RefusedDuring  figure.Figure `csv:"refused_during"`
	OverlapUS      figure.Figure `csv:"overlap_us"` // the longest of all runs

	AgreedS      figure.Figure `csv:"agreed_s"`       // for electors: the median of the runs that recovered
	LeaderlessUS figure.Figure `csv:"leaderless_us"`  // for electors: also the median of the runs that recovered
	TwoLeadersUS figure.Figure `csv:"two_leaders_us"` // the longest of all runs

	// The following fields are for a known failure of a service, which Algorithm names. Line is the number of
	// the failure in the matrix, and Fenced the outcome at a resource that demands fence numbers. Figures are
	// the least and the greatest value of all runs.
	Line             string        `csv:"line"`
	MayFenced        string        `csv:"may_fenced"`
	Fenced           string        `csv:"fenced"`
	Violations       figure.Figure `csv:"violations"`
	ViolationsFenced figure.Figure `csv:"violations_fenced"`
	SilenceMinS      figure.Figure `csv:"silence_min_s"`
	SilenceMaxS      figure.Figure `csv:"silence_max_s"`

	Seed    uint64 `csv:"seed"`    // seed of the first run that is not as expected, else of the first run
	Run     string `csv:"run"`     // the folder of the run with this seed, if it was stored
	Waiting string `csv:"waiting"` // when the run with this seed ends: waiting clients, or leaderless nodes
	Reason  string `csv:"reason"`  // reason of the verdict of the run with this seed
	Why     string `csv:"why"`     // why the algorithm should have the expected outcomes
}

// A RecallRow says whether a hunt found a known failure of a service, in recall.csv.
type RecallRow struct {
	Line    int    `csv:"line"` // its number in matrix failures
	Service string `csv:"service"`
	Fault   string `csv:"fault"`
	Fails   string `csv:"fails"`       // how it fails; empty: nothing fails in it
	After   int    `csv:"found_after"` // after how many plans for the service it was found; 0: it was not
	Plans   int    `csv:"plans"`       // how many plans the service had
	Call    string `csv:"call"`        // the command that shows it, with what the line names alone
}

// A SplitBrainRow is the row of one scheme in one partition in split-brain.csv. docs/columns.md explains each
// column.
type SplitBrainRow struct {
	Algorithm string `csv:"algorithm"`
	Kind      string `csv:"kind"` // as in runs.csv
	Nodes     int    `csv:"nodes"`
	Cut       string `csv:"cut"`
	Cuts      string `csv:"cuts"`
	Says      string `csv:"says"`
	Differs   string `csv:"differs"`

	Inconclusive string `csv:"inconclusive"`
	ShowsNothing string `csv:"shows_nothing"` // why the cut tests nothing; empty: it does test the scheme

	LeaderIn string `csv:"leader_in"` // the leader's place when the cut began: minority, majority or a node
	Led      string `csv:"led"`       // the node that led when the cut began

	CutAtS figure.Figure `csv:"cut_at_s"`
	CutS   figure.Figure `csv:"cut_s"`

	Lengthened bool `csv:"lengthened"`

	Leaders string        `csv:"leaders"`        // the leaders when the cut was healed, for each side
	Changes figure.Figure `csv:"leader_changes"` // how often a node came to lead while the cut lasted

	TwoLeadersS       figure.Figure `csv:"two_leaders_s"`
	TwoLeadersInTermS figure.Figure `csv:"two_leaders_in_term_s"`
	MinorityLedS      figure.Figure `csv:"minority_led_s"`
	SteppedDown       bool          `csv:"stepped_down"`
	AgreedS           figure.Figure `csv:"agreed_s"`
	Messages          figure.Figure `csv:"messages"`

	Run     string `csv:"run"`
	Verdict string `csv:"verdict"`
	Why     string `csv:"why"`
}

// A FailoverRow is the row of a service with one time to live (ttl) under one fault in failover.csv. It has
// the time from the beginning of the fault to the next entry or, for electors, to the next leader.
// docs/columns.md explains each column.
type FailoverRow struct {
	Service  string        `csv:"service"`
	Line     string        `csv:"line"`    // name of the service, with the options that do not depend on the ttl
	Options  string        `csv:"options"` // name=value, with spaces between
	Server   string        `csv:"server_version"`
	Client   string        `csv:"client_version"`
	AskedS   figure.Figure `csv:"ttl_asked_s"`
	GrantedS figure.Figure `csv:"ttl_granted_s"`
	Fault    string        `csv:"fault"`
	Plan     string        `csv:"plan"` // the faults in words
	Runs     int           `csv:"runs"` // number of runs that count
	Missed   int           `csv:"not_recovered"`
	LeftOut  int           `csv:"left_out"`

	MedianS  figure.Figure `csv:"next_s"`
	LowS     figure.Figure `csv:"next_low_s"`
	HighS    figure.Figure `csv:"next_high_s"`
	Interval string        `csv:"interval"` // in words: which interval LowS and HighS are the ends of
	LeastS   figure.Figure `csv:"next_min_s"`
	MostS    figure.Figure `csv:"next_max_s"`
	// in how many runs two were inside at once, or two led, and in how many a resource that demands fence
	// numbers let both write, or two led in one term
	TwoInside figure.Figure `csv:"two_inside"`
	Fences    bool          `csv:"fences"` // whether the service gives fence numbers or terms
	BothWrite figure.Figure `csv:"both_write"`

	Run    string `csv:"run"`    // the folder of the run with the longest time
	Reason string `csv:"reason"` // why there is no figure, or why some runs do not count
}

// Failover reads failover.csv of the set. The error is fs.ErrNotExist if the set has no such file.
func (s *Set) Failover() ([]FailoverRow, error) {
	return readRows[FailoverRow](&Folder{Path: s.Path}, FailoverFile)
}

// A FaultRow has the figures of one fault in one trial, before, during and after it. Its struct tags name its
// figures in reports; faults.csv has a PhaseRow for each phase.
type FaultRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfFault
}

// A PhaseRow is the row of one phase of one fault in one trial in faults.csv. docs/columns.md explains each
// column.
type PhaseRow struct {
	Run   string `csv:"run,outside"`
	Trial int    `csv:"trial"`
	measure.OfPhase
}

// PhaseRows converts faults to rows of faults.csv.
func PhaseRows(faults []FaultRow) (rows []PhaseRow) {
	for i := range faults {
		for _, p := range faults[i].ByPhases() {
			rows = append(rows, PhaseRow{faults[i].Run, faults[i].Trial, p})
		}
	}
	return rows
}

// faultRows converts rows of faults.csv to faults. It is the inverse of PhaseRows.
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

// FaultsAsStored returns faults as they would be read back after they are written.
func FaultsAsStored(faults []FaultRow) []FaultRow { return faultRows(AsStored(PhaseRows(faults))) }

// FaultsTable returns the table faults.csv.
func FaultsTable(faults []FaultRow) Table { return TableOf(FaultsFile, PhaseRows(faults)) }

// Matrix reads matrix.csv of the set. The error is fs.ErrNotExist if the set has no such file.
func (s *Set) Matrix() ([]MatrixRow, error) {
	return readRows[MatrixRow](&Folder{Path: s.Path}, MatrixFile)
}

// SplitBrain reads split-brain.csv.
func (s *Set) SplitBrain() ([]SplitBrainRow, error) {
	return readRows[SplitBrainRow](&Folder{Path: s.Path}, SplitBrainFile)
}

// HasMatrix reports whether a set has matrix.csv.
func (s *Set) HasMatrix() bool { return hasTable(filepath.Join(s.Path, MatrixFile)) }
