package turnstile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/results"
)

// A Recorded has the facts about a run that its history lacks.
type Recorded struct {
	Row    *Row         // row of the algorithm: its promises, and their assumptions
	Config nodes.Config // configuration of the run: at least N must be set
	// StampError bounds the error of comparing the times of two events, of any nodes. It is 0 on virtual time.
	// Only overlaps that are longer than this bound are found.
	StampError time.Duration
	Virtual    bool // the run was on virtual time: no process waited for a processor
}

// Judge judges the history of one trial, from any recorder. Its format is that of the command runs history
// --format jsonl: a JSON object a line, an event each, in the order of time (docs/measures.md has the
// columns). A missing event counts as one that did not happen; a history without marks counts as measured
// from its first event to its last. Counts beside events, such as messages, are unknown, and so are a
// register and an account without events, and how long a message may take: checks that need them are not
// made, and [Verdict.Findings] names them.
//
// The error names the line that cannot be read. A broken promise is not an error, but a violated [Verdict].
func Judge(from io.Reader, of Recorded) (*Verdict, error) {
	if of.Row == nil {
		return nil, errors.New("a history without a row: set Row")
	}
	stack, err := row.Assemble(row.Instance{Row: of.Row, Config: of.Row.Explicit(of.Config)})
	if err != nil {
		return nil, err
	}
	var events []history.Event
	keep := func(e history.Event) { events = append(events, e) }
	has, err := results.ReadEvents(from, stack.Codec().Names(), keep)
	switch {
	case err != nil:
		return nil, err
	case len(events) == 0:
		return nil, errors.New("a history without events cannot be judged")
	}
	for _, e := range events {
		if e.Node < nodes.None || int(e.Node) >= stack.Total() {
			return nil, fmt.Errorf("there is an event of node %d: the run of Config has nodes 0 to %d, and %d stands "+
				"for the orchestrator", e.Node, stack.Total()-1, nodes.None)
		}
	}
	s := settingOf(of, stack, events, has)
	h := history.Header{Nodes: stack.Total(), StampError: int64(of.StampError)}
	sections := check.Sections(h, s)
	checks := check.New(sections, s)
	for _, e := range marked(events) {
		sections.Add(e)
	}
	sections.Close(nil)
	v := checks.Verdict()
	return &v, nil
}

// settingOf returns the setting of a run that was recorded elsewhere. has tells which columns its events
// have. Without an account, settingOf changes the events: entries count as reading 0, and exits as writing 1.
func settingOf(of Recorded, stack *row.Stack, events []history.Event,
	has map[results.Cell]bool) check.Setting {
	s := check.SettingOf(stack)
	if s.Real = !of.Virtual; s.Real {
		s.Slack = check.SlackOf(s.Config.N)
	}
	if slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Suspected }) {
		s.Detects, s.Unheard = true, false
	}
	s.Promise.Chance = of.Row.Exclusion().Chance
	s.Lacks = check.Lacks{Counts: true, Delay: true,
		Register: !has[results.Cell{Kind: history.Entered, Column: "register"}],
		Account:  !has[results.Cell{Kind: history.Exited, Column: "account"}]}
	for i := range events {
		if s.Lacks.Account && events[i].Kind == history.Exited {
			events[i].Value = 1
		}
	}
	return s
}

// marked returns the events of a history. If it has no marks, all of it counts as measured, and it ends at
// rest if every request was served.
func marked(events []history.Event) []history.Event {
	if slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Marked }) {
		return events
	}
	mark := func(at int64, count uint32) history.Event {
		return history.Event{At: at, Kind: history.Marked, Count: count, Node: nodes.None}
	}
	first, last := events[0].At, events[len(events)-1].At
	end := []history.Event{mark(last, history.Stopped)}
	open := 0
	for _, e := range events {
		switch e.Kind {
		case history.Requested:
			open++
		case history.Exited, history.Revoked:
			open--
		}
	}
	if open == 0 {
		end = append(end, mark(last, history.Rested))
	}
	begin := []history.Event{mark(first, history.Began), mark(first, history.Measuring)}
	return slices.Concat(begin, events, end)
}
