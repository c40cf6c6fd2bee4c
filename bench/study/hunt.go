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
	"time"

	"turnstile/bench"
	"turnstile/bench/plans"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/ddmin"
	"turnstile/internal/figure"
	"turnstile/internal/input"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
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
	// Subject returns the service with options. Command returns the command that repeats a job; plan is the
	// file of its faults, or empty.
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

// Read reads the journal. It returns an error if the journal has another seed or other services.
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
			About: huntEnded, Says: err.Error()}
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
	slept := sleepBeside(limited)
	made := h.once(limited, &Case{Job: j, Stored: true, Name: name})
	r, err := made.run, made.Err
	if results.Unwritable(err) {
		h.fail(err)
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = errors.Join(fmt.Errorf("the run has not ended within %v", huntLimit), err)
	}
	one := &Hunted{Service: l.Service, With: l.With, Faults: l.FaultTexts()}
	longest := slept()
	one.Class, one.About, one.Says = judgeHunt(r, err, longest)
	one.Seconds, one.LateMS = time.Since(began).Seconds(), float64(longest)/1e6
	if r == nil {
		return one
	}
	if len(r.Trials) > 0 {
		one.Refused = valueOf(r.Trials[0].Row.RefusedFree)
		one.Story = storyOf(r.Trials[0], one)
	}
	if ctx.Err() != nil || one.Class != HuntFinding && one.Class != HuntBusy {
		if err := os.RemoveAll(r.Folder.Path); err != nil {
			h.fail(err)
		}
		one.Story = nil
		return one
	}
	one.Folder = r.Folder.Ref()
	h.describe(one, l, j, r.Folder)
	return one
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

// sleepBeside sleeps for short times until the function that it returns is called. That function returns by
// how much the longest sleep was too long: for that time, other processes may not have run either.
func sleepBeside(ctx context.Context) func() time.Duration {
	const nap = 5 * time.Millisecond
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan time.Duration)
	go func() {
		longest := time.Duration(0)
		for ctx.Err() == nil {
			began := time.Now()
			time.Sleep(nap)
			longest = max(longest, time.Since(began)-nap)
		}
		over <- longest
	}()
	return func() time.Duration {
		cancel()
		return <-over
	}
}

// A huntOption is an option of a service with the values that plans draw from, with equal chances.
type huntOption struct {
	name   string
	values []string
}

// A huntSubject says how plans about a service are drawn. Options that fail by design, such as a plain DEL or
// a session that clients share, are not drawn: docs/matrices.md lists them.
type huntSubject struct {
	name    string
	lease   string // option that sets the lease of a grant; if empty or off, see defaultLease
	renews  bool   // a holder may stay longer than the lease
	options []huntOption
}

// defaultLease is the scale for the times of faults if no option sets a lease.
const defaultLease = time.Second

var (
	onOff    = []string{"off", "on"}
	rarelyOn = []string{"off", "off", "off", "on"}
	onMostly = []string{"on", "on", "off"}
	oneThree = []string{"1", "3", "3"}
)

var huntSubjects = []huntSubject{
	{name: "nats-kv", lease: "ttl", renews: true, options: []huntOption{{"members", oneThree},
		{"ttl", []string{"1s", "1300ms", "2s", "2500ms"}}, {"obey", onMostly}, {"durable", rarelyOn}}},
	{name: "redis", lease: "px", options: []huntOption{{"px", []string{"300ms", "777ms", "1s", "1999ms"}},
		{"fence", onOff}, {"watch", onOff}, {"retry", []string{"1ms", "5ms", "23ms"}},
		{"replica", rarelyOn}, {"durable", onOff}}},
	{name: "redlock", lease: "px", options: []huntOption{{"members", []string{"3", "3", "5"}},
		{"px", []string{"700ms", "1s", "1499ms", "2s"}}, {"tries", []string{"32", "3"}},
		{"delay", []string{"library", "5ms", "30ms"}}, {"drift", []string{"0.01", "0.1"}},
		{"fail-fast", onOff}, {"deadlines", onOff}, {"watch", []string{"on"}}, {"durable", onOff}}},
	{name: "postgres", lease: "idle", renews: true, options: []huntOption{{"fence", onOff},
		{"watch", []string{"off", "read", "ping"}}, {"every", []string{"100ms", "333ms"}},
		{"keepalives", onOff}, {"idle", []string{"off", "700ms", "1500ms"}},
		{"timeout", []string{"400ms", "1s", "5s"}}, {"wait", []string{"900ms", "3s", "1m"}},
		{"durable", rarelyOn}}},
	{name: "zookeeper", lease: "session", renews: true, options: []huntOption{{"members", oneThree},
		{"recipe", []string{"own", "own", "library", "herd"}},
		{"session", []string{"400ms", "900ms", "1300ms", "2s", "3s"}},
		{"lost", []string{"disconnected", "expired"}}, {"obey", onMostly},
		{"failed", []string{"ends", "ends", "kept"}},
		{"durable", rarelyOn}}},
	{name: "etcd", lease: "ttl", renews: true, options: []huntOption{{"members", oneThree},
		{"ttl", []string{"1s", "2s", "3s"}}, {"obey", onMostly}, {"durable", rarelyOn}}},
	{name: "etcd-election", lease: "ttl", renews: true, options: []huntOption{{"members", oneThree},
		{"ttl", []string{"1s", "2s", "3s"}}, {"obey", onMostly},
		{"resign", []string{"0s", "300ms", "1700ms"}}, {"durable", rarelyOn}}},
	{name: "lease", lease: "lease", renews: true, options: []huntOption{{"members", oneThree},
		{"lease", []string{"1s", "2s", "3s"}}, {"renew", []string{"700ms", "990ms", "1900ms"}},
		{"retry", []string{"100ms", "333ms", "490ms"}}, {"release", onOff},
		{"resign", []string{"0s", "0s", "1700ms"}}, {"durable", rarelyOn}}},
	{name: "etcd-raft", options: []huntOption{{"tick", []string{"20ms", "50ms", "70ms"}},
		{"election", []string{"5", "10", "13"}}, {"heartbeat", []string{"1", "3"}}, {"pre-vote", onOff},
		{"check-quorum", onOff}}},
}

// HuntServices returns the services that a Hunt knows.
func HuntServices() (names []string) {
	for _, s := range huntSubjects {
		names = append(names, s.name)
	}
	return names
}

// words draws options of the service, such as ttl=2s.
func (s *huntSubject) words(d *plans.Draws) (words []string) {
	for _, o := range s.options {
		words = append(words, o.name+"="+o.values[d.Below(len(o.values))])
	}
	return words
}

// leaseOf returns the lease of a grant under options.
func (s *huntSubject) leaseOf(words []string) time.Duration {
	for _, word := range words {
		if name, value, _ := strings.Cut(word, "="); name == s.lease {
			if d, err := time.ParseDuration(value); err == nil {
				return d
			}
		}
	}
	return defaultLease
}

// drawTries is how often options and faults are drawn anew if the service refuses them.
const drawTries = 20

// draw draws the plan with a number, from 0: the services take turns. The plan depends only on the seed, the
// number and the services.
func (h *Hunt) draw(ctx context.Context, number int) (*ServiceLine, *bench.Job, error) {
	name := h.Services[number%len(h.Services)]
	i := slices.IndexFunc(huntSubjects, func(s huntSubject) bool { return s.name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("no plans are drawn for the service %q", name)
	}
	d, s := plans.NewDraws(h.Seed, number), &huntSubjects[i]
	var failed error
	for range drawTries {
		words := s.words(&d)
		l := s.load(&d, words)
		subject, err := h.Subject(ctx, name, words, l.Nodes)
		if err == nil {
			scene := &chaos.Scene{Spec: subject.Spec, Config: subject.Config, Measured: l.Duration,
				Servers: subject.Servers}
			l.Demands = l.Demands && subject.Spec.Fenced
			if d.Below(6) == 0 && l.lackServer(scene) {
				l.Faults = chaos.MinorityPlan(scene, d.Bits()).Faults
			} else {
				l.Faults = chaos.ServerPlan(scene, s.leaseOf(words), d.Bits()).Faults
			}
			var j *bench.Job
			if j, err = l.Job(subject, d.Bits()>>32); err == nil {
				return l, j, nil
			}
		}
		if failed = err; ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	return nil, nil, fmt.Errorf("seed %d, plan %d: none of %d draws is valid: %w", h.Seed, number, drawTries,
		failed)
}

// lackServer reports whether the service tolerates the failure of a server. If so, it sets a load and a
// duration that show whether clients enter while one server is down.
func (l *ServiceLine) lackServer(s *chaos.Scene) bool {
	if !s.HasMinority() {
		return false
	}
	l.Hold, l.Think = 10*time.Millisecond, 0
	l.Duration = chaos.MinorityRun(s.Servers)
	s.Measured = l.Duration
	return true
}

// load draws the load and the duration of a run. Without renewals, a lock is held for at most a quarter of
// its lease, since no service promises more.
func (s *huntSubject) load(d *plans.Draws, words []string) *ServiceLine {
	lease := s.leaseOf(words)
	l := &ServiceLine{Service: s.name, With: words, Nodes: 2 + d.Below(4), Demands: d.Below(4) == 0}
	holds := []time.Duration{0, time.Millisecond, 10 * time.Millisecond, lease / 8, lease / 4}
	if s.renews {
		holds = append(holds, lease*99/100, lease*11/10)
	}
	l.Hold = holds[d.Below(len(holds))]
	if d.Below(3) == 0 {
		l.Think = []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, lease / 2}[d.Below(3)]
	}
	l.Duration = min(3*time.Second+2*lease, 7*time.Second)
	return l
}

// HuntFile is the journal of a hunt, in the folder of its set: a line of JSON with its seed and services, and
// a line for each plan.
const HuntFile = "services.jsonl"

// A huntHeader is the first line of a journal.
type huntHeader struct {
	Seed     uint64   `json:"seed"`
	Services []string `json:"services"`
}

// A Hunted is the result of a plan.
type Hunted struct {
	Plan    int       `json:"plan"` // number of the plan, from 0
	Service string    `json:"service"`
	With    []string  `json:"with,omitempty"`
	Faults  []string  `json:"faults,omitempty"` // the faults as text
	Class   HuntClass `json:"class"`
	About   string    `json:"about,omitempty"` // the check that has the finding, or huntEnded or huntFences
	Says    string    `json:"says,omitempty"`
	Story   []string  `json:"story,omitempty"`  // what happened, line by line
	Folder  string    `json:"folder,omitempty"` // folder of the run, if it is kept
	Command string    `json:"command,omitempty"`
	Seconds float64   `json:"seconds"`
	LateMS  float64   `json:"late_ms"`           // by how much the longest sleep beside the run was too long
	Refused float64   `json:"refused,omitempty"` // tries that were refused though nobody was inside
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
			if head.Seed != h.Seed || !slices.Equal(head.Services, h.Services) {
				return fmt.Errorf("%s has --seed %d and --only %s: give the same, or another --set", h.path(),
					head.Seed, strings.Join(head.Services, ","))
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
		return h.write(huntHeader{h.Seed, h.Services})
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

// The classes. A busy run would be a finding on an idle machine. On an overloaded machine, clients or
// servers may have been suspended without an event that shows it.
const (
	HuntValid        HuntClass = "valid"
	HuntOutside      HuntClass = "outside the model"
	HuntInconclusive HuntClass = "inconclusive"
	HuntBusy         HuntClass = "busy"
	HuntFinding      HuntClass = "finding"
)

// What a finding may be about, besides a check.
const (
	huntEnded  = "ended"  // the run ended early: a client or a program of the testbed died
	huntFences = "fences" // a lower fence number was handed out after a higher one
)

// late is how much too long a sleep beside a run must be for the run to count as busy.
const late = 100 * time.Millisecond

// judgeHunt classifies a run. Slept is by how much the longest sleep beside it was too long.
func judgeHunt(r *runs.Run, made error, slept time.Duration) (class HuntClass, about, says string) {
	busy := func(about, says string) (HuntClass, string, string) {
		if slept > late {
			return HuntBusy, about, fmt.Sprintf("%s; the machine was overloaded: a sleep ended %v late", says,
				slept.Round(time.Millisecond))
		}
		return HuntFinding, about, says
	}
	if r == nil || len(r.Trials) == 0 {
		return busy(huntEnded, fmt.Sprintf("it could not be made: %v", made))
	}
	t := r.Trials[0]
	if t.Trouble != "" {
		return busy(huntEnded, t.Trouble)
	}
	if f := worstInside(t, r.Record.Trials[0].Faults != nil); f != nil {
		if t.Row.CPUBound() && slept <= late {
			return HuntBusy, f.Check, f.Says + "; the processors were busy"
		}
		return busy(f.Check, f.Says)
	}
	if says := fencesFell(r); says != "" && t.Verdict.Outcome != check.Violated {
		return classOfFencesFell(brokenBy(r), r.Spec.SafeIn(r.Config)), huntFences, says
	}
	worst := t.Verdict.Worst()
	switch {
	case t.Verdict.Outcome == check.Valid:
		return HuntValid, "", ""
	case worst.OutsideModel:
		return HuntOutside, worst.Check, worst.Says
	case worst.Doubted: // the finding is doubted, mostly since processes waited for a CPU
		return HuntBusy, worst.Check, worst.Says
	}
	return HuntInconclusive, worst.Check, worst.Says
}

// worstInside returns a finding that the service is to blame for, or nil: a promise was broken though all its
// assumptions held; nobody entered during a fault that broke no assumption; or nobody entered after the end
// of faults that broke no assumption but NoAmnesia.
func worstInside(t *runs.TrialResult, faults bool) *check.Finding {
	for i := range t.Verdict.Findings {
		f := &t.Verdict.Findings[i]
		stalled := f.Expected && faults && f.Broken != 0 && f.Broken&^nodes.NoAmnesia == 0
		if f.Outcome == check.Violated && !f.OutsideModel || stalled || f.Idle {
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
	reader, err := r.Folder.History(1)
	if err != nil {
		return ""
	}
	defer reader.Close()
	f := &fenceFold{}
	if reader.Run(f) != nil {
		return ""
	}
	return f.says
}

// huntRepeats is how often a plan is run to see whether it shows a finding: real runs are not deterministic.
const huntRepeats = 3

// shrinkAll shrinks one finding for each service and check, unless one was shrunk before.
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
		if one.Class != HuntFinding || seen[key] || one.Command == "" {
			continue
		}
		seen[key] = true
		l, _, err := h.draw(ctx, number)
		if err != nil {
			return err
		}
		s := &huntShrinker{hunt: h, ctx: ctx, of: one, line: *l, try: h.try}
		if err := s.shrink(); err != nil {
			return err
		}
		updated := *one
		updated.Shrunk, updated.Shown = s.best, s.shown
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
	if count > 0 {
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
		func(l *ServiceLine) { l.Think = 0 }, func(l *ServiceLine) { l.Nodes = 2 },
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
	if one.Class != HuntFinding || one.About != s.of.About {
		return false
	}
	one.Plan = s.of.Plan
	s.line, s.best = *l, one
	return true
}
