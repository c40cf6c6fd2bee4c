package study

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/internal/pattern"
	"turnstile/internal/stats"
	"turnstile/internal/yamlfile"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// A Failover measures how long the next entry or the next leader takes after a fault hits the holder, the
// leader, or the leading server: for each service, time to live and fault. It continues a set that was
// interrupted.
type Failover struct {
	Sweep // Trials is the number of runs per case
	Cases []*FailoverCase
	cases []*FailoverCase // cases[i] is the case of the job Cells[i]
}

// A FailoverCase is a service with a time to live under a fault, and its runs.
type FailoverCase struct {
	Line    *FailoverLine
	Asked   time.Duration // the time to live that clients request; 0: the service has none
	Fault   string        // one of FailoverFaults
	Subject *ServiceSubject
	Err     error // why no run can be made: a program is missing
	Runs    []*FailoverRun
	LeftOut []*FailoverRun // runs that do not count
}

// Cases returns a case of the line for each fault and time to live.
func (l *FailoverLine) Cases(asked []time.Duration) (all []*FailoverCase) {
	for _, fault := range FailoverFaults {
		for _, ttl := range l.TTLs(asked) {
			all = append(all, &FailoverCase{Line: l, Asked: ttl, Fault: fault})
		}
	}
	return all
}

// Text returns the service with its options, and the fault.
func (c *FailoverCase) Text() string {
	return strings.Join(append([]string{c.Line.Service}, c.Line.Words(c.Asked)...), " ") + ", " + c.Fault
}

// Lacks returns why the fault has no meaning for the service, or "".
func (c *FailoverCase) Lacks() string {
	if why := c.Line.Lacks[c.Fault]; why != "" || c.Fault != cutServer {
		return why
	}
	return c.Line.Lacks[killServer]
}

// ofServers reports whether the fault hits servers.
func (c *FailoverCase) ofServers() bool { return c.Fault == killServer || c.Fault == cutServer }

// Lengths of runs. Most are shares of a scale: the time to live that is granted.
const (
	FailoverNodes = 3               // number of clients, or of nodes that elect
	noTTL         = 2 * time.Second // the scale of a service without a time to live

	failoverWarmup = 100 * time.Millisecond
	failoverSlack  = 500 * time.Millisecond // spare time for a late entry, or for the end of a fault
	// The leading server is killed or cut off within serverAfter of an entry; the client stays inside for
	// serverHold, which is longer. The other servers take seconds to elect a leader, under any ttl: NATS up to
	// nine.
	serverHold  = 200 * time.Millisecond
	serverAfter = 100 * time.Millisecond
	serverWait  = 12 * time.Second
)

// scale returns the ttl that servers grant, or noTTL. The lengths of holds, faults and runs follow from it.
func (c *FailoverCase) scale() time.Duration {
	if c.Subject.Granted > 0 {
		return c.Subject.Granted
	}
	return noTTL
}

// lasts returns how long the fault is in force, or how long the run goes on after a kill.
func (c *FailoverCase) lasts() time.Duration {
	switch {
	case c.ofServers():
		return serverWait
	case c.Fault == "kill":
		return 2*c.scale() + 2*time.Second
	}
	return 3*c.scale() + time.Second
}

// hold returns how long a client stays inside.
func (c *FailoverCase) hold() time.Duration {
	if c.ofServers() {
		return serverHold
	}
	return c.scale() / 2
}

// spread returns the length of the interval from which each run draws the time of the fault: the time between
// two renewals of a lease, since libraries renew a lease three times within its ttl.
func (c *FailoverCase) spread() time.Duration {
	if c.ofServers() {
		return serverAfter
	}
	return (c.scale() / 3).Truncate(time.Millisecond)
}

// Job returns the job of the case. In it, the fault begins at the latest of the times that runs draw from.
func (c *FailoverCase) Job(seed uint64) (*bench.Job, error) {
	o := option.Defaults()
	o.Config, o.Servers = c.Subject.Config, c.Subject.Servers
	o.Seed = seed
	studyOf(c.Subject.Spec).failover(c, &o)
	return bench.Resolve(catalog.Table{}, o, c.Subject.Spec, false)
}

// entries sets the options of a run about a lock: clients request all the time, and the fault hits the second
// holder, or hits the leading server while a client is inside.
func (c *FailoverCase) entries(o *bench.Options) {
	hold, after := c.hold(), c.spread()
	o.Workload = workload.Workload{Load: workload.Saturated, Hold: chance.Constant(hold)}
	o.Warmup, o.WarmupLimit = failoverWarmup, 0
	f := c.fault(effect.Target{Word: "holder"}, true)
	f.At, f.After = hold/2, after
	if c.ofServers() {
		f.At, f.When = failoverSlack, chaos.When{What: "enters", Nth: 1}
	}
	o.Duration = f.At + hold + failoverSlack + after + c.lasts() + hold + failoverSlack
	o.Faults = []chaos.Fault{f}
}

// elections sets the options of a run about an election. The fault hits the leader.
func (c *FailoverCase) elections(o *bench.Options) {
	allStand(o)
	f := c.fault(effect.Target{Word: "leader"}, o.Servers.Count > 0)
	f.At = failoverSlack + c.spread()
	if o.Servers.Count == 0 { // nodes elect among themselves: the first election begins after a timeout
		f.At += 2 * c.scale()
	}
	o.Faults = []chaos.Fault{f}
	o.Duration = f.At + c.lasts() + 2*failoverSlack
	if c.Fault == "pause" || c.Fault == "cut" {
		// A leader that comes back still leads until it fails to renew; then all have to agree again.
		o.Duration += 2 * c.scale()
	}
}

// fault returns the fault of the case, without its start. A cut is from the servers, or from all other nodes.
func (c *FailoverCase) fault(target effect.Target, fromServers bool) (f chaos.Fault) {
	switch c.Fault {
	case "kill":
		return chaos.Fault{Effect: &effect.Kill{Who: target}}
	case killServer:
		return chaos.Fault{Effect: &effect.Kill{Who: effect.Target{Role: port.Server, Word: effect.LeadingServer}}}
	case cutServer:
		f.Effect = effect.CutLeadingServer()
	case "pause":
		f.Effect = &effect.Pause{Who: target}
	case "cut":
		f.Effect = effect.CutClients(target)
		if !fromServers {
			f.Effect = &effect.Partition{Cut: effect.CutOff(target)}
		}
	}
	f.For = c.lasts()
	return f
}

// Resolve makes the jobs of the cases that have a service to run, and whose fault has a meaning for it. An
// error names the case that is invalid.
func (m *Failover) Resolve() error {
	m.Trials = max(1, m.Trials)
	for _, c := range m.Cases {
		if c.Err != nil || c.Lacks() != "" {
			continue
		}
		j, err := c.Job(m.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Text(), err)
		}
		m.Cells, m.cases = append(m.Cells, j), append(m.cases, c)
	}
	m.vary = m.moment
	return nil
}

// moment draws the time of a run's fault: after the holder has entered, or after the leader was elected. The
// same run always draws the same time.
func (m *Failover) moment(r sweepRun, j *bench.Job) {
	name := fnv.New64a()
	name.Write([]byte(r.name))
	u := chance.Dice(m.Seed ^ name.Sum64()).Unit(chance.Roll{Purpose: chance.ForFault, Count: uint64(r.trial)})
	earlier := time.Duration((1 - u) * float64(m.cases[r.cell].spread())).Truncate(time.Millisecond)
	j.Faults = slices.Clone(j.Faults)
	if f := &j.Faults[0]; f.After > 0 {
		f.After = max(time.Millisecond, f.After-earlier)
	} else {
		f.At -= earlier
	}
}

// aroundFailover is about how long the servers of a run take to start and to end.
const aroundFailover = 3 * time.Second

// Takes returns about how long the remaining runs take.
func (m *Failover) Takes() (sum time.Duration) {
	for _, r := range m.left {
		j := m.Cells[r.cell]
		rest := j.Workload.Hold.Mean() * (FailoverNodes - 1) // clients that still wait at the end enter in turn
		sum += aroundFailover + j.Warmup + j.Duration + rest
	}
	return sum / time.Duration(m.workers())
}

// Judge judges the stored histories of each case.
func (m *Failover) Judge(ctx context.Context) error {
	for cell, c := range m.cases {
		if err := m.reopen(ctx, cell, c.judge); err != nil {
			return err
		}
		if len(c.Runs)+len(c.LeftOut) == 0 {
			c.Err = errors.New("it has no run: repeat the command to make it")
		}
	}
	return nil
}

// A FailoverRun is the result of one run of a case.
type FailoverRun struct {
	ServiceRun
	// NextS is the time in seconds from the start of the fault to the next entry or, for electors, the next
	// leader. It is a lower bound if neither came before the fault was healed or the run ended.
	NextS figure.Figure
	Why   string // why the run does not count; empty: it counts
}

// judge adds a run to its case.
func (c *FailoverCase) judge(folder *results.Folder, run *runs.Run, err error) {
	r := &FailoverRun{ServiceRun: ServiceRun{Folder: folder.Ref()}}
	if err != nil {
		r.Why = err.Error()
	} else {
		t := besideFairness(run.Trials[0])
		r.ServiceRun.read(t, c.Subject.Spec)
		r.next(run, t, studyOf(c.Subject.Spec))
	}
	if r.Why == "" {
		c.Runs = append(c.Runs, r)
	} else {
		c.LeftOut = append(c.LeftOut, r)
	}
}

// besideFairness returns a trial without what was found about fairness: a client that starves says nothing
// about the time to the next entry, nor about who was inside.
func besideFairness(t *runs.TrialResult) *runs.TrialResult {
	beside := *t
	beside.Verdict.Findings = slices.DeleteFunc(slices.Clone(t.Verdict.Findings),
		func(f check.Finding) bool { return f.About() == check.AboutFairness })
	return &beside
}

// next reads the time to the next entry or leader from the run.
func (r *FailoverRun) next(run *runs.Run, t *runs.TrialResult, of *kind) {
	switch shown, says := t.Verdict.Shown(); {
	case t.Trouble != "":
		r.Why = t.Trouble
	case shown == 0 && (!t.Verdict.Idle() || t.Verdict.Unsound()), shown == algorithm.Unhit:
		r.Why = says
	case len(t.Faults) != 1:
		r.Why = "the fault never came"
	default:
		r.NextS, r.Why = of.next(run, t)
	}
	if r.Why != "" {
		return
	}
	f := &t.Faults[0]
	r.NextS = untilHealed(r.NextS, f)
	if !r.NextS.Known() {
		r.Why = "it is unknown which node came next"
	}
}

// untilHealed makes next a lower bound if it is not shorter than the fault: then the heal may be what ended
// the wait.
func untilHealed(next figure.Figure, f *results.FaultRow) figure.Figure {
	x, known := next.Value()
	from, is := f.FromS.Value()
	to, was := f.ToS.Value()
	if known && f.Healed && is && was && x >= to-from {
		return figure.AtLeast(to - from)
	}
	return next
}

// nextEntry returns the time from the start of the fault to the next entry. The run counts only if a client
// was inside when the fault began: the victim, if it is a client.
func nextEntry(run *runs.Run, t *runs.TrialResult) (next figure.Figure, why string) {
	h, err := run.Folder.History(t.Number)
	if err != nil {
		return next, err.Error()
	}
	defer h.Close()
	fold := &insideFold{inside: map[nodes.ID]bool{}}
	if err := h.Run(fold); err != nil {
		return next, err.Error()
	}
	if !fold.held {
		return next, "the client had left when the fault began"
	}
	return t.Faults[0].NextEntryS, ""
}

// An insideFold determines whether the victim of the first fault was inside when the fault began; for a fault
// of servers, whether any client was. A killed client goes down only after the event FaultBegan.
type insideFold struct {
	inside map[nodes.ID]bool
	held   bool
}

// Add implements history.Fold.
func (f *insideFold) Add(e history.Event) {
	switch e.Kind {
	case history.Entered:
		f.inside[e.Node] = true
	case history.Exited, history.Revoked:
		delete(f.inside, e.Node)
	case history.FaultBegan:
		if victim := nodes.ID(e.Entry) - 1; e.Count == 1 {
			f.held = victim == nodes.None && len(f.inside) > 0 || f.inside[victim]
		}
	}
}

// Close implements history.Fold.
func (f *insideFold) Close([]*history.NodeLog) {}

// nextLeader returns the time from the start of the fault until a node leads that did not lead before.
func nextLeader(run *runs.Run, t *runs.TrialResult) (next figure.Figure, why string) {
	h, err := run.Folder.History(t.Number)
	if err != nil {
		return next, err.Error()
	}
	defer h.Close()
	elector := run.Stack.Elector()
	fold := &leadership.Succession{Fold: leadership.New(elector.Config, elector.Elector)}
	if err := h.Run(fold); err != nil {
		return next, err.Error()
	}
	return succeeded(fold)
}

// succeeded returns the time from the start of the first fault until another node led than before.
func succeeded(s *leadership.Succession) (next figure.Figure, why string) {
	seconds := func(at int64) float64 { return time.Duration(at - s.Began).Seconds() }
	switch {
	case !s.Known:
		return next, "it is not known when the fault began"
	case len(s.Led) == 0:
		return next, "nobody led when the fault began"
	case len(s.Led) > 1:
		return next, "two led when the fault began"
	case s.Next == 0:
		return figure.AtLeast(seconds(s.End)), ""
	}
	return figure.Number(seconds(s.Next)), ""
}

// A FailoverLine is a service in the table of failovers, with options.
type FailoverLine struct {
	Service string   `yaml:"service"`
	With    []string `yaml:"with"` // options of the service, such as members=3
	// Client is the command of another client of the service; empty: the service's own.
	Client string `yaml:"client"`
	// TTL are options that depend on the requested time to live: {1} in px={1} stands for that time, {0.25} for
	// a quarter. Empty: the service has no time to live.
	TTL []string `yaml:"ttl"`
	// Lacks maps faults to the reason why they have no meaning for the service. A reason for kill-server holds
	// for cut-server too.
	Lacks map[string]string `yaml:"lacks"`
}

// FailoverFaults are the faults of the table: the holder or leader is killed, suspended, or cut off from all
// others or all servers; the leading server is killed, or cut off from the other servers.
var FailoverFaults = []string{"kill", "pause", "cut", killServer, cutServer}

const killServer, cutServer = "kill-server", "cut-server"

//go:embed failover.yaml
var failoverLines []byte

// FailoverLines returns the services of the table of failovers.
func FailoverLines() []*FailoverLine {
	all, err := readFailoverLines(failoverLines)
	if err != nil {
		panic(err) // impossible: a test reads the file
	}
	return all
}

func readFailoverLines(text []byte) ([]*FailoverLine, error) {
	var file struct {
		Lines []*FailoverLine `yaml:"lines"`
	}
	if err := yamlfile.Decode(text, &file); err != nil && err != io.EOF {
		return nil, err
	}
	for i, l := range file.Lines {
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("line %d of failovers, %s: %w", i+1, l.Service, err)
		}
	}
	return file.Lines, nil
}

// check returns an error if the line lacks something or contradicts itself.
func (l *FailoverLine) check() error {
	if l.Service == "" {
		return errors.New("the service is missing")
	}
	for _, fault := range slices.Sorted(maps.Keys(l.Lacks)) {
		if !slices.Contains(FailoverFaults, fault) {
			return fmt.Errorf("lacks: %s is not a fault of the table, which has %s", fault,
				strings.Join(FailoverFaults, ", "))
		}
		if l.Lacks[fault] == "" {
			return fmt.Errorf("lacks: say why %s has no meaning", fault)
		}
	}
	for _, option := range l.TTL {
		if !ofTTL().MatchString(option) {
			return fmt.Errorf("ttl: %s does not depend on the ttl: write it as px={1}", option)
		}
	}
	return nil
}

// ofTTL matches the placeholder for a share of the ttl.
var ofTTL = pattern.Of(`\{[0-9.]+\}`)

// Words returns the options of the service for a ttl.
func (l *FailoverLine) Words(ttl time.Duration) []string {
	words := slices.Clone(l.With)
	for _, option := range l.TTL {
		words = append(words, ofTTL().ReplaceAllStringFunc(option, func(place string) string {
			part, _ := strconv.ParseFloat(strings.Trim(place, "{}"), 64) // always valid: ofTTL has matched it
			return time.Duration(part * float64(ttl)).Round(time.Millisecond).String()
		}))
	}
	return words
}

// Text returns the service with the options that do not depend on the ttl, and the file of its client.
func (l *FailoverLine) Text() string {
	words := append([]string{l.Service}, l.With...)
	if l.Client != "" {
		words = append(words, "client="+path.Base(l.Client))
	}
	return strings.Join(words, " ")
}

// TTLs returns the ttls that the line is run with. A service without a ttl is run once, with 0.
func (l *FailoverLine) TTLs(asked []time.Duration) []time.Duration {
	if len(l.TTL) == 0 {
		return []time.Duration{0}
	}
	return asked
}

// TableRows returns the rows of failover.csv, a row for each case. If a case has no run, or is not of this
// call, its row stays as failover.csv has it.
func (m *Failover) TableRows() ([]results.FailoverRow, error) {
	set := &results.Set{Path: filepath.Join(m.Setup.Results, m.Setup.Set)}
	before, err := set.Failover()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, UnreadableError{fmt.Errorf("%w; remove the file to have it written anew", err)}
	}
	var rows []results.FailoverRow
	for _, c := range m.Cases {
		rows = append(rows, c.TableRow())
	}
	of := func(r *results.FailoverRow) string { return fmt.Sprint(r.Line, r.AskedS, r.Fault) }
	for i := range before {
		b := &before[i]
		if b.Runs == 0 {
			continue
		}
		switch at := slices.IndexFunc(rows, func(r results.FailoverRow) bool { return of(&r) == of(b) }); {
		case at < 0:
			rows = append(rows, *b)
		case rows[at].Runs+rows[at].LeftOut == 0 && m.Cases[at].Lacks() == "": // no run could be made this time
			rows[at] = *b
		}
	}
	place := map[string]int{}
	for i, l := range FailoverLines() {
		place[l.Text()] = i
	}
	slices.SortStableFunc(rows, func(a, b results.FailoverRow) int {
		return cmp.Or(cmp.Compare(place[a.Line], place[b.Line]),
			cmp.Compare(slices.Index(FailoverFaults, a.Fault), slices.Index(FailoverFaults, b.Fault)),
			compareTimes(a.AskedS, b.AskedS))
	})
	return rows, nil
}

// TableRow returns the row of the case in failover.csv.
func (c *FailoverCase) TableRow() results.FailoverRow {
	out := results.FailoverRow{Service: c.Line.Service, Line: c.Line.Text(),
		Options: strings.Join(c.Line.Words(c.Asked), " "),
		AskedS:  secondsOf(c.Asked), Fault: c.Fault, Runs: len(c.Runs), LeftOut: len(c.LeftOut)}
	if s := c.Subject; s != nil {
		out.GrantedS = secondsOf(s.Granted)
		out.Server = s.Config.Options[foreign.ServerVersionOption]
		out.Client = s.Config.Options[foreign.ClientVersionOption]
		if c.Lacks() == "" {
			if j, err := c.Job(1); err == nil {
				out.Plan = j.Faults[0].String()
			}
		}
	}
	var times []figure.Figure
	for _, r := range c.Runs {
		if times = append(times, r.NextS); r.NextS.IsBound() {
			out.Missed++
		}
	}
	if out.Reason = c.reason(); len(times) == 0 {
		return out
	}
	out.MedianS = stats.MedianOf(times)
	out.LowS, out.HighS, out.Interval = medianInterval(times)
	longest := slices.MaxFunc(c.Runs, func(a, b *FailoverRun) int { return compareTimes(a.NextS, b.NextS) })
	out.LeastS, out.MostS, out.Run = slices.MinFunc(times, compareTimes), longest.NextS, longest.Folder
	c.overlaps(&out)
	return out
}

// overlaps fills in how many runs two were inside or led, and in how many both wrote with fence numbers, or
// led in one term.
func (c *FailoverCase) overlaps(out *results.FailoverRow) {
	inside, both, known := 0, 0, true
	for _, r := range c.Runs {
		if r.Strict == algorithm.Breaks {
			inside++
		}
		if r.Fenced == algorithm.Breaks {
			both++
		}
		out.Fences = r.HasFences
		known = known && r.HasFences && r.Fenced != 0
	}
	if out.TwoInside = figure.Number(float64(inside)); known {
		out.BothWrite = figure.Number(float64(both))
	}
}

// reason returns why the case has no run, or why some runs do not count, the most frequent reason first.
func (c *FailoverCase) reason() string {
	switch {
	case c.Lacks() != "":
		return c.Lacks()
	case c.Err != nil:
		return c.Err.Error()
	}
	count := map[string]int{}
	for _, r := range c.LeftOut {
		count[r.Why]++
	}
	var all []string
	for _, why := range slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	}) {
		all = append(all, fmt.Sprintf("%d: %s", count[why], why))
	}
	return strings.Join(all, "; ")
}

// Kinds of intervals of a time.
const (
	intervalOfMedian = "95% of the median"
	intervalOfAll    = "least and most"
)

// medianInterval returns the confidence interval of the median or, if there are too few times, the least and
// the greatest. The upper end is a lower bound if a time at or below it is a lower bound.
func medianInterval(times []figure.Figure) (low, high figure.Figure, is string) {
	var values []float64
	for _, f := range times {
		x, _ := f.Value()
		values = append(values, x)
	}
	from, to, is := slices.Min(values), slices.Max(values), intervalOfAll
	if e := stats.Median(values); e.Bounded() {
		from, to, is = e.Low, e.High, intervalOfMedian
	}
	high = figure.Number(to)
	for i, f := range times {
		if f.IsBound() && values[i] <= to {
			high = figure.AtLeast(to)
		}
	}
	return figure.Number(from), high, is
}

// compareTimes orders two times by length. A lower bound is longer than an equal exact time.
func compareTimes(a, b figure.Figure) int {
	x, _ := a.Value()
	y, _ := b.Value()
	switch {
	case x != y:
		return cmp.Compare(x, y)
	case a.IsBound() == b.IsBound():
		return 0
	case a.IsBound():
		return 1
	}
	return -1
}

// secondsOf returns a time in seconds, or an unknown figure if it is zero.
func secondsOf(d time.Duration) figure.Figure {
	if d == 0 {
		return figure.Figure{}
	}
	return figure.Number(d.Seconds())
}
