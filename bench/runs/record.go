package runs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/draw"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/replay"
	"turnstile/nodes/stall"
	"turnstile/results"
)

// A Record is the contents of run.yaml: all that is needed to repeat the run, and the outcomes of its trials.
type Record struct {
	Format    int               `yaml:"format"` // version of the format: results.RunFormat
	ID        string            `yaml:"id"`     // distinguishes the histories of this run from others
	Started   time.Time         `yaml:"started"`
	Status    string            `yaml:"status"` // statusRunning or statusOver
	Options   bench.Options     `yaml:"options"`
	Simulated bool              `yaml:"simulated,omitempty"` // false: the run was made by real processes
	Versions  map[string]string `yaml:"versions"`
	Machine   results.Machine   `yaml:"machine"`
	Before    *results.Load     `yaml:"before,omitempty"` // load of the machine before a run of processes
	Fleet     *site.FleetRecord `yaml:"fleet,omitempty"`  // hosts of the run; nil: it is on this machine alone
	Kinds     []string          `yaml:"kinds"`            // names of message kinds, by their number in histories
	// Places are the hosts by their numbers, with the nodes on each; nil: the run was on one machine.
	Places []place.Host  `yaml:"places,omitempty"`
	Trials []TrialRecord `yaml:"trials,omitempty"`
	// Sweep names the run within a sweep; nil: the run belongs to no sweep.
	Sweep *SweepRun `yaml:"sweep,omitempty"`
	// Digests are the digests of the tables, by name, once the run is over.
	Digests map[string]string `yaml:"digests,omitempty"`
}

// A SweepRun names a run of a sweep. The same trial of the same configuration always has the same name.
type SweepRun struct {
	Name  string `yaml:"name"`
	Trial int    `yaml:"trial"` // number of the trial, from 1
}

// Program is the name of the program in recorded commands.
const Program = "orchestrator"

// Unfinished reports whether the run goes on, or its orchestrator was killed before the end.
func (r *Record) Unfinished() bool { return r.Status != statusOver }

// CutShort reports whether the run ended before its first trial was over, and shows no violation. A simulated
// trial that was not interrupted would end there again.
func (r *Record) CutShort() bool {
	if r.Unfinished() || len(r.Trials) == 0 || r.Trials[0].Interrupted() {
		return true
	}
	first := &r.Trials[0]
	return !r.Simulated && first.Trouble != "" && outcomeOf(first.Verdict) != check.Violated
}

// A TrialRecord is the part of run.yaml about one trial.
type TrialRecord struct {
	Seed    uint64    `yaml:"seed"`
	Started time.Time `yaml:"started"` // when the trial began: its times count from here
	// Faults are the resolved faults of the plan: each takes place once, and names the nodes it hit.
	Faults  []chaos.Fault `yaml:"faults,omitempty"`
	Verdict string        `yaml:"verdict"`
	Reason  string        `yaml:"reason"`
	Trouble string        `yaml:"trouble,omitempty"` // why the trial ended early; empty: it did not
}

// Interrupted reports whether the user interrupted the trial.
func (t *TrialRecord) Interrupted() bool { return t.Trouble == results.Interrupted }

// The values of Record.Status.
const (
	statusRunning = "running"
	statusOver    = "over"
)

// identity returns a text that distinguishes the run from others. For a simulated run it depends on the
// options alone, since equal options give equal histories.
func (r *Record) identity() string {
	about := []any{r.Options, r.Simulated}
	if !r.Simulated {
		about = append(about, r.Started)
	}
	text, err := yaml.Marshal(about)
	if err != nil {
		panic(err) // impossible: run.yaml holds the same values
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// origin returns a number that distinguishes a trial from all others (see history.Header).
func (r *Record) origin(trial int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", r.ID, trial))
	return binary.LittleEndian.Uint64(sum[:])
}

// checkOrigin returns an error unless the history is that of the trial: otherwise it would be judged by the
// options of another run. With hosts, the history may have fewer nodes: the logs of lost hosts are missing,
// and with them any nodes that no other log mentions.
func (r *Run) checkOrigin(number int, h history.Header) error {
	fewer := h.Nodes < r.Total() && (h.Nodes == 0 || r.Hosts > 0)
	if h.Origin != r.Record.origin(number) || h.Nodes != r.Total() && !fewer {
		return fmt.Errorf("%s is not the history of trial %d of the run that %s describes: one of them is "+
			"of another run or trial", r.Folder.Histories()[number-1], number, r.Folder.File(results.RunFile))
	}
	return nil
}

// job returns the job of the stored run, which another version of Turnstile may have made.
func (r *Record) job(known catalog.Table, folder *results.Folder) (*bench.Job, error) {
	spec, err := known.Of(r.Options.Algorithm, r.Options.Config)
	if err != nil {
		return nil, r.lacking(err)
	}
	d, err := bench.NewDraft(known, r.Options, spec, r.Simulated)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder.File(results.RunFile), r.lacking(err))
	}
	return d.Unchecked(), nil
}

// lacking wraps an error in a results.LackError if this version lacks the algorithm or an option.
func (r *Record) lacking(err error) error {
	if !errors.As(err, new(*algorithm.UnknownError)) && !errors.As(err, new(*nodes.OptionError)) {
		return err
	}
	return results.LackError{
		Err: fmt.Errorf("%w; %s, which made the run, has it", err, results.Maker(r.Versions))}
}

// tables returns the tables of the run's trials up to a number, except trials that could not be judged.
func (r *Run) tables(trials int) []results.Table {
	first, count := *r, len(r.Trials)
	for count > 0 && r.Trials[count-1].Number > trials {
		count--
	}
	first.Trials, first.latencies = r.Trials[:count], *r.latencies.First(count)
	s := first.Summary()
	var text strings.Builder
	for i := range s.Verdicts {
		text.WriteString(s.VerdictText(i))
	}
	faults := []results.Table{results.FaultsTable(s.Faults),
		results.TableOf(results.TimelineFile, s.Timeline)}
	leaders := []results.Table{results.TableOf(results.BeliefsFile, s.Beliefs),
		results.TextTable(results.LedgerFile, draw.Ledger(r.Folder.Ref(), s.Ledgers()).File())}
	sizes := results.TableOf(results.SizesFile, s.Sizes)
	sizes.None = r.Config.Capacity() == 1
	resources := results.TableOf(results.ResourcesFile, s.Resources)
	resources.None = r.Record.Options.ResourceCount() == 1
	for i := range faults {
		faults[i].None = !r.Record.Options.Faulty()
	}
	for i := range leaders {
		leaders[i].None = !r.Problem.Leads
	}
	rows := results.TableOf(results.RowsFile, s.Rows)
	messages := results.TableOf(results.MessagesFile, s.Messages)
	return slices.Concat([]results.Table{rows, messages, sizes, resources}, faults, leaders,
		first.latencies.Tables(),
		[]results.Table{results.VerdictsTable(s.Verdicts), results.TextTable("verdict.txt", text.String())})
}

// save writes the record and the tables of the run, and keeps the digests of the tables. It writes the record
// first, so that the record never has fewer trials than the tables. It writes the tables concurrently, since
// each waits for the disk.
func (r *Run) save() error {
	errs := []error{r.Folder.WriteYAML(r.Record)}
	r.digests = map[string]string{}
	tables := r.tables(len(r.Record.Trials))
	digests, failed := make([]string, len(tables)), make([]error, len(tables))
	var group sync.WaitGroup
	for i, t := range tables {
		group.Go(func() { digests[i], failed[i] = r.Folder.Write(t) })
	}
	group.Wait()
	errs = append(append(errs, failed...), r.Folder.Sync())
	for i, t := range tables {
		if !t.None {
			r.digests[t.Name] = digests[i]
		}
	}
	return errors.Join(errs...)
}

// end records that the run is over, and the digests of its files. It saves the tables if no trial has saved
// them.
func (r *Run) end() (err error) {
	if r.digests == nil {
		err = r.save()
	}
	r.Record.Status, r.Record.Digests = statusOver, r.digests
	return errors.Join(err, r.Folder.WriteYAML(r.Record), r.release())
}

// Changed returns the names of files that differ from what the run wrote. A file that the run did not write
// is included if readers of the run would read it.
func (r *Record) Changed(folder *results.Folder) []string {
	files := []string{results.SizesFile, results.ResourcesFile, results.FaultsFile, results.TimelineFile,
		results.BeliefsFile}
	files = slices.AppendSeq(files, maps.Keys(r.Digests))
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files),
		func(name string) bool { return !r.hasChanged(folder, name) })
}

// hasChanged reports whether a file differs from what the run wrote. It returns false until the run is over,
// since there are no digests yet.
func (r *Record) hasChanged(folder *results.Folder, name string) bool {
	digest, err := folder.Digest(name)
	return len(r.Digests) > 0 && (err != nil || digest != r.Digests[name])
}

// An Audit compares the stored tables of a run with the tables made from its histories.
type Audit struct {
	Differences []results.Difference `json:"differences"`
	// Remarks say what was not compared, and which changes do no harm.
	Remarks []string    `json:"remarks"`
	Again   *Repetition `json:"again,omitempty"` // nil: the run was not made again
}

// Differs reports whether a table differs, or a history of the run made again.
func (a *Audit) Differs() bool {
	return len(a.Differences) > 0 || a.Again != nil && len(a.Again.Differences) > 0
}

func (a *Audit) remark(format string, args ...any) {
	a.Remarks = append(a.Remarks, fmt.Sprintf(format, args...))
}

// Audit makes the tables of a reopened run, and compares them with the stored ones. Stored is the record of
// the run as it was before the run was judged again.
func (r *Run) Audit(stored *Record) *Audit {
	a := &Audit{Differences: []results.Difference{}, Remarks: []string{}}
	if stored.Unfinished() {
		a.remark("the tables are not compared: the run is unfinished, and they may lack trials")
		return a
	}
	judged := slices.IndexFunc(stored.Trials, func(t TrialRecord) bool { return t.Verdict == "" })
	if judged < 0 {
		judged = len(stored.Trials)
	}
	for _, t := range r.Trials {
		if t.Number > judged {
			break
		}
		if was, is := stored.Trials[t.Number-1].Verdict, t.Verdict.Outcome.String(); was != is {
			a.Differences = append(a.Differences, results.Difference{File: results.RunFile, Trial: t.Number,
				Column: "verdict", Stored: was, Made: is})
		}
	}
	var unjudged []int
	for _, u := range r.Unjudged {
		unjudged = append(unjudged, u.Trial)
		a.remark("the rows of trial %d are not compared, since it cannot be judged", u.Trial)
	}
	tables := map[string]bool{}
	for _, t := range r.tables(judged) {
		tables[t.Name] = true
		differences, remark := r.Folder.Compare(t, stored.Digests[t.Name], unjudged)
		a.Differences = append(a.Differences, differences...)
		if len(differences) > 0 && stored.Digests[t.Name] != "" && !stored.hasChanged(r.Folder, t.Name) {
			remark = fmt.Sprintf("%s is as Turnstile %s wrote it, which measures differently from this version",
				t.Name, stored.Versions["turnstile"])
		}
		if remark != "" {
			a.remark("%s", remark)
		}
	}
	for _, name := range stored.Changed(r.Folder) {
		if !tables[name] {
			a.remark("%s was changed after it was written; it is not in the histories", name)
		}
	}
	return a
}

// A Past gives access to the events and messages of a trial of a stored run.
type Past struct {
	*bench.Job
	Folder *results.Folder
	Trial  int
	run    *Run
}

// NoTrial is the error for a trial that the run does not have.
type NoTrial struct{ error }

// OpenPast opens a trial of the run in a folder.
func OpenPast(known catalog.Table, folder *results.Folder, trial int) (*Past, error) {
	record, err := ReadRecord(folder)
	if err != nil {
		return nil, err
	}
	r := &Run{Folder: folder, Record: *record}
	if r.Job, err = record.job(known, folder); err != nil {
		return nil, err
	}
	if err := r.checkKinds(); err != nil {
		return nil, err
	}
	if count := len(folder.Histories()); trial < 1 || trial > count {
		return nil, NoTrial{fmt.Errorf("there is no trial %d: run %s has histories of trials 1 to %d", trial,
			folder.Ref(), count)}
	}
	return &Past{r.Job, folder, trial, r}, nil
}

// Judged returns the verdict on the trial and its reason; empty: the run ended before the trial was judged.
func (p *Past) Judged() (verdict, reason string) {
	if p.Trial > len(p.run.Record.Trials) {
		return "", ""
	}
	t := &p.run.Record.Trials[p.Trial-1]
	return t.Verdict, t.Reason
}

// Fault describes the fault with a number.
func (p *Past) Fault(number uint32) string { return bench.FaultIn(p.run.faults(p.Trial))(int(number)) }

// Sides returns the sides of the cut between nodes that a fault was, given its victim, or nil: it was no such
// cut, or has no sides, as a cut into a ring. A node on no side reached all.
func (p *Past) Sides(number uint32, victim nodes.ID) (sides [][]nodes.ID) {
	all := p.run.faults(p.Trial)
	if number < 1 || int(number) > len(all) {
		return nil
	}
	cut, is := all[number-1].Effect.(*effect.Partition)
	if !is || cut.Kernel || cut.Cut.Role() != port.Node {
		return nil
	}
	for id := range nodes.ID(p.Stack.Total()) {
		side := cut.Cut.Part(id, victim) - 1
		switch {
		case cut.Cut.Of.ByRun(): // the victim, and all others
			side = map[bool]int{true: 0, false: 1}[id == victim]
		case !cut.Cut.Links() || side < 0:
			continue
		}
		for len(sides) <= side {
			sides = append(sides, nil)
		}
		sides[side] = append(sides[side], id)
	}
	return sides
}

// Extract returns the events of the trial in a window and, if messages is set, its messages. If these are not
// stored, and the trial was simulated, it simulates the trial again. It is an error if the new simulation
// gives another history.
func (p *Past) Extract(ctx context.Context, w section.Window, messages bool) (*spacetime.Extract, error) {
	h, err := p.open()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	fold := spacetime.New(h.Header, p.Stack, w)
	if messages && p.Simulated && !p.Trace {
		err = p.again(ctx, h, fold)
	} else {
		err = h.RunContext(ctx, fold)
	}
	if err != nil {
		return nil, err
	}
	return &fold.Extract, nil
}

// open opens the history of the trial.
func (p *Past) open() (*history.Reader, error) {
	h, err := p.Folder.History(p.Trial)
	if err != nil {
		return nil, err
	}
	if err := p.run.checkOrigin(p.Trial, h.Header); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// A counters is a fold that only takes the logs, which have the counters of nodes.
type counters struct{ logs []*history.NodeLog }

func (c *counters) Add(history.Event) {}

func (c *counters) Close(logs []*history.NodeLog) { c.logs = logs }

// Size returns how many messages and requests the trial has, by the counters of its nodes. It reads the
// stored history once, and keeps nothing of it.
func (p *Past) Size(ctx context.Context) (messages, requests uint64, err error) {
	h, err := p.open()
	if err != nil {
		return 0, 0, err
	}
	defer h.Close()
	var c counters
	if err := h.RunContext(ctx, &c); err != nil {
		return 0, 0, err
	}
	sum := history.Sum(c.logs)
	for _, k := range sum.Kinds {
		messages += k.Sent
	}
	return messages, sum.Requests, nil
}

// again simulates the trial again, and runs the events and messages through a fold.
func (p *Past) again(ctx context.Context, h *history.Reader, fold *spacetime.Fold) error {
	seed, err := p.seed()
	if err != nil {
		return err
	}
	same := &sameAs{stored: h}
	if err := p.SimulateAgain(ctx, seed, fold.Message, same, fold); err != nil {
		return err
	}
	if same.differs {
		return errors.New("its messages are not stored, and this version simulates it differently from the one " +
			"that made it: make it again, with --trace")
	}
	return nil
}

// Schedule simulates the trial again, and returns its steps: see replay.Recorder.
func (p *Past) Schedule(ctx context.Context) (*replay.Schedule, error) {
	seed, err := p.seed()
	if err != nil {
		return nil, err
	}
	return p.Job.Schedule(ctx, seed)
}

// seed returns the seed of the trial.
func (p *Past) seed() (uint64, error) {
	if p.Trial > len(p.run.Record.Trials) {
		return 0, errors.New("the run ended before this trial did: make it again")
	}
	return p.run.Record.Trials[p.Trial-1].Seed, nil
}

// A sameAs compares the events of a run with its stored history.
type sameAs struct {
	stored  *history.Reader
	differs bool
}

// Add implements history.Fold.
func (s *sameAs) Add(e history.Event) {
	var was history.Event
	if s.differs {
		return
	}
	more, err := s.stored.Next(&was)
	s.differs = err != nil || !more || was != e
}

// Close implements history.Fold.
func (s *sameAs) Close([]*history.NodeLog) {
	if more, err := s.stored.Next(new(history.Event)); more || err != nil {
		s.differs = true
	}
}

// Stall returns the report of the trial's stall, or nil if it did not stall.
func (p *Past) Stall() stall.Reports { return stallsOf(p.Folder)[p.Trial] }

// stallsOf returns the reports of stalls of a stored run, by trial. The result is empty if the verdicts
// cannot be read.
func stallsOf(folder *results.Folder) map[int]stall.Reports {
	var verdicts []check.Verdict
	stalls := map[int]stall.Reports{}
	if folder.ReadVerdicts(&verdicts) == nil {
		for i, v := range verdicts {
			stalls[i+1] = v.Stall
		}
	}
	return stalls
}

// An Overview describes a run in a list of runs: a row as in runs.csv, with the medians of the trials and the
// verdict of the run. This verdict is results.Unfinished if the run is not finished, and "" if it is unknown.
type Overview struct {
	Run     string        `csv:"run"` // name of the run, as set/run
	Started string        `csv:"started"`
	Trial   figure.Figure `csv:"trial"` // 1 if the run has one trial, otherwise unknown
	results.Row
	Trials      int    `csv:"trials"` // how many trials are on record
	TrialsAsked int    `csv:"trials_asked"`
	Problem     string `csv:"problem"` // why something is missing; empty: nothing is missing
}

// ReadOverview reads the overview of a run from its folder. It reports the first damage it finds as the
// problem, and reads the rest.
func ReadOverview(folder *results.Folder) *Overview {
	rows, wrongRows := folder.Rows()
	o := &Overview{Run: folder.Ref(), Row: results.Medians(rows)}
	if len(rows) == 1 {
		o.Trial = figure.Count(1)
	}
	var record Record
	wrong := folder.ReadYAML(&record)
	if wrong == nil {
		o.describe(&record)
		if errors.Is(wrongRows, fs.ErrNotExist) && len(record.Trials) == 0 {
			wrongRows = nil // no trial has ended yet
		}
	}
	switch err := cmp.Or(wrong, wrongRows); {
	case err != nil:
		o.Problem = err.Error()
	case record.hasChanged(folder, results.RowsFile):
		o.Problem = results.RowsFile + " was changed after it was written: verify names what differs"
	}
	return o
}

// describe fills in what run.yaml has.
func (o *Overview) describe(r *Record) {
	o.Started, o.Asked = r.Started.Format(time.RFC3339), r.asked()
	o.Version, o.Seed = r.Versions["turnstile"], r.Options.Seed
	o.Trials, o.TrialsAsked = len(r.Trials), r.Options.Trials
	if r.Unfinished() {
		o.Verdict = results.Unfinished
		return
	}
	worst := check.Valid
	if len(r.Trials) < max(1, r.Options.Trials) {
		worst = check.Inconclusive
	}
	for _, t := range r.Trials {
		outcome := outcomeOf(t.Verdict)
		if outcome > worst || outcome == worst && o.Reason == "" {
			o.Reason = t.Reason
		}
		worst = max(worst, outcome)
	}
	o.Verdict = worst.String()
}

// outcomeOf parses the verdict of a trial. If it is missing or unknown, the outcome is inconclusive.
func outcomeOf(verdict string) check.Outcome {
	outcome := check.Inconclusive
	if err := outcome.UnmarshalText([]byte(verdict)); err != nil {
		return check.Inconclusive
	}
	return outcome
}
