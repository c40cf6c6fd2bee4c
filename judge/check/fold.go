package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A Setting is what the checks must know of a run that its history does not say.
type Setting struct {
	Problem   *Problem // nil: Exclusion
	Config    nodes.Config
	Algorithm string
	Codec     *nodes.Codec // of the messages; nil: their kinds have no names
	Cost      row.Range    // published messages per entry for this load, for the whole run
	CostKnown bool
	Renewals  func(hold time.Duration) row.Range             // messages beside Cost of one hold; nil: none
	Exact     func(c nodes.Config, alone bool) row.EntryCost // as in the algorithm's row
	Alone     bool                                           // requests are made one at a time
	Servers   int                                            // how many nodes have no client
	Resources int                                            // that clients ask for
	Detects   bool                                           // a failure detector runs beside it
	// Tells is within what time the detector suspects who has crashed, where so many nodes are down at once at
	// most; TellsNeeds is what that rests on. Nil: there is none.
	Tells      func(message time.Duration, down int) time.Duration
	TellsNeeds nodes.Assumption
	Oracle     bool // the simulator speaks for the detector, and tells of crashes alone
	Unheard    bool // it listens to one, and none runs
	Timed      bool // it acts when its timers run out
	Replayed   bool // a schedule was played
	Real       bool // processes run it: they wait for processors
	Asked      bool // they ask a process for the resource
	Lacks      Lacks
	Identities []row.Identity
	Circulates bool
	Safe, Live nodes.Assumption // what the algorithm's safety rests on, and what its progress, beside that
	Fair       nodes.Assumption // what the order of service rests on that it promises, beside both
	NeverHolds nodes.Assumption // what never holds, since timeouts are too short for the delays of the run
	Recovers   time.Duration    // within which servers of a service serve while most are joined; 0: not known
	Grace      time.Duration    // within which it recovers once what breaks these for a time is over
	// Of a run about leaders, or one that follows a leader: what they promise, within what time a leader gives
	// way to the next and one that has no majority knows it, and what processes are allowed beside all these
	// times.
	Leads          *row.Leadership
	Overlap, Lapse time.Duration
	Slack          time.Duration
	// Of a run of clients: within what time one that reaches no majority enters no more, zero if nothing is
	// promised, or only in an epoch that had begun before (Keeps); and for how long what was on its way then may
	// still arrive.
	Minority, Settles time.Duration
	Keeps             bool
	// How long messages take without faults: no longer than Delay, if it is bounded, and all the same, if even.
	Bounded, Even bool
	Delay         time.Duration
	Informs       bool // its machines say what clients hear of the lock: see nodes.Spec
	Fenced        bool // the resource demands fence numbers, and refuses what comes late
	// Epoch tells in which epoch a fence number was handed out; nil: the algorithm has none.
	Epoch func(fence uint64) uint64
	// Fills says that the load demands all units of a resource that has several, at some time: clients always
	// want more than there are, and keep them for longer than it takes to hand on those that are free.
	Fills   bool
	Fewest  bool    // who has made fewest requests comes first
	Promise Promise // of the order in which it serves
	Work    workload.Work
	Open    bool // the schedule of requests was fixed before the run
	// Capacity tells how many units the resource of an instance has; nil: as many as Config says.
	Capacity func(instance uint16) int
	Faults   []Fault // that were asked for, in the order of their numbers
	Expected uint64  // entries that the run was to make in all; zero if it was to last for a time
}

// SettingOf returns what checks must know of what the nodes of a run are made of: the algorithm is the first
// instance.
func SettingOf(stack *row.Stack) Setting {
	in := stack.Instances()[0]
	row, c := in.Row, in.Config
	published, alone := stack.Published()
	_, timed := row.Machine(c, 0).(nodes.Timed)
	s := Setting{Problem: ProblemOf(row), Config: c, Algorithm: row.Name, Codec: stack.Codec(),
		Identities: published.IdentitiesIn(c), Timed: timed, Exact: published.Exact, Circulates: row.Circulates,
		Detects: stack.Detectors() != nil, Unheard: row.Detects != "" && stack.Detectors() == nil,
		Safe: row.SafeIn(c), Live: row.LiveIn(c), Servers: stack.Total() - c.N, Resources: len(stack.Mutexes()),
		Fair:  published.Fair,
		Grace: stack.Grace(), Informs: row.Informs, Fenced: stack.Fenced(0)}
	s.Fewest = published.Fewest != nil && published.Fewest(c)
	if published.Cost != nil {
		if cost := published.Cost(c); cost.Renewal > 0 {
			s.Renewals = cost.Renewals
		}
	}
	if !alone { // what the other needs, the algorithm does
		s.Live = stack.Live()
	}
	for _, in := range stack.Instances() {
		if c := in.Config; in.Detector != nil {
			c.N = stack.Total()
			s.TellsNeeds = in.LiveIn(c) | nodes.NoPause | nodes.Timing // who stands still suspects nobody
			s.Oracle = in.Told != nil
			s.Tells = func(message time.Duration, down int) time.Duration {
				return in.Detector.Tells(c, message, down)
			}
		}
	}
	if elector := stack.Elector(); elector != nil {
		s.Leads = elector.Elector
		if s.Leads.Overlap != nil {
			s.Overlap = s.Leads.Overlap(elector.Config)
		}
		s.Lapse = s.Leads.LapseOf(elector.Config)
	}
	if s.Minority = stack.Minority(); s.Minority > 0 {
		s.Keeps, s.Settles = published.Minority.Keeps, published.Minority.Within(c)
	}
	if of := published.Epochs.Of; of != nil {
		s.Epoch = func(fence uint64) uint64 { return of(c, fence) }
	}
	return s
}

// A Fold gathers the evidence of a run. It observes the fold of the sections of its history.
type Fold struct{ evidence }

// New returns a fold of the history that s folds.
func New(s *section.Fold, setting Setting) *Fold {
	if setting.Problem == nil {
		setting.Problem = Exclusion
	}
	// If hosts have several clocks, times of different nodes are this much less exact.
	err := time.Duration(min(s.StampError(), int64(time.Hour)))
	if setting.Slack > 0 {
		setting.Slack += err
	}
	if setting.Promise.Slack > 0 {
		setting.Promise.Slack += err
	}
	m := &model{Setting: setting, sections: s}
	f := &Fold{evidence{model: m, records: records{model: m}, elected: elected{model: m},
		minority: minorityEntries{sides: sides{model: m}}, gaps: gaps{model: m},
		fair: newFairFold(s, setting.Promise, setting.Faults)}}
	if setting.Exact != nil {
		f.entryCost = setting.Exact(setting.Config, setting.Alone)
	}
	if setting.Fewest && setting.Resources < 2 {
		f.ranked = newRankFold(setting.Delay)
	}
	s.Observe(f)
	if setting.Leads != nil {
		f.leaders = leadership.New(setting.Config, setting.Leads)
		f.leaders.Grace, f.leaders.Servers = setting.Grace, setting.Servers
		for i := range setting.Faults {
			f.leaders.Cuts = append(f.leaders.Cuts, setting.Faults[i].Blocks)
		}
		s.Observe(leaderObserver{f.leaders})
	}
	return f
}

// Sections returns the fold of the sections of a history.
func Sections(h history.Header, s Setting) *section.Fold {
	if s.Capacity == nil {
		s.Capacity = func(uint16) int { return s.Config.Capacity() }
	}
	f := section.New(h.StampError, s.Capacity)
	f.Codec, f.Detects, f.Asked = s.Codec, s.Detects, s.Asked
	f.Informs, f.Demands, f.Named, f.Work = s.Informs, s.Fenced, s.Resources, s.Work
	return f
}

// Judge makes every check on a whole history.
func Judge(h *history.History, s Setting) Verdict {
	sections := Sections(h.Header(), s)
	f := New(sections, s)
	h.Run(sections)
	return f.Verdict()
}

// Verdict makes every check, once the fold is closed.
func (f *Fold) Verdict() Verdict {
	v := Verdict{
		Entries:        f.sections.Entries,
		Unfinished:     uint64(len(f.waiting) + len(f.inside)),
		LostUnintended: f.audit.lost,
		LostWithBroker: f.audit.withBroker,
		LostToDeaths:   uint64(max(0, f.audit.toDeaths)),

		EntriesInMinority: f.minority.entries,

		PassedOver: f.mostPassedOver(),
		Pauses:     f.pauses(),
		Broken:     f.brokenBy(f.sections.End, f.Safe|f.Live),
		Missed:     f.missed(),
		Misses:     f.misses(),
	}
	v.Starved, v.Divided = f.Problem.unserved(&f.evidence)
	v.Blocked = len(v.Starved) > 0 && len(v.Starved) == f.Config.N-f.down()
	for r := range f.resources() {
		v.Violations += r.Violations
		v.Overlap += time.Duration(r.Overlap)
		v.LostUpdates += f.evidence.lost(r)
	}
	for i := range f.Problem.checks {
		if c := &f.Problem.checks[i]; c.of != nil && !c.of(&f.evidence) {
			continue
		}
		v.Findings = append(v.Findings, f.finding(&f.Problem.checks[i]))
	}
	if f.saw(history.Panicked) {
		v.Findings = append(v.Findings, f.finding(&check{name: "panic", about: aboutSafety, judge: panicked}))
	}
	worst := v.Worst()
	v.Outcome, v.Reason, v.OutsideModel = worst.Outcome, worst.Says, worst.OutsideModel
	if v.Outcome == Valid && f.Problem.uncontended != nil {
		v.Uncontended = f.Problem.uncontended(&f.evidence)
	}
	if v.Outcome == Valid && f.NeverHolds != 0 {
		v.Reason += " (outside its model: its timeouts are too short for the delays of the run)"
	}
	return v
}

// Lacks says what the history of a run does not have, so that it is not judged.
type Lacks struct {
	Counts   bool // of messages, which nodes leave beside their events
	Register bool // how many the register counted at an entry
	Account  bool // what the shared account held
}

// Asked implements section.Observer.
func (f *Fold) Asked(s *section.Section) {
	f.fair.asked(s)
	if f.ranked != nil {
		f.ranked.ask(s)
	}
}

// Entered implements section.Observer.
func (f *Fold) Entered(s *section.Section) {
	f.fair.entered(s)
	if f.ranked != nil {
		f.ranked.enter(s)
	}
	f.gaps.entered(s)
	f.minority.add(s)
	if f.entryCost != nil && s.Node >= 0 && int(s.Node) < f.Config.N {
		f.due += uint64(f.entryCost(s.Node))
	}
}

// Ended implements section.Observer.
func (f *Fold) Ended(s *section.Section) {
	f.fair.ended(s)
	f.gaps.ended(s)
	if f.Renewals != nil && s.State == section.Exited {
		of := f.Renewals(time.Duration(s.Ended - s.Entered))
		f.renewals.Min, f.renewals.Max = f.renewals.Min+of.Min, f.renewals.Max+of.Max
	}
	switch s.State {
	case section.Abandoned:
		f.abandoned++
	case section.Unserved:
		f.waiting = append(f.waiting, *s)
	case section.Unended:
		f.inside = append(f.inside, *s)
	}
}

// Add implements history.Fold.
func (f *Fold) Add(event history.Event) {
	if event.Kind == history.Disconnected {
		f.disconnect(&event)
	}
	f.hear(&event)
	f.fair.add(&event)
	switch event.Kind {
	case history.FaultBegan, history.FaultHealed, history.Crashed, history.Restarted:
		f.minority.changed()
	case history.Campaigned:
		f.told(event.At)
	case history.Observed:
		f.observe(event)
	case history.ClockSet:
		f.clocks = append(f.clocks, event)
	case history.Breached:
		f.breach = &event
	}
	if event.Kind != history.Sent || event.Node < 0 || event.Count >= nodes.MaxKinds {
		return
	}
	if sent := f.Problem.sent; sent != nil {
		sent(&f.elected, event)
	}
	f.recorded = grown(f.recorded, int(event.Instance)+1)
	of := &f.recorded[event.Instance]
	*of = grown(*of, int(event.Node)+1)
	kinds := &(*of)[event.Node]
	*kinds = grown(*kinds, int(event.Count)+1)
	(*kinds)[event.Count]++
}

func grown[T any](s []T, length int) []T {
	if len(s) < length {
		s = append(s, make([]T, length-len(s))...)
	}
	return s
}

// Close implements history.Fold.
func (f *Fold) Close(logs []*history.NodeLog) {
	older := func(a, b section.Section) int {
		return cmp.Or(cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Resource.Instance, b.Resource.Instance))
	}
	slices.SortFunc(f.waiting, older)
	slices.SortFunc(f.inside, older)
	f.logs, f.sum = logs, history.Sum(logs)
	// A message that has not arrived when the run is at rest, or has stalled, is lost.
	f.audit = f.auditStreams(f.rested() || f.seen(history.Stalled))
	f.books = accounting(&f.records)
}

// SettingOfReplay returns what checks must know of a schedule that was played on nodes that are made of a
// stack. What is on its way when it ends is not counted. Its steps have no length, so nothing is judged by
// how long it took: that two lead for too long, or that all never agree, was observed. What has broken an
// assumption excuses all that comes later. The schedule speaks for the failure detector.
func SettingOfReplay(stack *row.Stack) Setting {
	s := SettingOf(stack)
	s.Identities, s.Exact, s.Unheard = nil, nil, false
	s.Replayed = true
	in := stack.Instances()[0]
	s.Promise = PromiseOf(in.Row, in.Config, chance.Longest) // all requests are known when that is observed
	s.Promise.Made = s.Promise.Made && len(stack.Mutexes()) == 1
	if s.Grace > 0 {
		s.Grace = chance.Longest
	}
	if s.Overlap > 0 || s.Leads.InTerms() {
		s.Overlap = math.MaxInt64 - s.Slack
	}
	return s
}

// Failed returns which check the play of a schedule fails, perhaps outside its model, and what was broken
// then of what it needs; empty: no promise was broken by its end.
func (v *Verdict) Failed() (check string, broken nodes.Assumption) {
	if w := v.Worst(); w.Outcome == Violated || w.OutsideModel && !w.Excused {
		return w.Check, w.Broken
	}
	return "", 0
}

// observe takes what was seen of a schedule.
func (f *Fold) observe(event history.Event) {
	if event.Count == history.Quiet {
		f.fair.quiet()
	}
	if int(event.Count) < len(f.observed) && f.observed[event.Count] == nil {
		f.observed[event.Count] = new(event)
	}
}

// panicked: no machine gives up, or breaks its contract.
func panicked(e *evidence) Finding {
	p := e.observed[history.Panicked]
	return e.excuse(violated("%s panicked", name(p.Node)), e.at(p.At), e.Safe)
}

// who says which nodes do something: node 1 waits, or nodes 0, 2 wait.
func who(all []nodes.ID, does, do string) string {
	if len(all) == 1 {
		return name(all[0]) + " " + does
	}
	return "nodes " + strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", ", ") + " " + do
}
