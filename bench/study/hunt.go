package study

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"turnstile/bench"
	"turnstile/bench/plans"
	"turnstile/bench/runs"
	"turnstile/bench/service"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/ddmin"
	"turnstile/internal/figure"
	"turnstile/internal/input"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/results"
)

// A Hunt looks for unknown failures of services: it draws plans and options, makes a run of real processes
// for each, and judges it by what the documentation of the service promises. It continues its journal if it
// was interrupted.
type Hunt struct {
	Experiment
	Services []string // names of services, which take turns
	Plans    int
	First    int           // the number of the first plan, from 0
	Limit    time.Duration // no plan begins after this time; 0: no limit
	Workers  int           // how many runs are made in parallel
	Tries    int           // how many runs shrinking a finding may take; 0: findings are not shrunk
	// Known are the lines of known failures to look for; nil: the hunt looks for unknown ones. A service is left
	// alone once all its lines are found.
	Known []*ServiceLine
	// Client is the command of a client of the user's own, which replaces the client of the one service; empty:
	// none. Digest is the digest of the files that the command names.
	Client, Digest string
	// Draws returns the options that are drawn for a service, and Subject the service with options. Command
	// returns the command that repeats a job; plan is the file of its faults, or empty.
	Draws   func(service string) []service.Draw
	Subject func(ctx context.Context, service string, words []string, nodes int) (*ServiceSubject, error)
	Command func(j *bench.Job, plan string) string
	// Told is called after each run, from one goroutine at a time.
	Told func(done int, one *Hunted)
	// Done has the plans that were run, by number.
	Done map[int]*Hunted

	file *os.File
	mu   sync.Mutex
	err  error // first error of writing the journal
}

// huntLimit is the longest time for one run. No run that ended took half as long.
const huntLimit = 4 * time.Minute

var errEndless = fmt.Errorf("the run has not ended within %v", huntLimit)

// Read reads the journal. It returns an error if the journal is of another hunt.
func (h *Hunt) Read() error { return h.read() }

// Run makes the runs that the journal lacks. If ctx is done, it returns the error of ctx.
func (h *Hunt) Run(ctx context.Context) error {
	if err := h.open(); err != nil {
		return err
	}
	defer h.file.Close()
	var left []int
	for number := h.First; number < h.First+h.Plans; number++ {
		if h.Done[number] == nil {
			left = append(left, number)
		}
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	began := time.Now()
	pool(within, max(1, h.Workers), len(left), func(i int) {
		if h.Limit > 0 && time.Since(began) > h.Limit {
			return
		}
		if !h.sought(h.Services[left[i]%len(h.Services)]) {
			return
		}
		if one := h.one(within, left[i]); within.Err() == nil {
			h.keep(one)
		}
		if h.failed() != nil {
			stop()
		}
	})
	if err := cmp.Or(h.err, ctx.Err()); err != nil || h.Tries == 0 {
		return err
	}
	return cmp.Or(h.shrinkAll(ctx), h.err, ctx.Err())
}

// keep records the result of a plan.
func (h *Hunt) keep(one *Hunted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Done[one.Plan] = one
	h.err = cmp.Or(h.err, h.write(one))
	if h.Told != nil {
		h.Told(len(h.Done), one)
	}
}

// fail keeps the first error of writing, which ends the study, and failed returns it.
func (h *Hunt) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = cmp.Or(h.err, err)
}

func (h *Hunt) failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// one draws the plan with a number and makes its run.
func (h *Hunt) one(ctx context.Context, number int) *Hunted {
	l, j, err := h.draw(ctx, number)
	if err != nil {
		return &Hunted{Plan: number, Service: h.Services[number%len(h.Services)], Class: HuntFinding,
			About: huntUnmade, Says: err.Error()}
	}
	one := h.try(ctx, fmt.Sprintf("plan-%04d", number), l, j)
	one.Plan = number
	return one
}

// try makes a run. It keeps the folder if the run is a finding, or would be one on an idle machine.
func (h *Hunt) try(ctx context.Context, name string, l *ServiceLine, j *bench.Job) *Hunted {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, huntLimit)
	defer cancel()
	late := sleepBeside(limited)
	beside := h.Experiment
	beside.Setup.Progress = func(p runs.Progress) {
		if p.Phase == "measuring" {
			late.counts.Store(true)
		}
	}
	made := beside.once(limited, &Case{Job: j, Stored: true, Name: name})
	r, err := made.run, made.Err
	if results.Unwritable(err) {
		h.fail(err)
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = errors.Join(errEndless, err)
	}
	one := &Hunted{Service: l.Service, With: l.With, Faults: l.FaultTexts(), Load: l.loadText()}
	longest := late.end()
	one.Class, one.About, one.Says = judgeHunt(r, err, longest)
	would := one.Class == HuntFinding || one.Class == HuntBusy
	if known := h.documented(l, r, one.About); would && known != nil {
		one.Class, one.Says = HuntOutside, fmt.Sprintf("%s (a known failure of these options: %s)", one.Says,
			known.Key())
	}
	one.Seconds, one.LateMS = time.Since(began).Seconds(), float64(longest)/1e6
	if r == nil {
		return one
	}
	if len(r.Trials) > 0 {
		one.Refused = valueOf(r.Trials[0].Row.RefusedFree)
		one.Missed = r.Trials[0].Verdict.Misses
		one.Story = storyOf(r.Trials[0], one)
	}
	one.Found = h.recall(ctx, name, l, r)
	if ctx.Err() != nil || one.Class != HuntFinding && one.Class != HuntBusy {
		h.discard(r)
		one.Story = nil
		return one
	}
	one.Folder = r.Folder.Ref()
	h.describe(one, l, j, r.Folder)
	return one
}

// discard removes the folder of a run.
func (h *Hunt) discard(r *runs.Run) {
	if err := os.RemoveAll(r.Folder.Path); err != nil {
		h.fail(err)
	}
}

// describe writes the faults of a finding into its folder, and sets the command that repeats the run.
func (h *Hunt) describe(one *Hunted, l *ServiceLine, j *bench.Job, folder *results.Folder) {
	plan := ""
	if len(l.Faults) > 0 {
		s := plans.Shrunk{Reason: one.Says, Faults: l.Faults, From: len(l.Faults)}
		text, err := s.File()
		if err == nil {
			err = folder.WriteText(huntPlan, text)
		}
		if err != nil {
			one.Says += fmt.Sprintf("; its plan could not be written: %v", err)
			return
		}
		plan = folder.File(huntPlan)
	}
	one.Command = h.Command(j, plan)
}

// huntPlan is the file with the faults of a finding, in the folder of its run.
const huntPlan = "plan.yaml"

func valueOf(f figure.Figure) float64 {
	x, _ := f.Value()
	return x
}

// storyOf tells what happened in a run: its faults, and the finding with its witness.
func storyOf(t *runs.TrialResult, one *Hunted) (lines []string) {
	for i := range t.Verdict.Findings {
		f := &t.Verdict.Findings[i]
		switch {
		case f.About() == check.AboutFaults:
			lines = slices.Concat(f.Witness, lines)
		case f.Check == one.About:
			lines = append(append(lines, f.Says), f.Witness...)
		}
	}
	return lines
}

// A sleeper sleeps for short times beside a run. By how much its longest sleep was too long, other processes
// may not have run either.
type sleeper struct {
	stop   context.CancelFunc
	counts atomic.Bool // the run is measured: earlier sleeps do not count
	over   chan time.Duration
}

// sleepBeside starts a sleeper.
func sleepBeside(ctx context.Context) *sleeper {
	const nap = 5 * time.Millisecond
	ctx, cancel := context.WithCancel(ctx)
	s := &sleeper{stop: cancel, over: make(chan time.Duration)}
	go func() {
		longest, measured := time.Duration(0), false
		for ctx.Err() == nil {
			began := time.Now()
			time.Sleep(nap)
			if s.counts.Load() && !measured { // this sleep may have been late in the measurement
				longest, measured = 0, true
			}
			longest = max(longest, time.Since(began)-nap)
		}
		s.over <- longest
	}()
	return s
}

// end ends the sleeper, and returns by how much its longest sleep was too long.
func (s *sleeper) end() time.Duration {
	s.stop()
	return <-s.over
}

// HuntFile is the journal of a hunt, in the folder of its set. Its first line has the flags of the hunt, and
// each further line has the result of a plan. The lines are JSON.
const HuntFile = "services.jsonl"

// A huntHeader is the first line of a journal: the flags of the hunt.
type huntHeader struct {
	Seed     uint64   `json:"seed"`
	Services []string `json:"services"`
	Known    bool     `json:"known,omitempty"`
	Client   string   `json:"client,omitempty"`
	Digest   string   `json:"digest,omitempty"`
}

func (h *Hunt) header() huntHeader {
	return huntHeader{h.Seed, h.Services, h.Known != nil, h.Client, h.Digest}
}

// String returns the flags of the hunt.
func (h huntHeader) String() string {
	text := fmt.Sprintf("--seed %d and --only %s", h.Seed, strings.Join(h.Services, ","))
	if h.Known {
		text += " and --known"
	}
	if h.Client != "" {
		text += fmt.Sprintf(" and --client %q", h.Client)
	}
	return text
}

// A Hunted is the result of a plan.
type Hunted struct {
	Plan    int         `json:"plan"` // number of the plan, from 0
	Service string      `json:"service"`
	With    []string    `json:"with,omitempty"`
	Faults  []string    `json:"faults,omitempty"` // the faults as text
	Load    string      `json:"load,omitempty"`   // the load, and how long the run was measured
	Class   HuntClass   `json:"class"`
	About   string      `json:"about,omitempty"` // the check that has the finding, or what else it is about
	Says    string      `json:"says,omitempty"`
	Story   []string    `json:"story,omitempty"`  // what happened, line by line
	Folder  string      `json:"folder,omitempty"` // folder of the run, if it is kept
	Command string      `json:"command,omitempty"`
	Seconds float64     `json:"seconds"`
	LateMS  float64     `json:"late_ms"`           // by how much the longest sleep beside the run was too long
	Found   []HuntFound `json:"found,omitempty"`   // known failures that the run shows
	Refused float64     `json:"refused,omitempty"` // tries that were refused though nobody was inside
	Missed  []string    `json:"missed,omitempty"`  // the faults that hit nothing
	// Shrunk is the result of the plan of a finding after shrinking. A plan that was shrunk has two lines in
	// the journal; only the second has Shrunk.
	Shrunk *Hunted `json:"shrunk,omitempty"`
	Shown  string  `json:"shown,omitempty"` // how often the finding was reproduced
}

// path returns the path of the journal.
func (h *Hunt) path() string { return filepath.Join(h.Setup.Results, h.Setup.Set, HuntFile) }

// read reads the journal, if it exists. It ignores an incomplete last line.
func (h *Hunt) read() error {
	h.Done = map[int]*Hunted{}
	text, err := input.ReadFile(h.path(), input.TableLimit)
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
			if head.String() != h.header().String() {
				return fmt.Errorf("%s has %v: give the same, or another --set", h.path(), head)
			} else if head.Digest != h.Digest {
				return fmt.Errorf("%s is of the client before its files were changed: give another --set", h.path())
			}
			continue
		}
		var one Hunted
		if err := json.Unmarshal(line, &one); err != nil {
			return fmt.Errorf("%s, line %d: %w", h.path(), number+1, err)
		}
		h.Done[one.Plan] = &one // a later line replaces an earlier one
	}
	return nil
}

// open opens the journal to append to it. It removes an incomplete last line.
func (h *Hunt) open() (err error) {
	if err = os.MkdirAll(filepath.Dir(h.path()), 0o755); err != nil {
		return err
	}
	text, err := input.ReadFile(h.path(), input.TableLimit)
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
		return h.write(h.header())
	}
	return nil
}

// write appends a line.
func (h *Hunt) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(h.file)
	w.Write(append(line, '\n'))
	return w.Flush()
}

// A HuntClass is the kind of result of a plan.
type HuntClass string

// The classes. A busy run would be a finding on an idle machine: on an overloaded machine, clients or servers
// may have been suspended without an event that shows it. Or runs of it alone did not show the finding again.
const (
	HuntValid        HuntClass = "valid"
	HuntOutside      HuntClass = "outside the model"
	HuntInconclusive HuntClass = "inconclusive"
	HuntBusy         HuntClass = "busy"
	HuntFinding      HuntClass = "finding"
)

// What a finding may be about, besides a check.
const (
	huntUnmade  = "not made" // the run could not be made
	huntEndless = "endless"  // the run did not end in time
	huntEnded   = "ended"    // the run ended early: a client or a program of the testbed died
	huntFences  = "fences"   // a lower fence number was handed out after a higher one
	// two led at once, in different terms: the check of this name does not count that while a fault lasts
	huntLeaders = "leaders"
)

// late is how much too long a sleep beside a run must be for the run to count as busy.
const late = 100 * time.Millisecond

// judgeHunt classifies a run. Slept is by how much the longest sleep beside it was too long.
func judgeHunt(r *runs.Run, made error, slept time.Duration) (class HuntClass, about, says string) {
	busy := func(about, says string) (HuntClass, string, string) {
		switch {
		case slept > late:
			return HuntBusy, about, fmt.Sprintf("%s; the machine was overloaded: a sleep ended %v late", says,
				slept.Round(time.Millisecond))
		case about != huntEnded && r != nil && len(r.Trials) > 0 && r.Trials[0].Row.CPUBound():
			return HuntBusy, about, says + "; the processors were busy"
		}
		return HuntFinding, about, says
	}
	switch {
	case errors.Is(made, errEndless):
		return busy(huntEndless, made.Error())
	case r == nil || len(r.Trials) == 0:
		return busy(huntUnmade, fmt.Sprintf("it could not be made: %v", made))
	}
	t := r.Trials[0]
	if t.Trouble != "" {
		return busy(huntEnded, t.Trouble)
	}
	if f := worstInside(t, r.Record.Trials[0].Faults != nil, tookFromWaiters(r), idles(r)); f != nil {
		return busy(f.Check, f.Says)
	}
	if says := fencesFell(r); says != "" && t.Verdict.Outcome != check.Violated {
		return classOfFencesFell(brokenBy(r), r.Spec.SafeIn(r.Config)), huntFences, says
	}
	worst, led := t.Verdict.Worst(), findingOf(t, huntLeaders)
	switch {
	case !worst.Doubted && r.Spec.Leadership().Overlap == nil && led.Together > told+slept:
		return busy(huntLeaders, fmt.Sprintf("%s; for %v its assumptions held", led.Says, led.Together))
	case t.Verdict.Outcome == check.Valid:
		return HuntValid, "", ""
	case worst.OutsideModel:
		return HuntOutside, worst.Check, worst.Says
	case worst.Doubted: // the finding is doubted, mostly since processes waited for a CPU
		return HuntBusy, worst.Check, worst.Says
	}
	return HuntInconclusive, worst.Check, worst.Says
}

// told is how long two leaders may seem to overlap on an idle machine, which may read the line of the old
// leader after that of the new one. A service that publishes a time for a take-over has that time instead.
const told = 10 * time.Millisecond

// findingOf returns the finding of a check; none: an empty finding.
func findingOf(t *runs.TrialResult, name string) (f check.Finding) {
	for _, f := range t.Verdict.Findings {
		if f.Check == name {
			return f
		}
	}
	return f
}

// idles reports whether nobody entered for longer than a service may need while a fault lasts. No time is
// published for servers that stand still while their connections stay open: they get the grace.
func idles(r *runs.Run) bool {
	frozen, silence := false, 0.0
	for i := range r.Record.Trials[0].Faults {
		k := effect.KindOf(r.Record.Trials[0].Faults[i].Effect)
		frozen = frozen || k.Stops && k.Role == port.Server
	}
	for i := range r.Trials[0].Faults {
		silence = max(silence, valueOf(r.Trials[0].Faults[i].SilenceS))
	}
	return !frozen || silence > r.Spec.GraceOf(r.Config).Seconds()
}

// worstInside returns a finding that the service is to blame for, or nil: a promise was broken though all its
// assumptions held; nobody entered for too long during a fault that broke no assumption (idles); nobody
// entered after the end of faults that broke no assumption but NoAmnesia and NoLoss; or two were inside
// though an operator took nothing but what clients had that waited (taken), so nothing of a client inside.
func worstInside(t *runs.TrialResult, faults, taken, idles bool) *check.Finding {
	for i := range t.Verdict.Findings {
		f := &t.Verdict.Findings[i]
		stalled := f.Expected && faults && f.Broken != 0 && f.Broken&^(nodes.NoAmnesia|nodes.NoLoss) == 0
		beside := taken && f.Outcome == check.Violated && f.Broken == nodes.NoAmnesia
		if f.Outcome == check.Violated && !f.OutsideModel || stalled || beside || f.Idle && idles {
			return f
		}
	}
	return nil
}

// classOfFencesFell classifies a falling fence number, given the assumptions that faults broke, and
// the assumptions of the service. A service that lost its data may have lost the number too.
func classOfFencesFell(broken, rests nodes.Assumption) HuntClass {
	if broken&(rests|nodes.NoAmnesia) != 0 {
		return HuntOutside
	}
	return HuntFinding
}

// brokenBy returns the assumptions that the faults of a run break.
func brokenBy(r *runs.Run) (broken nodes.Assumption) {
	for _, t := range r.Record.Trials {
		for i := range t.Faults {
			broken |= t.Faults[i].Breaks()
		}
	}
	return broken
}

// A takenFold finds out whether an operator took a key or a session from a client that was inside, or from a
// leader. It takes a client for inside that enters within tooSoon, or next if nobody was inside: the servers
// may have granted it the lock before.
type takenFold struct {
	faults []chaos.Fault
	taken  map[nodes.ID]int64 // when, by client; it has not entered since
	free   map[nodes.ID]bool  // nobody was inside then, nor has been since
	in     map[nodes.ID]bool  // is inside, or leads
	had    bool               // such a client was inside
}

func newTakenFold(faults []chaos.Fault) *takenFold {
	return &takenFold{faults: faults, taken: map[nodes.ID]int64{}, free: map[nodes.ID]bool{},
		in: map[nodes.ID]bool{}}
}

// tooSoon bounds how long the fault of an operator may take effect after its event.
const tooSoon = int64(50 * time.Millisecond)

// Add implements history.Fold.
func (f *takenFold) Add(e history.Event) {
	switch e.Kind {
	case history.FaultBegan:
		for _, victim := range victims(&f.faults[e.Count-1], nodes.ID(e.Entry)-1) {
			f.taken[victim], f.free[victim] = e.At, len(f.in) == 0
			f.had = f.had || f.in[victim]
		}
	case history.Entered:
		f.begins(e)
	case history.Elected:
		if e.Count != uint32(e.Node) {
			delete(f.in, e.Node)
			return
		}
		f.begins(e)
	case history.Exited, history.Revoked, history.Crashed:
		delete(f.in, e.Node)
	}
}

// begins handles an event after which a client is inside or a node leads.
func (f *takenFold) begins(e history.Event) {
	at, taken := f.taken[e.Node]
	f.had = f.had || taken && (e.At-at < tooSoon || f.free[e.Node])
	delete(f.taken, e.Node)
	clear(f.free)
	f.in[e.Node] = true
}

// Close implements history.Fold.
func (f *takenFold) Close([]*history.NodeLog) {}

// victims returns the clients whose keys or sessions an operator takes by a fault. The fault names them, or
// the run has chosen the client byRun. Other faults have no victims here.
func victims(f *chaos.Fault, byRun nodes.ID) nodes.Group {
	switch f.Effect.(type) {
	case *effect.Delete, *effect.Expire:
		if f.ByRun() {
			return nodes.Group{byRun}
		}
		return effect.TargetOf(f.Effect).List
	}
	return nil
}

// tookFromWaiters reports whether the faults of a run that break NoAmnesia took something from clients that
// waited. It returns false if no fault does, or if clients have no keys of their own while they wait.
func tookFromWaiters(r *runs.Run) bool {
	faults, took := r.Record.Trials[0].Faults, false
	if r.Job == nil || !r.Servers.Queues {
		return false
	}
	for i := range faults {
		f := &faults[i]
		if f.Breaks()&nodes.NoAmnesia == 0 {
			continue
		}
		if took = victims(f, nodes.None) != nil; !took {
			return false
		}
	}
	f := newTakenFold(faults)
	return took && readHistory(r, f) && !f.had
}

// readHistory passes the history of a run to a fold, and reports whether it could be read.
func readHistory(r *runs.Run, f history.Fold) bool {
	reader, err := r.Folder.History(1)
	if err != nil {
		return false
	}
	defer reader.Close()
	return reader.Run(f) == nil
}

// A fenceFold finds a falling fence number.
type fenceFold struct {
	highest, by history.Event
	says        string
}

// Add implements history.Fold.
func (f *fenceFold) Add(e history.Event) {
	if e.Kind != history.Entered || e.Fence == 0 {
		return
	}
	if e.Fence < f.highest.Fence && f.says == "" {
		f.by = e
		f.says = fmt.Sprintf("node %d entered under the fence number %d, %v after node %d had entered under %d",
			e.Node, e.Fence, time.Duration(e.At-f.highest.At), f.highest.Node, f.highest.Fence)
	}
	if e.Fence > f.highest.Fence {
		f.highest = e
	}
}

// Close implements history.Fold.
func (f *fenceFold) Close([]*history.NodeLog) {}

// fencesFell describes a falling fence number in a run. It returns "" if no number fell or the history cannot
// be read.
func fencesFell(r *runs.Run) string {
	f := &fenceFold{}
	if !readHistory(r, f) {
		return ""
	}
	return f.says
}

// huntRepeats is how often a plan is run to see whether it shows a finding: real runs are not deterministic.
const huntRepeats = 3

// shrinkAll runs what would be findings again, alone. It shrinks one finding for each service and check,
// unless one was shrunk before.
func (h *Hunt) shrinkAll(ctx context.Context) error {
	seen := map[string]bool{}
	for _, number := range slices.Sorted(maps.Keys(h.Done)) {
		if one := h.Done[number]; one.Shrunk != nil {
			seen[one.Service+one.About] = true
		}
	}
	for _, number := range slices.Sorted(maps.Keys(h.Done)) {
		one := h.Done[number]
		key := one.Service + one.About
		if seen[key] || one.Command == "" || one.Shown != "" {
			continue
		}
		l, _, err := h.draw(ctx, number)
		if err != nil {
			return err
		}
		s := &huntShrinker{hunt: h, ctx: ctx, of: one, line: *l, try: h.try}
		if err := s.shrink(); err != nil {
			return err
		}
		updated := *one
		updated.Shrunk, updated.Shown, updated.Class = s.best, s.shown, HuntBusy
		if s.best != nil {
			updated.Class, seen[key] = HuntFinding, true
		}
		h.keep(&updated)
	}
	return nil
}

// A huntShrinker shrinks the plan of a finding.
type huntShrinker struct {
	hunt  *Hunt
	ctx   context.Context
	of    *Hunted
	line  ServiceLine // the smallest line that shows the finding
	try   func(ctx context.Context, name string, l *ServiceLine, j *bench.Job) *Hunted
	best  *Hunted // result of the run of line
	shown string
	tries int
}

func (s *huntShrinker) shrink() error {
	count := 0
	for range huntRepeats {
		if s.once(&s.line) {
			count++
		}
	}
	s.shown = fmt.Sprintf("%d of %d runs of the whole plan show it again", count, huntRepeats)
	if count > 0 && s.of.About != huntEndless { // a run without an end takes minutes
		under := func(faults []chaos.Fault) bool {
			l := s.line
			l.Faults = slices.Clone(faults)
			return s.shows(&l)
		}
		ddmin.Reduce(s.line.Faults, 1, under)
		s.simplify()
		plans.Shorten(s.line.Faults, 10*time.Millisecond, under)
	}
	return s.ctx.Err()
}

// simplify leaves out options, and simplifies the load.
func (s *huntShrinker) simplify() {
	for _, word := range slices.Clone(s.line.With) {
		l := s.line
		l.With = slices.DeleteFunc(slices.Clone(l.With), func(w string) bool { return w == word })
		s.shows(&l)
	}
	for _, change := range []func(*ServiceLine){func(l *ServiceLine) { l.Demands = false },
		func(l *ServiceLine) { l.Think, l.CancelAfter = 0, 0 }, func(l *ServiceLine) { l.Nodes = 2 },
		func(l *ServiceLine) { l.Hold = time.Millisecond },
		func(l *ServiceLine) { l.Duration = (l.Duration / 2).Truncate(time.Millisecond) }} {
		l := s.line
		if change(&l); fmt.Sprint(l) != fmt.Sprint(s.line) {
			s.shows(&l)
		}
	}
}

// shows reports whether one of a few runs of a line shows the finding, and keeps the line if so.
func (s *huntShrinker) shows(l *ServiceLine) bool {
	for range huntRepeats {
		if s.once(l) {
			return true
		}
	}
	return false
}

// once reports whether a run of a line shows the finding, and keeps the line if so.
func (s *huntShrinker) once(l *ServiceLine) bool {
	if s.tries >= s.hunt.Tries || s.ctx.Err() != nil {
		return false
	}
	s.tries++
	subject, err := s.hunt.Subject(s.ctx, l.Service, l.With, l.Nodes)
	if err != nil {
		return false
	}
	j, err := l.Job(subject, chance.Dice(s.hunt.Seed).Of(chance.ForCampaign, s.tries).Bits(chance.Roll{})>>32)
	if err != nil {
		return false
	}
	one := s.try(s.ctx, fmt.Sprintf("plan-%04d-shrunk-%02d", s.of.Plan, s.tries), l, j)
	if one.Class != HuntFinding || one.About != s.of.About || one.About == huntUnmade {
		return false
	}
	one.Plan = s.of.Plan
	s.line, s.best = *l, one
	return true
}
