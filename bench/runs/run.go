package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/compare"
	"turnstile/bench/site"
	"turnstile/bench/trial"
	"turnstile/chaos"
	"turnstile/hosts/control"
	"turnstile/internal/english"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/stall"
	"turnstile/results"
)

// A Run is a run that has been made, or read back.
type Run struct {
	*bench.Job
	Folder *results.Folder
	Record Record
	Trials []*TrialResult
	// Unjudged are the trials of a reopened run whose histories cannot be read.
	Unjudged []Unjudged

	latencies results.Latencies
	digests   map[string]string // digests of the files as last saved, by name; nil: nothing was saved yet
	release   func() error      // marks that the run is no longer being made
}

// A TrialResult is the result of one trial. A run may have thousands, so it is small: a few kilobytes.
type TrialResult struct {
	Number int
	// Measures are nil unless this is the first trial of its run: they hold on to all that was counted.
	Measures  *measure.Measures
	Row       results.Row           // row of runs.csv, as stored
	Messages  []results.MessageRow  // rows of messages.csv, as stored
	Sizes     []results.SizeRow     // rows of sizes.csv, as stored
	Resources []results.ResourceRow // rows of resources.csv, as stored
	Faults    []results.FaultRow    // rows of faults.csv, as stored
	Timeline  []results.IntervalRow // rows of timeline.csv, as stored
	Beliefs   []results.BeliefRow   // rows of beliefs.csv, as stored
	Verdict   check.Verdict
	Trouble   string // why the trial ended early; empty: it did not
}

// Make makes a run, simulated or of real processes; measures and checks are the same. If it returns an error
// without a Run, nothing was started. Later errors come with the Run as far as it got, and its records saved.
func Make(ctx context.Context, j *bench.Job, s Setup) (*Run, error) {
	if j.Simulated {
		if _, _, err := j.Simulation(0, j.Seed); err != nil {
			return nil, err
		}
		r, err := s.begin(*j)
		if err != nil {
			return nil, err
		}
		return r, r.simulateAll(ctx, s)
	}
	reserved, err := site.Reserve(ctx, &s.Setup, j)
	if err != nil {
		return nil, err
	}
	r, err := s.begin(*j)
	if err != nil {
		reserved.Cancel()
		return nil, err
	}
	return r, r.make(ctx, s, reserved)
}

// begin makes the folder of a run and writes its record.
func (s *Setup) begin(j bench.Job) (*Run, error) {
	j.NATS = bench.WithoutCredential(j.NATS) // results may be published, so the credential is left out
	started := time.Now()
	folder, err := results.Create(s.Results, s.Set, cmp.Or(s.Name, runName(started, j.Options)), j.DiskSpace())
	if err != nil {
		return nil, err
	}
	record := Record{Format: results.RunFormat, Status: statusRunning, Options: j.Options,
		Simulated: j.Simulated, Started: started.Round(time.Millisecond).UTC(), Versions: s.Versions,
		Machine: results.ThisMachine(), Kinds: j.Stack.Codec().Names(), Sweep: s.Sweep}
	p := j.Placement()
	record.Places = p.All()
	if !j.Simulated {
		record.Before = results.LoadNow()
	}
	record.ID = record.identity()
	release, err := folder.Hold()
	if err != nil {
		return nil, err
	}
	if err := folder.WriteYAML(record); err != nil {
		return nil, errors.Join(err, release())
	}
	r := &Run{Job: &j, Folder: folder, Record: record, release: release}
	return r, results.SetLatest(s.Results, folder)
}

func runName(at time.Time, o bench.Options) string {
	return at.Format("20060102-150405-") + NameOf(o.Algorithm, o.Config.N)
}

// NameOf returns what the name of a run says it is about: an algorithm and a number of nodes. It has no
// spaces, so that no shell takes it for several words.
func NameOf(algorithm string, n int) string {
	return fmt.Sprintf("%s-n%d", strings.ReplaceAll(algorithm, " ", "-"), n)
}

// make makes the trials, one after the other, on one site.
func (r *Run) make(ctx context.Context, s Setup, reserved *site.Reservation) (err error) {
	defer func() { err = errors.Join(err, r.end()) }()
	// If the folder can have no socket, the run is made without one.
	requests, _ := control.NewServer(r.Folder.Path, trial.StartsLater)
	defer func() { err = errors.Join(err, requests.End(control.Reply{Refused: "the run is over"})) }()
	on, err := reserved.Open(ctx, r.Folder.Path)
	if err != nil {
		if ctx.Err() != nil {
			return trial.ErrInterrupted
		}
		return err
	}
	defer on.Close()
	for number := 1; number <= r.Options.Trials; number++ {
		t := &trial.Trial{Job: r.Job, Number: number, Seed: bench.TrialSeed(r.Seed, number),
			Origin: r.Record.origin(number), Dir: r.Folder.LogFolder(number), Site: on, Requests: requests,
			KeepFaults: func(all []chaos.Fault) error { return r.keepFaults(number, all) }, KeepFleet: r.keepFleet}
		if s.Progress != nil {
			t.Progress = func(p Progress) { p.Trial = number; s.Progress(p) }
		}
		requests.Close(trial.StartsLater)
		if err := r.makeTrial(ctx, t, s.OnTrial); err != nil {
			return err
		}
		if number < r.Options.Trials && t.HitServers() {
			if err := on.Service.Again(ctx); err != nil {
				return fmt.Errorf("starting the servers again: %w", err)
			}
		}
	}
	return nil
}

// makeTrial makes a trial. After an error, no other trial may follow.
func (r *Run) makeTrial(ctx context.Context, t *trial.Trial, onTrial func(*TrialResult)) error {
	if err := os.Mkdir(t.Dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of a trial: %w", err)
	}
	trouble := t.Run(ctx)
	t.Report(Progress{Phase: "judging", Done: 1})
	if err := r.finish(ctx, t, trouble); err != nil {
		return errors.Join(trouble, err)
	}
	stalled := errors.Is(trouble, trial.ErrStalled)
	if stalled { // after a stall, another trial may follow
		if err := t.Mend(); err != nil {
			return err
		}
	}
	if onTrial != nil {
		onTrial(r.Trials[len(r.Trials)-1])
	}
	if stalled {
		return nil
	}
	return trouble
}

// finish stores the history of a trial, and then judges it, unless the judging is interrupted. If the history
// cannot be stored, the logs stay, and are judged instead.
func (r *Run) finish(ctx context.Context, t *trial.Trial, trouble error) error {
	if errors.Is(trouble, trial.ErrInterrupted) { // judge what is there although ctx is done
		ctx = context.WithoutCancel(ctx)
	}
	record := TrialRecord{Seed: t.Seed, Started: t.Started().Round(time.Microsecond).UTC(),
		Faults: t.CameTo()}
	if trouble != nil && !errors.Is(trouble, trial.ErrStalled) { // the checks describe a stall better
		record.Trouble = trouble.Error()
	}
	r.Record.Trials = append(r.Record.Trials, record)
	var errs []error
	if err := history.Store(r.Folder.HistoryFile(t.Number), t.Dir); err != nil {
		errs = append(errs, err)
	} else if err := os.RemoveAll(t.Dir); err != nil {
		errs = append(errs, fmt.Errorf("removing the logs, which are stored: %w", err))
	}
	errs = append(errs, r.judge(ctx, t.Number, t.Stalled))
	err := r.save()
	return errors.Join(append(errs, err)...)
}

// Reopen reads a run from its folder, and judges its histories again. Trials that cannot be judged are listed
// in Unjudged. It returns an error if no trial can be judged.
func Reopen(ctx context.Context, known catalog.Table, folder *results.Folder) (*Run, error) {
	r := &Run{Folder: folder}
	if err := folder.ReadYAML(&r.Record); err != nil {
		return nil, err
	}
	var err error
	if r.Job, err = r.Record.job(known, folder); err != nil {
		return nil, err
	}
	count := len(folder.Histories())
	simulated := r.Record.Simulated
	switch {
	case count > 0 || len(r.Record.Trials) > 0:
	case simulated:
		return nil, fmt.Errorf("%s holds no history: a simulated run stores it when a trial ends, "+
			"and no trial has", folder.Path)
	default:
		return nil, fmt.Errorf("%s holds no history: the run ended before its first trial began", folder.Path)
	}
	if count < len(r.Record.Trials) {
		return nil, fmt.Errorf("%s lists a trial whose history is missing: %s",
			folder.File(results.RunFile), folder.HistoryFile(count+1))
	}
	if err := r.checkKinds(); err != nil {
		return nil, err
	}
	stalls, lost := stallsOf(folder), []error{}
	for number := 1; number <= count; number++ {
		for len(r.Record.Trials) < number { // the orchestrator was killed before it recorded the trial
			record := TrialRecord{Seed: bench.TrialSeed(r.Seed, number)}
			if !simulated { // a simulated trial is stored only once it is over
				record.Trouble = results.UnfinishedSays
			}
			r.Record.Trials = append(r.Record.Trials, record)
		}
		switch err := r.judge(ctx, number, stalls[number]); {
		case errors.Is(err, ErrNotJudged):
			return nil, err
		case err != nil:
			r.Unjudged, lost = append(r.Unjudged, Unjudged{number, err}), append(lost, err)
		}
	}
	if len(r.Trials) == 0 {
		return nil, errors.Join(lost...)
	}
	return r, nil
}

// checkKinds returns an error if the numbers of message kinds in the histories no longer mean the same kinds.
func (r *Run) checkKinds() error {
	if now := r.Stack.Codec().Names(); !slices.Equal(now, r.Record.Kinds) {
		return fmt.Errorf("%s lists the messages %s, but %s has %s: "+
			"this Turnstile cannot judge that run", r.Folder.File(results.RunFile),
			strings.Join(r.Record.Kinds, ", "), r.Spec.Name, strings.Join(now, ", "))
	}
	return nil
}

// ErrNotJudged is the error of a trial whose judging was interrupted. Its history is stored.
var ErrNotJudged = errors.New("interrupted while it was judged")

// judge reads the history of a trial, measures it and gives the verdict. Reports of a stall are not in the
// history, so they are passed in.
func (r *Run) judge(ctx context.Context, number int, stalled stall.Reports) error {
	h, err := r.Folder.History(number)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := r.checkOrigin(number, h.Header); err != nil {
		return err
	}
	j := r.judgement(h.Header, number)
	var c counters
	switch err := h.RunContext(ctx, j, &c); {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("trial %d: %w", number, ErrNotJudged)
	case err != nil:
		return err
	}
	r.ask(stalled, c.logs, &j)
	r.conclude(number, j, stalled)
	return nil
}

// ask completes the report of a stall of foreign programs by their messages. After a violation these are not
// recorded.
func (r *Run) ask(stalled stall.Reports, logs []*history.NodeLog, j *bench.Judgement) {
	if len(stalled) == 0 || !foreign.Speaks(r.Config) || foreign.Silent(r.Config) ||
		j.Checks.Verdict().Violations > 0 {
		return
	}
	kinds := r.Spec.Messages
	stalled[0].Ask(logs, func(m history.MessageRecord, t history.Text) string {
		if m.Instance != 0 || int(m.Kind) >= len(kinds) || kinds[m.Kind].Heartbeat {
			return ""
		}
		return cmp.Or(t.Type, kinds[m.Kind].Name)
	})
}

// judgement returns a fold for a trial, given the header of its history.
func (r *Run) judgement(h history.Header, number int) bench.Judgement {
	return r.Judge(h, r.Setting(r.faults(number)))
}

// conclude adds a judged trial to the run.
func (r *Run) conclude(number int, j bench.Judgement, stalled stall.Reports) {
	record, m := &r.Record.Trials[number-1], &j.Measures.Measures
	j.Lead()
	t := &TrialResult{Number: number, Trouble: record.Trouble, Verdict: j.Checks.Verdict()}
	if t.Trouble != "" && t.Verdict.Outcome != check.Violated { // the checks saw only a part of the trial
		t.Verdict.Outcome, t.Verdict.Reason = check.Inconclusive, t.Trouble
		if missing := j.Checks.Missing(); t.Trouble == results.UnfinishedSays && len(missing) > 0 {
			t.Verdict.Reason = strings.Join(missing, ", ") + "; " + t.Trouble // name the nodes without a log
		}
	}
	t.Verdict.Stall = stalled
	record.Verdict, record.Reason = t.Verdict.Outcome.String(), t.Verdict.Reason
	t.Row = results.AsStored([]results.Row{r.row(t, m)})[0]
	r.divide(t, m)
	r.measureFaults(t, j.OfFaults, m.Leaders)
	r.ledger(t, j)
	r.latencies.Add(number, record.Started.Add(time.Duration(m.Window.From)),
		time.Duration(m.Window.Length()), m.Histograms())
	if len(r.Trials) == 0 {
		t.Measures = m
	}
	r.Trials = append(r.Trials, t)
}

// A Setup says where a run finds its programs and puts its results.
type Setup struct {
	site.Setup
	Results  string             // the folder of all result sets
	Set      string             // the set that the run belongs to
	Name     string             // name of the run's folder; empty: time, algorithm and number of nodes
	Sweep    *SweepRun          // place of the run in a sweep; nil: the run belongs to no sweep
	Progress func(Progress)     // called while the run is being made; may be nil
	OnTrial  func(*TrialResult) // called when a trial is over; may be nil
}

// Progress describes how far a trial has got.
type Progress = trial.Progress

// StoredTrials returns the trials stored in the folders of runs, in the order of the folders, to compare
// them. If a run is damaged, or was changed after it was written, StoredTrials reports that to damaged, and
// returns what can be read of the run.
func StoredTrials(known catalog.Table, folders []*results.Folder, damaged func(*results.Folder, error)) (
	all []compare.Observation) {
	trials, errs := make([][]compare.Observation, len(folders)), make([]error, len(folders))
	var group sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(folders)); i = next.Add(1) - 1 {
				trials[i], errs[i] = trialsOf(known, folders[i])
			}
		})
	}
	group.Wait()
	told := false // a LackError was reported; the other runs of a published set mostly have the same error
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

// trialsOf returns the trials of one run that can be read, and what is wrong.
func trialsOf(known catalog.Table, folder *results.Folder) ([]compare.Observation, error) {
	if folder.Joined() {
		return joinedTrials(known, folder)
	}
	var record Record
	wrong := folder.ReadYAML(&record)
	machine := ""
	if wrong == nil {
		machine = MachineText(record.Machine)
		if err := record.CheckRows(folder); err != nil {
			return nil, err
		}
	}
	rows, err := folder.Rows(known.OptionNames()...)
	if wrong == nil && record.Unfinished() && errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New(results.UnfinishedSays)
	}
	trials := make([]compare.Observation, len(rows))
	for i := range rows {
		trials[i] = compare.Observation{Row: rows[i], Machine: machine, Started: record.Started}
		trials[i].Run = folder.Name() // the folder may have been renamed
	}
	return trials, errors.Join(wrong, err)
}

// joinedTrials returns the trials of a run with joined tables. It takes the machine from the recorded command
// of the same version.
func joinedTrials(known catalog.Table, folder *results.Folder) ([]compare.Observation, error) {
	rows, err := folder.Rows(known.OptionNames()...)
	all := make([]compare.Observation, len(rows))
	for i := range rows {
		all[i] = compare.Observation{Row: rows[i]}
		if m, is := folder.MadeOn(rows[i].Version); is {
			all[i].Machine = MachineText(m)
		}
	}
	return all, err
}

// CheckRows returns an error if the run's table of trials was changed after it was written.
func (r *Record) CheckRows(folder *results.Folder) error {
	if r.hasChanged(folder, results.RowsFile) {
		return fmt.Errorf("%s was changed after it was written, so it is left out: verify names what differs",
			results.RowsFile)
	}
	return nil
}

// MachineText describes a machine.
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
