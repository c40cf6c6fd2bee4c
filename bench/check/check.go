// Package check judges a run by its history: whether the algorithm kept its promises, and whether the
// run is fit to say so.
package check

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An Outcome is what a check comes to. The worst of several is the highest.
type Outcome int

// The outcomes, in rising order of severity.
const (
	Valid        Outcome = iota // the promise was kept, and there is evidence of it
	UnderLoaded                 // less was asked of the system than the run was to ask
	Inconclusive                // the run does not say
	Violated                    // the promise was broken
)

var outcomes = [...]string{"valid", "under-loaded", "inconclusive", "violated"}

func (o Outcome) String() string { return outcomes[o] }

// ExitCode is the exit status of a command whose verdict this is.
func (o Outcome) ExitCode() int { return [...]int{0, 3, 2, 1}[o] }

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

	// OutsideModel: an assumption that the algorithm rests on had been broken before.
	OutsideModel bool `json:"outside_model,omitempty" yaml:"outside_model,omitempty"`
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

	// OutsideModel tells that an assumption that the algorithm rests on was broken before it failed.
	OutsideModel bool `json:"outside_model,omitempty" yaml:"outside_model,omitempty"`
}

// A Setting is what the checks must know of a run that its history does not say.
type Setting struct {
	Config     nodes.Config
	Algorithm  string
	Kinds      []string    // names of the message kinds, by index
	Cost       nodes.Range // published messages per entry for this load, for the whole run
	CostKnown  bool
	Identities []nodes.Identity
	Circulates bool
	Safe, Live nodes.Assumption // what the algorithm's safety rests on, and what its progress, beside that
	Open       bool             // the schedule of requests was fixed before the run
	Expected   uint64           // entries that the run was to make in all; zero if it was to last for a time
}

// checks lists every check, those first whose sentence is the better reason.
var checks = []struct {
	name  string
	judge func(*evidence) Finding
}{
	{"exclusion", exclusion},
	{"register", register},
	{"account", account},
	{"agreement", agreement},
	{"progress", progress},
	{"loss", loss},
	{"books", books},
	{"identities", identities},
	{"cost", cost},
	{"evidence", enough},
	{"load", load},
}

// Judge makes every check on h.
func Judge(h *history.History, s Setting) Verdict {
	e := gather(h, s)
	v := Verdict{
		Entries:        e.requests.entries,
		Unfinished:     uint64(len(e.requests.open)),
		LostUnintended: e.audit.lost,
	}
	for _, site := range e.sites.all {
		v.Violations += site.violations
		v.Overlap += time.Duration(site.overlap())
		v.LostUpdates += site.lost()
	}
	for i, check := range checks {
		f := check.judge(e)
		f.Check = check.name
		v.Findings = append(v.Findings, f)
		if i == 0 || f.Outcome > v.Outcome {
			v.Outcome, v.Reason, v.OutsideModel = f.Outcome, f.Says, f.OutsideModel
		}
	}
	return v
}

// brokenBy returns those of the needs that held no more at a time.
func (e *evidence) brokenBy(at int64, needs nodes.Assumption) (broken nodes.Assumption) {
	for _, event := range e.broken {
		if event.At <= at {
			broken |= nodes.Assumption(event.Value)
		}
	}
	return broken & needs
}

// excuse adds to what an algorithm is found guilty of, at a time, that it never promised otherwise: of the
// needs that it rests on, some had been broken.
func (e *evidence) excuse(f Finding, at int64, needs nodes.Assumption) Finding {
	if broken := e.brokenBy(at, needs); broken != 0 {
		f.Says += fmt.Sprintf(" (outside its model: it needs %v)", broken)
		f.OutsideModel = true
	}
	return f
}

// faulty reports whether faults have changed what was sent and what came.
func (e *evidence) faulty() bool {
	return e.brokenBy(e.end, nodes.NoLoss|nodes.NoDuplication|nodes.NoCrash) != 0
}

// evidence is what the checks share: one pass over the history.
type evidence struct {
	h *history.History
	Setting
	marks    [history.Stalled + 1]mark
	end      int64 // of the history
	sites    sites
	requests requests
	audit    audit
	broken   []history.Event // when assumptions about the system ceased to hold, in order
}

type mark struct {
	at   int64
	seen bool
}

func markOf(h *history.History, number uint32) (m mark) {
	m.at, m.seen = h.Mark(number)
	return m
}

// measured is the span that is measured.
func measured(h *history.History) span {
	return span{markOf(h, history.Measuring), markOf(h, history.Stopped)}
}

func gather(h *history.History, s Setting) *evidence {
	e := &evidence{h: h, Setting: s}
	for m := range e.marks {
		e.marks[m] = markOf(h, uint32(m))
	}
	for _, l := range h.Logs {
		if len(l.Events) > 0 {
			e.end = max(e.end, l.Events[len(l.Events)-1].At)
		}
	}
	e.sites = sites{stampError: h.StampError(), end: e.end}
	e.requests = requests{span: measured(h)}
	for _, l := range h.Logs {
		for _, event := range l.Events {
			if event.Kind == history.AssumptionBroken {
				e.broken = append(e.broken, event)
			}
		}
	}
	h.Run(&e.sites, &e.requests)
	// A message that has not come when all is at rest, or when nothing moves any more, is lost.
	e.audit = auditStreams(h, s.Config.N, e.rested() || e.marks[history.Stalled].seen)
	return e
}

// rested reports whether the run came to rest by itself, so that its totals are whole.
func (e *evidence) rested() bool {
	return e.marks[history.Rested].seen && !e.marks[history.Stalled].seen && !e.marks[history.Interrupted].seen
}

// kind returns the name of a message kind.
func (e *evidence) kind(index int) string {
	if index < len(e.Kinds) {
		return e.Kinds[index]
	}
	return fmt.Sprintf("message of kind %d", index)
}

func valid(format string, args ...any) Finding {
	return Finding{Outcome: Valid, Says: fmt.Sprintf(format, args...)}
}

func inconclusive(format string, args ...any) Finding {
	return Finding{Outcome: Inconclusive, Says: fmt.Sprintf(format, args...)}
}

func violated(format string, args ...any) Finding {
	return Finding{Outcome: Violated, Says: fmt.Sprintf(format, args...)}
}

func (f Finding) with(witness ...string) Finding {
	f.Witness = witness
	return f
}

// fewOf returns the first few of lines, and a line that says how many it left out.
func fewOf(lines []string, few int) []string {
	if len(lines) <= few {
		return lines
	}
	return append(lines[:few:few], fmt.Sprintf("and %d more", len(lines)-few))
}

// plural prints a count of things.
func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// name prints a node for people.
func name(id nodes.ID) string { return fmt.Sprintf("node %d", id) }

func us(ns int64) string { return fmt.Sprintf("%.1f us", float64(ns)/1e3) }
