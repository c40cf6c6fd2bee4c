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
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
)

// A Setting has what the checks must know about a run beside its history.
type Setting struct {
	Problem   *Problem // nil: Exclusion
	Config    nodes.Config
	Algorithm string
	Apart     bool            // nodes send each other no messages: they meet at a service
	Codec     *nodes.Codec    // codec of the messages; nil: their kinds have no names
	Cost      algorithm.Range // published messages per entry under this load, as a mean over the whole run
	CostKnown bool
	Renewals  func(hold time.Duration) algorithm.Range // messages of one hold on top of Cost; nil: 0
	// exact cost of each entry, as in the algorithm
	Exact     func(c nodes.Config, alone bool) algorithm.EntryCost
	Alone     bool // requests are made one at a time
	Servers   int  // how many nodes have no client
	Resources int  // how many resources clients ask for
	// a failure detector runs beside the algorithm
	Detects bool
	// Tells returns within what time the detector suspects a crashed node, given the delay of a message and how
	// many nodes are down at once at most; nil: no detector. TellsNeeds are the assumptions of this bound.
	Tells      func(message time.Duration, down int) time.Duration
	TellsNeeds nodes.Assumption
	Oracle     bool // the simulator plays the detector, and reports only crashes
	Unheard    bool // the algorithm listens to a detector, and none runs
	Timed      bool // the algorithm has timeouts
	Replayed   bool // a schedule was played
	Real       bool // the run has real processes, which wait for processors
	Asked      bool // clients ask a process for the resource
	Lacks      Lacks
	Identities []algorithm.Identity
	Circulates bool
	Safe, Live nodes.Assumption // assumptions of safety, and further assumptions of progress
	Fair       nodes.Assumption // further assumptions of the promised order of service
	NeverHolds nodes.Assumption // assumptions that never hold, since timeouts are too short for the delays
	Recovers   time.Duration    // how long until a majority of the servers of a service is back; 0: unknown
	Grace      time.Duration    // how long the algorithm takes to recover after broken assumptions hold again
	// In a run with leaders: what electors promise, how long two may lead during a take-over, and within what
	// time a leader without a majority knows it.
	Leads          *algorithm.Leadership
	Overlap, Lapse time.Duration
	// Measured means that the history has how late processes were. Otherwise they may be late by Slack, in
	// addition to every promised time.
	Measured bool
	Slack    time.Duration
	// Covers reports whether the timeouts of the algorithm cover delays that are longer by late; nil: it has
	// none that must.
	Covers func(late time.Duration) bool
	// In a run of clients: Minority is how long a client without a majority may still enter; 0: not promised.
	// With Keeps, it may go on entering in an epoch that began before. Settles is how long messages that were
	// on their way may still arrive.
	Minority, Settles time.Duration
	Keeps             bool
	// Without faults, messages take at most Delay if Bounded is set, and all take equally long if Even is set.
	Bounded, Even bool
	Delay         time.Duration
	Informs       bool // the history has what clients were told of the lock: see nodes.Spec
	Fenced        bool // the resource demands fence numbers, and refuses late writes
	// Epoch returns the epoch in which a fence number was handed out; nil: the algorithm has no epochs.
	Epoch func(fence uint64) uint64
	// Fills means that the load demands all units of a resource with several: clients always want more than
	// there are, and keep them for longer than it takes to hand on free ones.
	Fills   bool
	Fewest  bool    // the client with fewest requests comes first
	Promise Promise // the algorithm's promise about the order of service
	Work    workload.Work
	Open    bool // the schedule of requests was fixed before the run
	// Capacity returns how many units the resource of an instance has; nil: Config has the number.
	Capacity func(instance uint16) int
	Faults   []Fault // the planned faults, in the order of their numbers
	Expected uint64  // entries that the run was to make in all; 0: a duration was given instead
}

// SlackOf returns how late n real processes may be, since they wait for processors, if no run has measured
// it. It is a guess, and a generous one, since nothing is known about the machine.
func SlackOf(n int) time.Duration { return time.Second + time.Duration(n)*10*time.Millisecond }

// SettingOf returns the setting of a run with the instances of stack. The algorithm is the first instance.
func SettingOf(stack *algorithm.Stack) Setting {
	in := stack.Instances()[0]
	algo, c := in.Algorithm, in.Config
	published, alone := stack.Published()
	_, timed := algo.Machine(c, 0).(nodes.Timed)
	s := Setting{Problem: ProblemOf(algo), Config: c, Algorithm: algo.Name, Codec: stack.Codec(),
		Identities: published.IdentitiesIn(c), Timed: timed, Exact: published.Exact, Circulates: algo.Circulates,
		Detects: stack.Detectors() != nil, Unheard: algo.Detects != "" && stack.Detectors() == nil,
		Safe: algo.SafeIn(c), Live: algo.LiveIn(c), Servers: stack.Total() - c.N, Resources: len(stack.Mutexes()),
		Fair:  published.Fair,
		Grace: stack.Grace(), Informs: algo.Informs, Fenced: stack.Fenced(0)}
	s.Fewest = published.Fewest != nil && published.Fewest(c)
	if published.Cost != nil {
		if cost := published.Cost(c); cost.Renewal > 0 {
			s.Renewals = cost.Renewals
		}
	}
	if !alone { // the algorithm also needs the assumptions of the other instances
		s.Live = stack.Live()
	}
	for _, in := range stack.Instances() {
		if c := in.Config; in.Detector != nil {
			c.N = stack.Total()
			s.TellsNeeds = in.LiveIn(c) | nodes.NoPause | nodes.Timing // a stopped node suspects no node
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

// A Fold gathers the evidence of a run. It observes the fold of the sections of the history.
type Fold struct{ evidence }

// New returns a fold of the same history as s.
func New(s *section.Fold, setting Setting) *Fold {
	if setting.Problem == nil {
		setting.Problem = Exclusion
	}
	// If hosts have different clocks, times of different nodes differ by up to this error.
	err := time.Duration(min(s.StampError(), int64(time.Hour)))
	if setting.Slack > 0 || setting.Measured {
		setting.Slack += err
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
		promises := *setting.Leads
		promises.Terms = promises.Terms && !setting.Lacks.Terms
		f.leaders = leadership.New(setting.Config, &promises)
		f.leaders.Grace, f.leaders.Servers = setting.Grace, setting.Servers
		for i := range setting.Faults {
			f.leaders.Cuts = append(f.leaders.Cuts, setting.Faults[i].Blocks)
		}
		s.Observe(leaderObserver{f.leaders})
	}
	return f
}

// Sections returns a fold of the sections of a history.
func Sections(h history.Header, s Setting) *section.Fold {
	if s.Capacity == nil {
		s.Capacity = func(uint16) int { return s.Config.Capacity() }
	}
	f := section.New(h.StampError, s.Capacity)
	f.Codec, f.Detects, f.Asked = s.Codec, s.Detects, s.Asked
	f.Slows = func(fault *section.Fault, id nodes.ID) bool {
		asked := askedOf(s.Faults, fault)
		return asked.Slows && asked.hits(id, fault.Victim)
	}
	if s.Apart {
		f.Touches = func(fault *section.Fault, id nodes.ID) bool {
			asked := askedOf(s.Faults, fault)
			return asked.Spares && asked.hits(id, fault.Victim)
		}
	}
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
		Silences:   f.silences(),
	}
	v.Starved, v.Divided = f.Problem.unserved(&f.evidence)
	v.Blocked = len(v.Starved) > 0 && len(v.Starved) == f.Config.N-f.down()
	if more := len(v.Starved) - stall.Most; more > 0 {
		v.Starved, v.MoreStarved = v.Starved[:stall.Most:stall.Most], more
	}
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
		own := check{name: "panic", own: true, about: aboutSafety, judge: panicked}
		v.Findings = append(v.Findings, f.finding(&own))
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

// Lacks says which data the history of a run does not have. No check judges these.
type Lacks struct {
	Counts   bool // counters of messages, which nodes keep in addition to events
	Register bool // how many units the register counted at an entry
	Account  bool // the values of the shared account
	Delay    bool // how long a message may take
	Terms    bool // the terms of leaders
	Requests bool // when clients requested a resource
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
	case section.GaveUp:
		f.gaveUp++
	case section.Unserved:
		f.waiting = append(f.waiting, openRequest{s.Asked, s.Node, s.Entry, s.Resource.Instance})
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
	case history.Disconnected, history.Reconnected, history.Crashed:
		f.connection(&event)
	}
	switch event.Kind {
	case history.FaultBegan, history.FaultHealed, history.Crashed, history.Restarted:
		f.minority.changed()
	case history.Campaigned:
		f.campaigned(event.At)
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
	slices.SortFunc(f.waiting, func(a, b openRequest) int {
		return cmp.Or(cmp.Compare(a.asked, b.asked), cmp.Compare(a.node, b.node),
			cmp.Compare(a.instance, b.instance))
	})
	slices.SortFunc(f.inside, func(a, b section.Section) int {
		return cmp.Or(cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Resource.Instance, b.Resource.Instance))
	})
	f.logs, f.sum = logs, history.Sum(logs)
	// A message that has not arrived when the run is at rest, or has stalled, is lost.
	f.audit = f.auditStreams(f.rested() || f.seen(history.Stalled))
	f.books = accounting(&f.records)
}

// JudgeReplay judges the history of a schedule as that of a run. A schedule that only ends early breaks no
// promise.
func JudgeReplay(h *history.History, stack *algorithm.Stack) (outcome Outcome, says string) {
	v := Judge(h, SettingOfReplay(stack))
	if failed, _ := v.Failed(); failed == "" && v.Outcome != Valid {
		return v.Outcome, "the schedule ends, and no promise was broken by then"
	}
	return v.Outcome, v.Reason
}

// SettingOfReplay returns the setting of a schedule that was played on nodes with the instances of stack.
// Messages that are on their way at its end are not counted. Its steps take no time, so checks judge no time:
// the schedule itself observes that two lead for too long, or that the nodes never agree. After an assumption
// was broken, all that follows is outside the model. The schedule plays the failure detector.
func SettingOfReplay(stack *algorithm.Stack) Setting {
	s := SettingOf(stack)
	s.Identities, s.Exact, s.Unheard = nil, nil, false
	s.Replayed = true
	in := stack.Instances()[0]
	s.Promise = PromiseOf(in.Algorithm, in.Config, chance.Longest) // a schedule observes when requests are known
	s.Promise.Made = s.Promise.Made && len(stack.Mutexes()) == 1
	if s.Grace > 0 {
		s.Grace = chance.Longest
	}
	if s.Overlap > 0 || s.Leads.InTerms() {
		s.Overlap = math.MaxInt64 - s.Slack
	}
	return s
}

// Failed returns the check that a schedule fails, perhaps outside its model, and the broken assumptions; ""
// if no promise was broken.
func (v *Verdict) Failed() (check string, broken nodes.Assumption) {
	if w := v.Worst(); w.Outcome == Violated || w.OutsideModel && !w.ByRun {
		return w.Check, w.Broken
	}
	return "", 0
}

// observe takes something that was observed in a schedule.
func (f *Fold) observe(event history.Event) {
	if event.Count == history.Quiet {
		f.fair.quiet()
	}
	if int(event.Count) < len(f.observed) && f.observed[event.Count] == nil {
		f.observed[event.Count] = new(event)
	}
}

// panicked: no machine panics.
func panicked(e *evidence) Finding {
	p := e.observed[history.Panicked]
	return e.outsideIf(violated("%s panicked", name(p.Node)), e.at(p.At), e.Safe)
}

// nodesDo writes a sentence about nodes: node 1 waits, or nodes 0, 2 wait. It names at most few.
func nodesDo(all []nodes.ID, does, do string) string {
	if len(all) == 1 {
		return name(all[0]) + " " + does
	}
	var ids []string
	for _, id := range all[:min(few, len(all))] {
		ids = append(ids, fmt.Sprint(id))
	}
	return "nodes " + strings.Join(fewOf(ids, len(all)), ", ") + " " + do
}
