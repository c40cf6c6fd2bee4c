package check

import (
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/stall"
)

// An Outcome is the result of a check. The worst of several is the highest.
type Outcome int

// The outcomes, in rising order of severity.
const (
	Valid        Outcome = iota // the promise was kept, and there is evidence of it
	Overloaded                  // the run planned more requests than the system could serve
	underLoaded                 // the run issued fewer requests than planned
	Inconclusive                // the run does not show whether the promise was kept
	Violated                    // the promise was broken
)

var outcomes = [...]string{"valid", "overloaded", "under-loaded", "inconclusive", "violated"}

// Outcomes returns the names of all outcomes.
func Outcomes() []string { return slices.Clone(outcomes[:]) }

func (o Outcome) String() string { return outcomes[o] }

// ExitCode returns the exit status of a command with this verdict.
func (o Outcome) ExitCode() int { return [...]int{0, 3, 3, 2, 1}[o] }

// MarshalText writes the outcome as its name.
func (o Outcome) MarshalText() ([]byte, error) {
	if o < 0 || int(o) >= len(outcomes) {
		return nil, fmt.Errorf("no outcome is numbered %d", o)
	}
	return []byte(o.String()), nil
}

// UnmarshalText reads the name of an outcome.
func (o *Outcome) UnmarshalText(text []byte) error {
	at := slices.Index(outcomes[:], string(text))
	if at < 0 {
		return fmt.Errorf("there is no outcome %q", text)
	}
	*o = Outcome(at)
	return nil
}

// A Finding is the result of one check.
type Finding struct {
	Check   string   `json:"check" yaml:"check"`
	Outcome Outcome  `json:"outcome" yaml:"outcome"`
	Says    string   `json:"says" yaml:"says"` // in one sentence
	Witness []string `json:"witness,omitempty" yaml:"witness,omitempty"`

	// NotJudged means that the finding is valid only because nothing was there to compare the run with.
	NotJudged bool `json:"not_judged,omitempty" yaml:"not_judged,omitempty"`

	// ByRun means that the finding is inconclusive for a reason outside the algorithm: the run ended too early
	// to tell, or no node that was up had been asked to elect a leader.
	ByRun bool `json:"by_run,omitempty" yaml:"by_run,omitempty"`

	// OutsideModel means that an assumption of the algorithm was broken before the failure or during it.
	OutsideModel bool `json:"outside_model,omitempty" yaml:"outside_model,omitempty"`
	// Broken has the assumptions that were broken. Not stored.
	Broken nodes.Assumption `json:"-" yaml:"-"`
	// Doubted means that a violation became inconclusive, since the evidence is not sound. Not stored.
	Doubted bool `json:"-" yaml:"-"`
	// Lasts is the time that lateness of processes would have to explain; nil: not known. Not stored.
	Lasts *Lasting `json:"-" yaml:"-"`
	// Idle means that no client entered during a fault that breaks no assumption of the algorithm. Not stored.
	Idle bool `json:"-" yaml:"-"`
	// Together is how long the longest overlap of leaders lasted that no broken assumption of safety explains.
	// Each leader had a term of its own. Not stored.
	Together time.Duration `json:"-" yaml:"-"`
	// Expected means that the run stalled, or ended without a leader that all agree on, outside the model of
	// the algorithm.
	Expected bool `json:"expected,omitempty" yaml:"expected,omitempty"`
}

// A Verdict is the result of all checks of a run.
type Verdict struct {
	Outcome  Outcome   `json:"outcome" yaml:"outcome"`
	Reason   string    `json:"reason" yaml:"reason"` // what the worst finding says
	Findings []Finding `json:"findings" yaml:"findings"`

	Entries        uint64        `json:"entries" yaml:"entries"`
	Violations     uint64        `json:"violations" yaml:"violations"` // entries that overlapped another
	Overlap        time.Duration `json:"overlap" yaml:"overlap"`       // time with two or more inside
	LostUpdates    uint64        `json:"lost_updates" yaml:"lost_updates"`
	Unfinished     uint64        `json:"unfinished" yaml:"unfinished"`           // requests open at the end
	LostUnintended uint64        `json:"lost_unintended" yaml:"lost_unintended"` // losses that no fault explains
	// LostWithBroker counts messages that were lost with connections to the broker.
	LostWithBroker uint64 `json:"lost_with_broker,omitempty" yaml:"lost_with_broker,omitempty"`
	// LostToDeaths counts messages that were lost because their sender or receiver was killed or down.
	LostToDeaths uint64 `json:"lost_to_deaths,omitempty" yaml:"lost_to_deaths,omitempty"`
	// EntriesInMinority counts entries of clients that could reach no majority because of cuts and crashes.
	EntriesInMinority uint64 `json:"entries_in_minority,omitempty" yaml:"entries_in_minority,omitempty"`

	// PassedOver is the measured request that was overtaken by the most entries of others after it was known to
	// all; nil: no measured request was open for long enough to be known to all.
	PassedOver *PassedOver `json:"passed_over,omitempty" yaml:"passed_over,omitempty"`

	Pauses string `json:"pauses,omitempty" yaml:"pauses,omitempty"` // describes processes that stood still

	// OutsideModel is taken from the worst finding.
	OutsideModel bool `json:"outside_model,omitempty" yaml:"outside_model,omitempty"`
	// Uncontended says of a valid run how many of its resources no two clients ever wanted at once; empty: each
	// resource was contended.
	Uncontended string `json:"uncontended,omitempty" yaml:"uncontended,omitempty"`
	// Stall says why nothing moved any more; nil: the run did not stall. It is not in the history.
	Stall stall.Reports `json:"-" yaml:"stall,omitempty"`

	// Broken has the assumptions of the algorithm that are broken at the end of the run.
	Broken nodes.Assumption `json:"-" yaml:"-"`
	// Starved are the clients that wait at the end of the run, the longest wait first. In a run about leaders
	// they are the nodes that are up and do not follow the only leader, though the algorithm had the time it
	// needs. MoreStarved is how many are left out, since there are more than stall.Most. Blocked means that all
	// nodes that are up are starved.
	Starved     []nodes.ID `json:"starved,omitempty" yaml:"starved,omitempty"`
	MoreStarved int        `json:"more_starved,omitempty" yaml:"more_starved,omitempty"`
	Blocked     bool       `json:"blocked,omitempty" yaml:"blocked,omitempty"`
	// Divided means that two nodes led where one may: in one term or, without terms, for longer than a
	// take-over takes; or that two lead at the end, and more time would not change that.
	Divided bool `json:"divided,omitempty" yaml:"divided,omitempty"`
	Missed  bool `json:"missed,omitempty" yaml:"missed,omitempty"` // no fault hit anything
	// Misses has the reason for each fault that hit nothing. The run shows nothing about these faults.
	Misses []string `json:"misses,omitempty" yaml:"misses,omitempty"`
	// Silences says for how long nobody entered during each fault that left most servers of a service up.
	Silences []string `json:"silences,omitempty" yaml:"silences,omitempty"`
}

// A PassedOver is a request that others passed over.
type PassedOver struct {
	Node    nodes.ID `json:"node" yaml:"node"`
	Request uint32   `json:"request" yaml:"request"`               // its number at the node, from 1
	Times   uint64   `json:"times" yaml:"times"`                   // how many entries overtook the request
	Open    bool     `json:"open,omitempty" yaml:"open,omitempty"` // the request was never served
}

// Worst returns the first of the worst findings, which gives the verdict its reason.
func (v *Verdict) Worst() *Finding {
	at := 0
	for i := range v.Findings {
		if v.Findings[i].Outcome > v.Findings[at].Outcome {
			at = i
		}
	}
	return &v.Findings[at]
}

// Idle reports whether no client entered during a fault that breaks no assumption of the algorithm.
func (v *Verdict) Idle() bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Idle })
}

// Unsound reports whether a check leaves everything open about the run, such as who was inside when.
func (v *Verdict) Unsound() bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool {
		return f.Outcome == Inconclusive && f.check().leaves == everything
	})
}

// About returns the first finding about a subject, or an inconclusive one.
func (v *Verdict) About(a About) Finding {
	for _, f := range v.Findings {
		if f.About() == a {
			return f
		}
	}
	return Finding{Outcome: Inconclusive}
}

// Violates reports whether a check of this name found a violation.
func (v *Verdict) Violates(check string) bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool {
		return f.Check == check && f.Outcome == Violated
	})
}

// BreaksSafety reports whether a check of this name is one of safety, and found a violation.
func (v *Verdict) BreaksSafety(check string) bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool {
		return f.Check == check && f.Outcome == Violated && f.About() == aboutSafety
	})
}

// About returns the subject of the finding's check; 0: an unknown check.
func (f *Finding) About() About { return f.check().about }

// ShowsLittle reports whether the finding is about the demands of the run, and not about the algorithm.
func (f *Finding) ShowsLittle() bool {
	about := f.About()
	return about == AboutFaults || about == aboutEnough || about == aboutLoad
}

// check returns the check of the finding, or a zero check if it is unknown.
func (f *Finding) check() *check {
	for _, p := range Problems {
		if c := p.check(f.Check); c != nil {
			return c
		}
	}
	return &check{}
}

func valid(format string, args ...any) Finding {
	return Finding{Outcome: Valid, Says: fmt.Sprintf(format, args...)}
}

// notJudged returns a finding that is valid only because nothing was there to compare the run with.
func notJudged(format string, args ...any) Finding {
	f := valid(format, args...)
	f.NotJudged = true
	return f
}

func inconclusive(format string, args ...any) Finding {
	return Finding{Outcome: Inconclusive, Says: fmt.Sprintf(format, args...)}
}

func violated(format string, args ...any) Finding {
	return Finding{Outcome: Violated, Says: fmt.Sprintf(format, args...)}
}

func (f Finding) byRun() Finding {
	f.ByRun = true
	return f
}

// A Lasting is for how long a violation lasted beyond what is promised, in which time its cause lies, and
// which nodes it concerns; nil: all.
type Lasting struct {
	Length, From, To int64
	Of               []nodes.ID
}

// lasting notes from when to when a violation lasted, and the nodes concerned; none: all.
func (f Finding) lasting(from, to int64, of ...nodes.ID) Finding {
	f.Lasts = &Lasting{to - from, from, to, of}
	return f
}

func (f Finding) with(witness ...string) Finding {
	f.Witness = witness
	return f
}

// Shown returns what a run with faults shows about its algorithm, and why: an outcome, or 0 if it is
// inconclusive. It follows from the findings.
func (v *Verdict) Shown() (algorithm.Outcome, string) {
	var stalled, doubt *Finding
	for i := range v.Findings {
		f := &v.Findings[i]
		switch check := f.check(); {
		case f.Outcome == Violated && check.about == aboutSafety && (v.Divided || !check.split):
			return algorithm.Breaks, f.Says
		case len(v.Starved) > 0 && check.about == aboutProgress &&
			(f.Outcome == Violated || f.OutsideModel || f.ByRun):
			stalled = f
		}
	}
	for i := range v.Findings {
		if f := &v.Findings[i]; doubt == nil && f.Outcome != Valid && f.doubts(stalled != nil) {
			doubt = f
		}
	}
	switch {
	case v.Missed:
		return algorithm.Unhit, "the faults hit nothing"
	case doubt != nil:
		return 0, doubt.Says
	case stalled != nil && v.Divided:
		return algorithm.Breaks, stalled.Says
	case stalled != nil && v.Blocked:
		return algorithm.Blocks, stalled.Says
	case stalled != nil:
		return algorithm.Starves, stalled.Says
	case len(v.Misses) > 0: // the algorithm recovered, but some faults hit nothing
		return 0, v.Misses[0]
	}
	return algorithm.Recovers, v.Reason
}

// Served is like Shown, but ignores violations of safety. It shows whether clients were served, or a leader
// was found, even if two were inside together.
func (v *Verdict) Served() (algorithm.Outcome, string) {
	beside := *v
	beside.Findings = slices.DeleteFunc(slices.Clone(v.Findings),
		func(f Finding) bool { return f.Outcome == Violated && f.About() == aboutSafety })
	return beside.Shown()
}

// ShownInTerms is Shown for a resource that obeys only the leader of the latest term: if two nodes lead for
// good in different terms, some nodes are without the leader of the latest term.
func (v *Verdict) ShownInTerms() (algorithm.Outcome, string) {
	apart := *v
	if slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Check == termsCheck && !f.NotJudged }) {
		apart.Findings = slices.DeleteFunc(slices.Clone(v.Findings),
			func(f Finding) bool { return f.Check == leadersCheck && f.Outcome == Violated })
	}
	if v.Divided && !slices.ContainsFunc(apart.Findings,
		func(f Finding) bool { return f.Outcome == Violated && f.About() == aboutSafety }) {
		apart.Divided, apart.Blocked = false, false // a leader leads in the latest term
	}
	return apart.Shown()
}

// doubts reports whether a finding that is not valid leaves open what the run shows. stalled is whether the
// run stalled.
func (f *Finding) doubts(stalled bool) bool {
	switch leaves := f.check().leaves; {
	case stalled:
		return leaves == everything
	case leaves == recoveryInside:
		return !f.OutsideModel
	default:
		return leaves != nothing
	}
}

// leaderless returns the nodes without a leader at the end; nil if all agree on one, or still may. An
// algorithm without a grace acts only on messages: it is finished when no node has anything to declare any
// more.
func (e *elected) leaderless() []nodes.ID {
	l := e.leaders
	still := e.still()
	if l.Apart == nil || !e.seen(history.Stopped) || still < e.patience(l.End-int64(still), l.End) ||
		e.Grace == 0 && l.Ending.Stirs {
		return nil
	}
	return l.Ending.Without
}

// still returns how much time passed without trouble before the end of the run. That no node told to campaign
// is up is no trouble here, since leaderless has to report that the other nodes have no leader then.
func (e *elected) still() time.Duration {
	l := e.leaders
	if l.Asked() {
		return e.quiet()
	}
	since, unasked := l.Begun, l.Unasked[len(l.Unasked)-1]
	for _, t := range e.troubles(nil) {
		if t != unasked {
			since = max(since, t.To)
		}
	}
	return time.Duration(l.End - since)
}

// divided reports whether two led where one may, or two lead at the end and more time would not change that.
func (e *elected) divided() bool {
	l := e.leaders
	return len(l.Conflicts) > 0 || len(l.Ending.Leading) > 1 && len(e.leaderless()) > 0 ||
		slices.ContainsFunc(l.Overlaps, func(o leadership.Overlap) bool { _, is := e.tooLong(&o); return is })
}

// waitingAtEnd returns the clients that wait at the end, the longest wait first.
func (e *evidence) waitingAtEnd() (all []nodes.ID) {
	var seen nodes.Set // a node with several clients may wait several times
	for i := range e.waiting {
		if id := e.waiting[i].node; seen.Add(id) {
			all = append(all, id)
		}
	}
	return all
}

// down returns how many clients are down at the end.
func (m *model) down() (count int) {
	for _, d := range m.sections.Deaths {
		if d.Back == math.MaxInt64 && int(d.Node) < m.Config.N {
			count++
		}
	}
	return count
}

// missed reports whether the run had faults, and all that took place were of links and hit no message.
func (m *model) missed() bool {
	none := len(m.sections.Faults) > 0
	if unhit := m.Problem.unhit; unhit != nil && !none {
		return unhit(m)
	}
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		asked := m.asked(f)
		none = none && asked.OfLinks && m.missedBy(asked, f) != ""
	}
	return none
}

// nobodyLed implements Problem.unhit: all planned faults wait for an event, and the run was not cut short.
func (m *model) nobodyLed() bool {
	return len(m.Faults) > 0 && m.seen(history.Stopped) &&
		!slices.ContainsFunc(m.Faults, func(f Fault) bool { return !f.Waits })
}
