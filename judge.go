package turnstile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/results"
)

// A Recorded has the facts about a run that its history lacks.
type Recorded struct {
	Algorithm *Algorithm   // the algorithm: its promises, and their assumptions
	Config    nodes.Config // configuration of the run: at least N must be set
	// StampError bounds the error of comparing the times of two events, of any nodes. Only overlaps that are
	// longer are found; shorter ones make the verdict inconclusive. It is 0 on virtual time: then events of
	// equal times happened in the order of their lines.
	StampError time.Duration
	Virtual    bool // the run was on virtual time: no process waited for a processor
}

// Judge judges the history of one trial, from any recorder. Its format is that of the command runs history
// --format jsonl: a JSON object per line and event, in the order of time (docs/measures.md has the columns).
// A missing event counts as one that did not happen; a history without marks counts as measured from its
// first event to its last. Unknown are counts beside events, such as messages; how long a message may take;
// and a register, an account and terms if events lack their columns. Checks that need them are not made, and
// [Verdict.Findings] names them.
//
// The error names the line that cannot be read. A broken promise is not an error, but a violated [Verdict].
func Judge(from io.Reader, of Recorded) (*Verdict, error) {
	if of.Algorithm == nil {
		return nil, errors.New("a history without an algorithm: set Algorithm")
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: of.Algorithm,
		Config: of.Algorithm.Explicit(of.Config)})
	if err != nil {
		return nil, err
	}
	var events []history.Event
	capacity := check.SettingOf(stack).Config.Capacity()
	keep := func(e history.Event) error {
		switch {
		case e.Node < nodes.None || int(e.Node) >= stack.Total():
			return fmt.Errorf("there is an event of node %d: the run of Config has nodes 0 to %d, and %d stands for "+
				"the orchestrator", e.Node, stack.Total()-1, nodes.None)
		case (e.Kind == history.Requested || e.Kind == history.Unissued) && int64(e.Count) > int64(capacity):
			return fmt.Errorf("units is %d: the resource of Config has %d", e.Count, capacity)
		}
		events = append(events, e)
		return nil
	}
	has, err := results.ReadEvents(from, stack.Codec().Names(), keep)
	switch {
	case err != nil:
		return nil, err
	case len(events) == 0:
		return nil, errors.New("a history without events cannot be judged")
	}
	s := settingOf(of, stack, events, has)
	h := history.Header{Nodes: stack.Total(), StampError: int64(of.StampError)}
	sections := check.Sections(h, s)
	if of.StampError == 0 {
		sections.InOrder()
	}
	checks := check.New(sections, s)
	fold(sections, events)
	v := checks.Verdict()
	return &v, nil
}

// settingOf returns the setting of a run that was recorded elsewhere. has tells which columns all its events
// have. settingOf fills in columns that are missing: without an account, entries count as reading 0, and
// exits as writing 1; without due_ns, a request was due when it was made; without entry, all numbers are 0.
func settingOf(of Recorded, stack *algorithm.Stack, events []history.Event,
	has map[results.Cell]bool) check.Setting {
	s := check.SettingOf(stack)
	if s.Real = !of.Virtual; s.Real {
		s.Slack = check.SlackOf(s.Config.N)
	}
	if slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Suspected }) {
		s.Detects, s.Unheard = true, false
	}
	s.Promise.Chance = of.Algorithm.Exclusion().Chance
	lacks := func(column string, kinds ...history.Kind) bool {
		return slices.ContainsFunc(events, func(e history.Event) bool {
			return slices.Contains(kinds, e.Kind) && !has[results.Cell{Kind: e.Kind, Column: column}]
		})
	}
	s.Lacks = check.Lacks{Counts: true, Delay: true, Register: lacks("register", history.Entered),
		Account: lacks("account", history.Entered, history.Exited), Terms: lacks("term", history.Elected),
		Requests: !slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Requested })}
	if s.Lacks.Account {
		fill(events, func(e *history.Event) { e.Value = 0 }, history.Entered, history.Revoked)
		fill(events, func(e *history.Event) { e.Value = 1 }, history.Exited)
	}
	if lacks("due_ns", history.Requested) {
		fill(events, func(e *history.Event) { e.Value = e.At }, history.Requested)
	}
	numbered := []history.Kind{history.Requested, history.Entered, history.Exited, history.Revoked,
		history.ToldLost, history.TryRefused, history.GaveUp}
	if lacks("entry", numbered...) {
		fill(events, func(e *history.Event) { e.Entry = 0 }, numbered...)
	}
	return s
}

// fill calls set with all events of some kinds.
func fill(events []history.Event, set func(*history.Event), kinds ...history.Kind) {
	for i := range events {
		if slices.Contains(kinds, events[i].Kind) {
			set(&events[i])
		}
	}
}

// fold gives the events to a fold, and closes it. If the events have no marks, the whole history counts as
// measured, and the run ends at rest if no request is open at the end.
func fold(sections *section.Fold, events []history.Event) {
	marked := slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Marked })
	mark := func(at int64, name uint32) {
		if !marked {
			sections.Add(history.Event{At: at, Kind: history.Marked, Count: name, Node: nodes.None})
		}
	}
	first, last := events[0].At, events[len(events)-1].At
	mark(first, history.Began)
	mark(first, history.Measuring)
	for _, e := range events {
		sections.Add(e)
	}
	mark(last, history.Stopped)
	if sections.Open() == 0 {
		mark(last, history.Rested)
	}
	sections.Close(nil)
}
