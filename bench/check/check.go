package check

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"turnstile/bench/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An Outcome is the result of a check. The worst of several is the highest.
type Outcome int

// The outcomes, in rising order of severity.
const (
	Valid        Outcome = iota // the promise was kept, and there is evidence of it
	Overloaded                  // more was asked of the system than it could serve
	UnderLoaded                 // less was asked of the system than the run was to ask
	Inconclusive                // the run does not show whether it was
	Violated                    // the promise was broken
)

var outcomes = [...]string{"valid", "overloaded", "under-loaded", "inconclusive", "violated"}

// Outcomes returns the names of all outcomes.
func Outcomes() []string { return slices.Clone(outcomes[:]) }

func (o Outcome) String() string { return outcomes[o] }

// ExitCode is the exit status of a command whose verdict this is.
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

// A Finding is what one check says.
type Finding struct {
	Check   string   `json:"check" yaml:"check"`
	Outcome Outcome  `json:"outcome" yaml:"outcome"`
	Says    string   `json:"says" yaml:"says"` // in one sentence
	Witness []string `json:"witness,omitempty" yaml:"witness,omitempty"`

	// NotJudged says that it is valid for lack of anything that the run could be compared with.
	NotJudged bool `json:"not_judged,omitempty" yaml:"not_judged,omitempty"`

	// Excused says that the algorithm has no part in its being inconclusive: the run ended too early to tell, or
	// nobody asked for a leader.
	Excused bool `json:"excused,omitempty" yaml:"excused,omitempty"`

	// OutsideModel says that an assumption that the algorithm rests on had been broken before.
	OutsideModel bool `json:"outside_model,omitempty" yaml:"outside_model,omitempty"`
	// Expected says that the run stalled, or ended without a leader that all agree on, as the model of the
	// algorithm allows: see OutsideModel.
	Expected bool `json:"expected,omitempty" yaml:"expected,omitempty"`
}

// A Verdict is what all checks together say of a run.
type Verdict struct {
	Outcome  Outcome   `json:"outcome" yaml:"outcome"`
	Reason   string    `json:"reason" yaml:"reason"` // what the worst finding says
	Findings []Finding `json:"findings" yaml:"findings"`

	Entries        uint64        `json:"entries" yaml:"entries"`
	Violations     uint64        `json:"violations" yaml:"violations"` // entries that overlapped another
	Overlap        time.Duration `json:"overlap" yaml:"overlap"`       // time with two or more inside
	LostUpdates    uint64        `json:"lost_updates" yaml:"lost_updates"`
	Unfinished     uint64        `json:"unfinished" yaml:"unfinished"`           // requests that never left
	LostUnintended uint64        `json:"lost_unintended" yaml:"lost_unintended"` // messages no fault explains
	// LostWithBroker are the messages that were lost with connections to the broker.
	LostWithBroker uint64 `json:"lost_with_broker,omitempty" yaml:"lost_with_broker,omitempty"`
	// LostToDeaths are the messages that went to nodes that were down, or died with their sender or receiver.
	LostToDeaths uint64 `json:"lost_to_deaths,omitempty" yaml:"lost_to_deaths,omitempty"`
	// EntriesInMinority are the entries of clients that could reach no majority then, for cuts and crashes.
	EntriesInMinority uint64 `json:"entries_in_minority,omitempty" yaml:"entries_in_minority,omitempty"`

	// PassedOver is the measured request that others passed over most often, counted from when it was known to
	// all; nil: no request was open for so long.
	PassedOver *PassedOver `json:"passed_over,omitempty" yaml:"passed_over,omitempty"`

	Pauses string `json:"pauses,omitempty" yaml:"pauses,omitempty"` // which processes stood still, if any did

	// OutsideModel says that an assumption that the algorithm rests on had been broken before.
	OutsideModel bool `json:"outside_model,omitempty" yaml:"outside_model,omitempty"`
	// Broken are the assumptions that the algorithm rests on which do not hold at the end of the run.
	Broken nodes.Assumption `json:"-" yaml:"-"`
	// Starved are the clients that wait at the end of the run, the longest wait first. Of a run about leaders
	// they are the nodes that are up and do not take the only one that leads for the leader, if they had the
	// time that the algorithm needs for that. Blocked says that these are all that are up.
	Starved []nodes.ID `json:"starved,omitempty" yaml:"starved,omitempty"`
	Blocked bool       `json:"blocked,omitempty" yaml:"blocked,omitempty"`
	// Divided says that two nodes led where one may: in one term or, without terms, for longer than a take-over
	// takes; or that two still lead at the end, and no time would change that.
	Divided bool `json:"divided,omitempty" yaml:"divided,omitempty"`
	Missed  bool `json:"missed,omitempty" yaml:"missed,omitempty"` // no fault hit anything
	// Misses says of each fault that hit nothing why. The run shows nothing of these.
	Misses []string `json:"misses,omitempty" yaml:"misses,omitempty"`
}

// A PassedOver is a request that others passed over.
type PassedOver struct {
	Node    nodes.ID `json:"node" yaml:"node"`
	Request uint32   `json:"request" yaml:"request"`               // its number at the node, from 1
	Times   uint64   `json:"times" yaml:"times"`                   // entries of others, while it could enter
	Open    bool     `json:"open,omitempty" yaml:"open,omitempty"` // it was never served
}

// Worst returns the finding that gives the reason of the verdict.
func (v *Verdict) Worst() *Finding {
	at := 0
	for i := range v.Findings {
		if v.Findings[i].Outcome > v.Findings[at].Outcome {
			at = i
		}
	}
	return &v.Findings[at]
}

// A check judges one promise by the evidence of a run.
type check struct {
	name  string
	judge func(*Fold) Finding
}

// A Kind of run says which checks are made.
type Kind int

// The kinds of runs.
const (
	MutualExclusion Kind = iota // clients share resources
	Election                    // nodes elect leaders
)

// checks lists the checks of each kind of run. Of two equal outcomes, the first gives the reason of the
// verdict.
var checks = [...][]check{
	MutualExclusion: {
		{"exclusion", exclusion},
		{"register", register},
		{"account", account},
		{"agreement", agreement},
		{"minority", minority},
		{"progress", progress},
		{"fairness", fairness},
		{"loss", loss},
		{"accounting", func(e *Fold) Finding { return e.books }},
		{"identities", identities},
		{"cost", cost},
		{"evidence", enough},
		{"faults", faults},
		{"load", load},
	},
	Election: {
		{"agreement", agreed},
		{"leaders", leaders},
		{"terms", terms},
		{"winner", winner},
		{"lapse", lapse},
		{"senders", senders},
		{"stability", stability},
		{"cost", electionCost},
		{"loss", loss},
		{"accounting", func(e *Fold) Finding { return e.books }},
		{"elections", elections},
		{"faults", faults},
	},
}

// Sections returns the fold of the sections of a history.
func Sections(h history.Header, s Setting) *section.Fold {
	if s.Capacity == nil {
		s.Capacity = func(uint16) int { return s.Config.Capacity() }
	}
	f := section.New(h.StampError, s.Capacity)
	f.Codec, f.Detects = s.Codec, s.Detects
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
func (e *Fold) Verdict() Verdict {
	v := Verdict{
		Entries:        e.sections.Entries,
		Unfinished:     uint64(len(e.waiting) + len(e.inside)),
		LostUnintended: e.audit.lost,
		LostWithBroker: e.audit.withBroker,
		LostToDeaths:   uint64(max(0, e.audit.toDeaths)),

		EntriesInMinority: e.secluded.entries,

		PassedOver: e.mostPassedOver(),
		Pauses:     e.pauses(),
		Broken:     e.brokenBy(e.sections.End, e.Safe|e.Live),
		Starved:    e.starved(),
		Missed:     e.missed(),
		Misses:     e.misses(),
	}
	if e.Kind == Election {
		v.Starved, v.Divided = e.astray(), e.divided()
	}
	v.Blocked = len(v.Starved) > 0 && len(v.Starved) == e.Config.N-e.down()
	for r := range e.resources() {
		v.Violations += r.Violations
		v.Overlap += time.Duration(r.Overlap)
		v.LostUpdates += r.Lost()
	}
	for _, check := range checks[e.Kind] {
		f := check.judge(e)
		f.Check = check.name
		v.Findings = append(v.Findings, f)
	}
	e.doubt(v.Findings)
	worst := v.Worst()
	v.Outcome, v.Reason, v.OutsideModel = worst.Outcome, worst.Says, worst.OutsideModel
	return v
}

// faulty reports whether faults have changed which messages were sent and arrived. An algorithm that acts on
// silence sends more for a pause or a delay as well.
func (e *Fold) faulty() bool {
	s := e.sections
	return e.sum.Dropped+e.sum.Copied > 0 ||
		e.brokenBy(s.End, nodes.NoLoss|nodes.NoDuplication|nodes.NoCrash) != 0 ||
		e.Timed && len(s.Faults)+len(s.Pauses)+len(s.Wrongs) > 0
}

// unpublished says why no published count of messages holds for the run; empty: the published counts hold.
func (e *Fold) unpublished() string {
	switch {
	case e.faulty():
		return "with faults"
	case e.NeverHolds != 0:
		return "whose timeouts are too short for its delays"
	}
	return ""
}

// late reports whether timers may have run out though nothing was wrong, since a process waited for a
// processor. Nothing is published for what an algorithm sends then.
func (e *Fold) late() bool { return e.Timed && e.Real }

// rested reports whether the run came to rest by itself, so that its totals are whole.
func (e *Fold) rested() bool {
	return e.seen(history.Rested) && !e.seen(history.Stalled) && !e.seen(history.Interrupted)
}

// seen reports whether the run came to a mark.
func (e *Fold) seen(mark int) bool { return e.sections.Marks[mark].Seen }

// resources yields the resources that clients shared.
func (e *Fold) resources() iter.Seq[*section.Resource] {
	return func(yield func(*section.Resource) bool) {
		for _, r := range e.sections.Resources {
			if r != nil && !yield(r) {
				return
			}
		}
	}
}

// kinds returns how many kinds of messages are known.
func (e *Fold) kinds() int {
	if e.Codec == nil {
		return 0
	}
	return e.Codec.Kinds()
}

// kind returns the name of a message kind.
func (e *Fold) kind(index int) string {
	if index < e.kinds() {
		return e.Codec.Name(index)
	}
	return fmt.Sprintf("message of kind %d", index)
}

func valid(format string, args ...any) Finding {
	return Finding{Outcome: Valid, Says: fmt.Sprintf(format, args...)}
}

// notJudged is a finding that is valid for lack of anything that the run could be compared with.
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

func (f Finding) excused() Finding {
	f.Excused = true
	return f
}

func (f Finding) with(witness ...string) Finding {
	f.Witness = witness
	return f
}

// fewOf returns the first few of lines, and a line that says how many of all it left out.
func fewOf(lines []string, all int) []string {
	kept := lines[:min(few, len(lines)):min(few, len(lines))]
	if all > len(kept) {
		kept = append(kept, fmt.Sprintf("and %d more", all-len(kept)))
	}
	return kept
}

// name prints a node for people.
func name(id nodes.ID) string { return fmt.Sprintf("node %d", id) }

func us(ns int64) string { return fmt.Sprintf("%.1f us", float64(ns)/1e3) }
