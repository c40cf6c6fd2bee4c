package study

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/internal/yamlfile"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// A ServiceMatrix makes runs for known failures of services, and reports what they show. It continues a set
// that was interrupted.
type ServiceMatrix struct {
	Sweep // Trials is the number of runs per case
	Cases []*ServiceCase
}

// A ServiceCase is a known failure, and its runs.
type ServiceCase struct {
	Line    *ServiceLine
	Subject *ServiceSubject // nil: Err says why
	Err     error           // why no run can be made
	Runs    []*ServiceRun
}

// A ServiceRun is the result of one run of a case.
type ServiceRun struct {
	// what the run shows, without and with fences; 0: inconclusive, or no fences
	Strict, Fenced algorithm.Outcome
	HasFences      bool
	Says           string // why the run shows the outcome Strict
	Folder         string // folder of the run
	Row            results.Row
	SilenceS       figure.Figure // the longest time without an entry or, for electors, all time without a leader
}

// Resolve makes the jobs of the cases that have a service to run. An error names the line that is invalid.
func (m *ServiceMatrix) Resolve() error {
	m.Trials = max(1, m.Trials)
	for _, c := range m.Cases {
		if c.Err != nil {
			continue
		}
		j, err := c.Line.Job(c.Subject, m.Seed)
		if err != nil {
			return fmt.Errorf("number %d, %s: %w", c.Line.Number, c.Line.Text(), err)
		}
		m.Cells = append(m.Cells, j)
	}
	return nil
}

// Judge judges the stored histories of each case.
func (m *ServiceMatrix) Judge(ctx context.Context) error {
	cell := 0
	for _, c := range m.Cases {
		if c.Err != nil {
			continue
		}
		if err := m.reopen(ctx, cell, c.judge); err != nil {
			return err
		}
		cell++
		if len(c.Runs) == 0 {
			c.Err = errors.New("it has no run: repeat the command to make it")
		}
	}
	return nil
}

// judge adds a run to its case.
func (c *ServiceCase) judge(folder *results.Folder, run *runs.Run, err error) {
	r := &ServiceRun{Folder: folder.Ref()}
	if c.Runs = append(c.Runs, r); err != nil {
		r.Says = err.Error()
		return
	}
	r.read(run.Trials[0], c.Subject.Spec)
}

// read reads what the run shows.
func (r *ServiceRun) read(t *runs.TrialResult, of *algorithm.Algorithm) {
	r.Row, r.HasFences = t.Row, of.Fenced
	r.Strict, r.Says = t.Verdict.Shown()
	studyOf(of).shown(r, t)
}

// leadersShown sets Strict and Fenced of a run about leaders. Strict breaks if two nodes led at once, in the
// same term or not. The terms are the fences, so Fenced breaks only if two nodes led in one term.
func (r *ServiceRun) leadersShown(t *runs.TrialResult) {
	r.HasFences, r.SilenceS = true, inSeconds(t.Row.LeaderlessUS)
	r.Fenced, _ = t.Verdict.ShownInTerms()
	if r.Strict != 0 && (isMore(t.Row.TwoLeadersUS) || isMore(t.Row.TwoLeadersStoppedUS)) {
		r.Strict = algorithm.Breaks
	}
}

// entriesShown sets Fenced to what a run shows of the entries that a resource accepts if it demands fence
// numbers.
func (r *ServiceRun) entriesShown(t *runs.TrialResult) {
	for i := range t.Faults {
		r.SilenceS = figure.Max(r.SilenceS, t.Faults[i].SilenceS)
	}
	accepted, known := t.Row.ViolationsFenced.Value()
	switch {
	case r.Strict != algorithm.Breaks:
		r.Fenced = r.Strict
	case !known: // Fenced stays 0: unknown
	case accepted > 0:
		r.Fenced = algorithm.Breaks
	default:
		r.Fenced, _ = t.Verdict.Served()
	}
}

// isMore reports whether a figure is known and more than zero.
func isMore(f figure.Figure) bool {
	x, known := f.Value()
	return known && x > 0
}

// showsNothing reports whether the run shows nothing of the failure: it is inconclusive, or its faults hit
// nothing.
func (r *ServiceRun) showsNothing() bool {
	return r.Strict == 0 || r.notHit() || r.HasFences && r.Fenced == 0
}

// notHit reports whether the faults hit nothing.
func (r *ServiceRun) notHit() bool { return r.Strict == algorithm.Unhit }

// ShowsNothing reports whether the case has no run, or one that shows nothing.
func (c *ServiceCase) ShowsNothing() bool {
	return c.Err != nil || len(c.Runs) == 0 || slices.ContainsFunc(c.Runs, (*ServiceRun).showsNothing)
}

// NotHit reports whether the faults hit nothing in any run.
func (c *ServiceCase) NotHit() bool {
	return c.Err == nil && len(c.Runs) > 0 &&
		!slices.ContainsFunc(c.Runs, func(r *ServiceRun) bool { return !r.notHit() })
}

// Differs reports whether some run shows an outcome that the line does not expect.
func (c *ServiceCase) Differs() bool { return c.Err == nil && slices.ContainsFunc(c.Runs, c.differs) }

func (c *ServiceCase) differs(r *ServiceRun) bool {
	strict, _ := outcomesOf(c.Line.Strict) // no error: check has parsed both
	fenced, _ := outcomesOf(c.Line.Fenced)
	switch l := c.Line; {
	case r.Strict == 0 || r.notHit():
		return false
	case r.Strict&strict == 0 || (l.Fenced != "") != r.HasFences ||
		r.HasFences && r.Fenced != 0 && r.Fenced&fenced == 0:
		return true
	}
	return !r.showsNothing() && !c.Line.hasMark(r)
}

// Tells returns the most telling run of the case: the first that differs, or else the first that shows
// nothing, or else the first; nil: the case has no run.
func (c *ServiceCase) Tells() *ServiceRun {
	for _, is := range []func(*ServiceRun) bool{c.differs, (*ServiceRun).showsNothing,
		func(*ServiceRun) bool { return true }} {
		if i := slices.IndexFunc(c.Runs, is); i >= 0 {
			return c.Runs[i]
		}
	}
	return nil
}

// A ServiceLine is a known failure of a service that grants locks or elects leaders: how a run shows it, and
// the expected outcome of the run.
type ServiceLine struct {
	Number  int      `yaml:"number"` // number of the failure; several services may share it
	Service string   `yaml:"service"`
	With    []string `yaml:"with"` // options of the service, such as ttl=2s
	Nodes   int      `yaml:"nodes"`
	// Hold is how long a client stays inside, and Duration how long the run is measured.
	Hold     time.Duration `yaml:"hold"`
	Duration time.Duration `yaml:"duration"`
	Proxies  bool          `yaml:"proxies"` // connections run through proxies, which count bytes
	// Think is how long a client pauses after it has left; 0: it requests again at once. With Demands, the
	// resource demands fence numbers, so the clients must have them.
	Think   time.Duration `yaml:"think"`
	Demands bool          `yaml:"demands"`
	// CancelAfter is how long a client waits before it gives up; 0: until it enters.
	CancelAfter time.Duration `yaml:"cancel-after"`
	Faults      []chaos.Fault `yaml:"faults"`
	// Strict and Fenced are the expected outcomes, by their letters as in L|P: Strict over all entries, Fenced
	// over the entries that a resource accepts if it demands fence numbers. Fenced is empty for clients without
	// fence numbers.
	Strict string `yaml:"strict"`
	Fenced string `yaml:"fenced"`
	// A hunt finds the line if two are inside. With Silence it finds the line if nobody enters for so long, with
	// Refuses if a free lock is refused, and with Lasts if two are inside for longer than a fault and a hold.
	Silence time.Duration `yaml:"silence"`
	Refuses bool          `yaml:"refuses"`
	Lasts   bool          `yaml:"lasts"`
	Says    string        `yaml:"says"` // what the documentation or a report says; quotations in quotation marks
	Link    string        `yaml:"link"` // source of Says
	Why     string        `yaml:"why"`  // explanation in a sentence
}

//go:embed service_lines.yaml
var serviceLines []byte

// ServiceLines returns the known failures of services.
func ServiceLines() []*ServiceLine {
	all, err := readServiceLines(serviceLines)
	if err != nil {
		panic(err) // impossible: a test reads the file
	}
	return all
}

func readServiceLines(text []byte) ([]*ServiceLine, error) {
	var file struct {
		Lines []*ServiceLine `yaml:"lines"`
	}
	if err := yamlfile.Decode(text, &file); err != nil && err != io.EOF {
		return nil, err
	}
	for i, l := range file.Lines {
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("line %d of the matrix, number %d, %s: %w", i+1, l.Number, l.Service, err)
		}
	}
	return file.Lines, nil
}

// check returns an error if the line lacks something.
func (l *ServiceLine) check() error {
	switch {
	case l.Number < 1, l.Service == "", l.Nodes < 1, l.Duration <= 0:
		return errors.New("a line needs a number, a service, nodes and a duration")
	case l.Says == "", !strings.HasPrefix(l.Link, "https://"), l.Why == "":
		return errors.New("a line needs says, a link to https and why")
	}
	for _, letters := range []string{l.Strict, l.Fenced} {
		if _, err := outcomesOf(letters); err != nil {
			return err
		}
	}
	if l.Strict == "" {
		return errors.New("a line needs the expected outcome: strict")
	}
	return nil
}

// outcomesOf parses outcomes as algorithm.Outcome writes them.
func outcomesOf(letters string) (all algorithm.Outcome, err error) {
	if letters == "" {
		return 0, nil
	}
	for letter := range strings.SplitSeq(letters, "|") {
		known := []algorithm.Outcome{algorithm.Recovers, algorithm.Starves, algorithm.Blocks, algorithm.Breaks}
		i := slices.IndexFunc(known, func(o algorithm.Outcome) bool { return o.String() == letter })
		if i < 0 {
			return 0, fmt.Errorf("%q is not an outcome: write letters of L, P, B and X, as in L|P", letters)
		}
		all |= known[i]
	}
	return all, nil
}

// Text returns the service with its options.
func (l *ServiceLine) Text() string { return strings.Join(append([]string{l.Service}, l.With...), " ") }

// FaultTexts describes the faults.
func (l *ServiceLine) FaultTexts() (all []string) {
	for i := range l.Faults {
		all = append(all, l.Faults[i].String())
	}
	return all
}

// FaultText describes the faults of the line in one text, as matrix.csv has it.
func (l *ServiceLine) FaultText() string { return cmp.Or(strings.Join(l.FaultTexts(), "; "), "none") }

// Is reports whether a word selects the line: its number, or its service.
func (l *ServiceLine) Is(word string) bool { return word == fmt.Sprint(l.Number) || word == l.Service }

// A ServiceSubject is what a run needs to know of a service with its options.
type ServiceSubject struct {
	Spec    *algorithm.Algorithm
	Config  nodes.Config
	Servers chaos.Servers
	Granted time.Duration // the time to live that servers grant; 0: they grant no time
	Holds   time.Duration // for how long a client may stay inside at most; 0: for any time
}

// Job returns the job of the line for a service.
func (l *ServiceLine) Job(of *ServiceSubject, seed uint64) (*bench.Job, error) {
	o := option.Defaults()
	o.Config, o.Servers, o.Faults, o.Proxies = of.Config, of.Servers, l.Faults, l.Proxies
	o.Seed, o.Duration = seed, l.Duration
	studyOf(of.Spec).line(l, &o)
	return bench.Resolve(catalog.Table{}, o, of.Spec, false)
}

// entries sets the options of a run about a lock: clients request again at once, or after the line's pause.
func (l *ServiceLine) entries(o *bench.Options) {
	o.Workload, o.Warmup = workload.Workload{Load: workload.Saturated, Hold: chance.Constant(l.Hold)}, lineWarmup
	o.Config.Fenced, o.Workload.CancelAfter = l.Demands, l.CancelAfter
	if l.Think > 0 {
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(l.Think)
	}
}

// elections sets the options of a run about an election.
func (l *ServiceLine) elections(o *bench.Options) { allStand(o) }

// lineWarmup is the length of the warm-up.
const lineWarmup = 300 * time.Millisecond

// Strict returns the runs' outcomes over all entries, with counts if they differ, as in "X 2 of 3, L 1 of 3".
func (c *ServiceCase) Strict() string {
	return c.outcomes(func(r *ServiceRun) algorithm.Outcome { return r.Strict })
}

// Fenced is like Strict, but only over the entries that a resource accepts if it demands fence numbers; "-":
// the clients have no fence numbers.
func (c *ServiceCase) Fenced() string {
	if len(c.Runs) == 0 || !c.Runs[0].HasFences {
		return "-"
	}
	return c.outcomes(func(r *ServiceRun) algorithm.Outcome { return r.Fenced })
}

// outcomes lists the outcomes of the runs, the worst first.
func (c *ServiceCase) outcomes(of func(*ServiceRun) algorithm.Outcome) string {
	var all []string
	for _, shown := range []algorithm.Outcome{algorithm.Breaks, algorithm.Blocks, algorithm.Starves,
		algorithm.Recovers, algorithm.Unhit, 0} {
		count := 0
		for _, r := range c.Runs {
			if of(r) == shown {
				count++
			}
		}
		switch count {
		case 0:
		case len(c.Runs):
			return shown.String()
		default:
			all = append(all, fmt.Sprintf("%v %d of %d", shown, count, len(c.Runs)))
		}
	}
	return strings.Join(all, ", ")
}

// Silence returns the shortest and the longest known SilenceS of the runs.
func (c *ServiceCase) Silence() (least, most figure.Figure) {
	for _, r := range c.Runs {
		x, known := r.SilenceS.Value()
		if low, is := least.Value(); known && (!is || x < low) {
			least = r.SilenceS
		}
		most = figure.Max(most, r.SilenceS)
	}
	return least, most
}

// TableRow returns the row of the case in matrix.csv.
func (c *ServiceCase) TableRow() results.MatrixRow {
	out := results.MatrixRow{Line: fmt.Sprint(c.Line.Number), Algorithm: c.Line.Text(),
		Fault: c.Line.FaultText(),
		Kind:  "bench", May: c.Line.Strict, MayFenced: c.Line.Fenced, Shown: c.Strict(), Fenced: c.Fenced(),
		Differs: c.Differs(), Runs: len(c.Runs), Why: c.Line.Why}
	if c.Err != nil {
		out.Reason = c.Err.Error()
	}
	for _, r := range c.Runs {
		switch r.Strict {
		case algorithm.Recovers:
			out.Recovered++
		case algorithm.Starves:
			out.Starved++
		case algorithm.Blocks:
			out.Blocked++
		case algorithm.Breaks:
			out.Broke++
		case algorithm.Unhit:
			out.Unhit++
		default:
			out.Inconclusive++
		}
		out.Violations = figure.Max(out.Violations, r.Row.Violations)
		out.ViolationsFenced = figure.Max(out.ViolationsFenced, r.Row.ViolationsFenced)
		out.OverlapUS = figure.Max(out.OverlapUS, r.Row.OverlapUS)
		out.TwoLeadersUS = figure.Max(out.TwoLeadersUS, r.Row.TwoLeadersUS)
	}
	out.SilenceMinS, out.SilenceMaxS = c.Silence()
	if tells := c.Tells(); tells != nil {
		out.Seed, out.Run, out.Reason = tells.Row.Seed, tells.Folder, tells.Says
	}
	return out
}
