package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"turnstile/bench/cluster"
	"turnstile/bench/control"
	"turnstile/chaos"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/history"
	"turnstile/nodes/stall"
	"turnstile/results"
)

// A Run is a run that has been made, or read back.
type Run struct {
	*Job
	Folder *results.Folder
	Record Record
	Trials []*Trial
	// Unjudged are the trials of a run that was reopened whose histories cannot be read.
	Unjudged []Unjudged

	digests map[string]string // of the files that were saved last; nil: none were
	release func() error      // says that the run goes on no more
}

// A Trial is what came of one trial.
type Trial struct {
	Number   int
	Measures *measure.Measures
	Row      results.Row           // of runs.csv, as it is stored
	Faults   []results.FaultRow    // of faults.csv, as they are stored
	Timeline []results.IntervalRow // of timeline.csv, as they are stored
	Beliefs  []results.BeliefRow   // of beliefs.csv, as they are stored
	Verdict  check.Verdict
	Trouble  string // why it ended early, if it did
}

// Make makes a run, simulated or of real processes; measures and checks are the same. An error without a Run
// means that nothing was started. Later errors come with the Run as far as it got, its records saved.
func Make(ctx context.Context, j *Job, s Setup) (*Run, error) {
	if err := s.ready(j); err != nil {
		return nil, err
	}
	if j.Hosts > 0 && s.Control != "" && !j.Simulated {
		var err error
		if s.site, err = s.muster(ctx, nil, j, ""); err != nil {
			return nil, err
		}
	}
	r, err := s.begin(*j)
	switch {
	case err != nil && s.site != nil:
		s.site.fleet.close()
		return nil, err
	case err != nil:
		return nil, err
	case j.Simulated:
		return r, r.simulateAll(ctx, s)
	}
	return r, r.make(ctx, s, j.NATS)
}

// begin makes the folder of a run and writes its record.
func (s *Setup) begin(j Job) (*Run, error) {
	j.NATS = WithoutCredential(j.NATS) // results are there to be published
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

// WithoutCredential returns the URLs of NATS servers without their credentials.
func WithoutCredential(urls string) string {
	if urls == "" {
		return ""
	}
	all := strings.Split(urls, ",")
	for i, url := range all {
		scheme, host, found := strings.Cut(url, "://")
		if !found {
			scheme, host = "nats", url
		}
		all[i] = scheme + "://" + host[strings.LastIndex(host, "@")+1:]
	}
	return strings.Join(all, ",")
}

func runName(at time.Time, o Options) string {
	return fmt.Sprintf("%s-%s-n%d", at.Format("20060102-150405"), o.Algorithm, o.Config.N)
}

// make makes the trials, one after the other, with the same brokers: the given server, or the run's own.
func (r *Run) make(ctx context.Context, s Setup, server string) (err error) {
	defer func() { err = errors.Join(err, r.end()) }()
	// A run whose folder can have no socket goes on without.
	requests, _ := control.NewServer(r.Folder.Path, startsLater)
	defer func() { err = errors.Join(err, requests.End(control.Reply{Refused: "the run is over"})) }()
	launcher := cluster.NewLauncher()
	at := s.site
	switch {
	case at != nil:
	case r.Hosts > 0:
		if at, err = s.muster(ctx, launcher, r.Job, r.Folder.Path); err != nil {
			return err
		}
	default:
		at = s.here(launcher)
	}
	if at.fleet != nil {
		defer at.fleet.close()
	}
	carrier := &transport{server: server, site: at}
	defer func() { carrier.close() }()
	err = carrier.serve(ctx, &s, launcher, r.Job)
	if err == nil {
		err = carrier.launch(ctx, r.Job)
	}
	if err == nil {
		err = carrier.service.start(ctx, carrier.proxies, r.Job)
	}
	if err != nil {
		if ctx.Err() != nil {
			return errInterrupted
		}
		return err
	}
	for number := 1; number <= r.Options.Trials; number++ {
		t := &trial{Job: r.Job, number: number, seed: TrialSeed(r.Seed, number), origin: r.Record.origin(number),
			dir: r.Folder.LogFolder(number), startNode: at.starter(r.Job), transport: carrier,
			requests: requests, keepFaults: func(all []chaos.Fault) error { return r.keepFaults(number, all) },
			keepFleet: r.keepFleet}
		requests.Close(startsLater)
		if s.Progress != nil {
			t.progress = func(p Progress) { p.Trial = number; s.Progress(p) }
		}
		if err := os.Mkdir(t.dir, 0o755); err != nil {
			return fmt.Errorf("making the folder of a trial: %w", err)
		}
		trouble := t.run(ctx)
		t.report(Progress{Phase: "judging", Done: 1})
		if err := r.finish(ctx, t, number, trouble); err != nil {
			return errors.Join(trouble, err)
		}
		if errors.Is(trouble, errStalled) { // another trial may follow
			if err := t.faults.driver.Mend(); err != nil {
				return err
			}
		}
		if s.OnTrial != nil {
			s.OnTrial(r.Trials[len(r.Trials)-1])
		}
		if trouble != nil && !errors.Is(trouble, errStalled) {
			return trouble
		}
		if number < r.Options.Trials && chaos.OfServers(t.faults.all) { // some may be down, or promoted
			if err := carrier.service.servers.Again(ctx); err != nil {
				return fmt.Errorf("starting the servers again: %w", err)
			}
		}
	}
	return nil
}

// finish saves what a trial recorded, and then judges it, unless that is interrupted. If it cannot be saved,
// the logs stay, and are judged instead.
func (r *Run) finish(ctx context.Context, t *trial, number int, trouble error) error {
	if errors.Is(trouble, errInterrupted) { // so ctx is done, which is no reason not to judge what there is
		ctx = context.WithoutCancel(ctx)
	}
	record := TrialRecord{Seed: t.seed, Started: t.started.Round(time.Microsecond).UTC(),
		Faults: t.faults.cameTo()}
	if trouble != nil && !errors.Is(trouble, errStalled) { // the checks say more about a stall
		record.Trouble = trouble.Error()
	}
	r.Record.Trials = append(r.Record.Trials, record)
	var errs []error
	if err := history.Store(r.Folder.HistoryFile(number), t.dir); err != nil {
		errs = append(errs, err)
	} else if err := os.RemoveAll(t.dir); err != nil {
		errs = append(errs, fmt.Errorf("removing the logs, which are stored: %w", err))
	}
	errs = append(errs, r.judge(ctx, number, t.stall))
	err := r.save()
	return errors.Join(append(errs, err)...)
}

// Reopen reads a run from its folder, and judges its histories again. It is an error if none of them can be
// judged; those that cannot are in Unjudged.
func Reopen(ctx context.Context, folder *results.Folder) (*Run, error) {
	r := &Run{Folder: folder}
	if err := folder.ReadYAML(&r.Record); err != nil {
		return nil, err
	}
	var err error
	if r.Job, err = r.Record.job(folder); err != nil {
		return nil, err
	}
	count := len(folder.Histories())
	simulated := r.Record.Simulated
	switch {
	case count > 0 || len(r.Record.Trials) > 0:
	case simulated:
		return nil, fmt.Errorf("%s holds no history: a simulated run keeps those of trials that have ended, "+
			"and none has", folder.Path)
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
		for len(r.Record.Trials) < number { // its orchestrator was killed
			record := TrialRecord{Seed: TrialSeed(r.Seed, number)}
			if !simulated { // then the trial was over
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

// checkKinds checks whether the numbers of kinds in the histories still mean the same.
func (r *Run) checkKinds() error {
	if now := r.Stack.Codec().Names(); !slices.Equal(now, r.Record.Kinds) {
		return fmt.Errorf("%s lists the messages %s, and those of %s are %s: "+
			"this Turnstile cannot judge that run", r.Folder.File(results.RunFile),
			strings.Join(r.Record.Kinds, ", "), r.Spec.Name, strings.Join(now, ", "))
	}
	return nil
}

// ErrNotJudged is the error of a trial whose judgement was interrupted. Its history is stored.
var ErrNotJudged = errors.New("interrupted while it was judged")

// judge reads the history of a trial, measures it and gives the verdict. The stall is not in the history.
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
	switch err := h.RunContext(ctx, j); {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("trial %d: %w", number, ErrNotJudged)
	case err != nil:
		return err
	}
	r.conclude(number, j, stalled)
	return nil
}

// judgement returns a fold for a trial whose history has the header h.
func (r *Run) judgement(h history.Header, number int) judgement {
	return r.judgementOf(h, r.setting(r.faults(number)))
}

// conclude adds a trial that has been judged.
func (r *Run) conclude(number int, j judgement, stalled stall.Reports) {
	record := &r.Record.Trials[number-1]
	j.lead()
	t := &Trial{Number: number, Trouble: record.Trouble, Measures: &j.measures.Measures,
		Verdict: j.checks.Verdict()}
	if t.Trouble != "" && t.Verdict.Outcome != check.Violated { // it may have left what nobody has checked
		t.Verdict.Outcome, t.Verdict.Reason = check.Inconclusive, t.Trouble
		if missing := j.checks.Missing(); t.Trouble == results.UnfinishedSays && len(missing) > 0 {
			t.Verdict.Reason = strings.Join(missing, ", ") + "; " + t.Trouble // what it did is in the logs
		}
	}
	t.Verdict.Stall = stalled
	record.Verdict, record.Reason = t.Verdict.Outcome.String(), t.Verdict.Reason
	t.Row = results.AsStored([]results.Row{r.row(t)})[0]
	r.measureFaults(t, j.faults)
	r.ledger(t, j)
	r.Trials = append(r.Trials, t)
}
