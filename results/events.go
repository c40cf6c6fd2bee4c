package results

import (
	"cmp"
	encodingjson "encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An EventWriter writes events, one per line: as CSV below a line of headers, or as JSON objects.
// docs/measures.md explains the columns. If an event does not have a column, its cell is empty in CSV, and
// missing in JSON.
type EventWriter struct {
	w     io.Writer
	json  bool
	kinds []string // names of messages, by their numbers
	// Says returns the text of the message or the program of an event. It is called once for each event, in
	// order; nil: there are no texts.
	Says func(e *history.Event) history.Text
	line []byte
	err  error // error of writing the headers
}

// NewEventWriter begins to write events to w, which should be buffered. A kind of message that has no name in
// kinds is written as a number.
func NewEventWriter(w io.Writer, json bool, kinds []string) *EventWriter {
	e := &EventWriter{w: w, json: json, kinds: kinds}
	if !json {
		var names []string
		for _, c := range eventColumns {
			names = append(names, c.name)
		}
		_, e.err = io.WriteString(w, strings.Join(names, ",")+"\n")
	}
	return e
}

// Write writes an event of a trial.
func (w *EventWriter) Write(trial int, e *history.Event) error {
	if w.err != nil {
		return w.err
	}
	b := w.line[:0]
	if w.json {
		b = append(b, '{')
	}
	of := eventOf{trial: trial, Event: e, kinds: w.kinds}
	if w.Says != nil {
		of.says = w.Says(e)
	}
	for i := range eventColumns {
		c := &eventColumns[i]
		there := c.has(&of)
		if w.json && !there {
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		if w.json {
			b = append(strconv.AppendQuote(b, c.name), ':')
		}
		if there {
			b = c.append(b, of, w.json)
		}
	}
	if w.json {
		b = append(b, '}')
	}
	w.line = append(b, '\n')
	_, err := w.w.Write(w.line)
	return err
}

// An eventOf is an event with everything that its cells depend on.
type eventOf struct {
	trial int
	*history.Event
	kinds []string
	says  history.Text
}

// An eventColumn is a column of printed events: a number or, if number is nil, a text.
type eventColumn struct {
	name   string
	of     []history.Kind // kinds of events that have the column; nil: all kinds
	number *number
	text   func(e eventOf) string // consists of letters, digits and underscores, with spaces between words
	free   bool                   // the text may contain any characters, since users choose it
	must   bool                   // reading an event of one of these kinds needs the column
	// parse sets the field of the event from the text; nil: number sets it, or reading a history does not need
	// the column.
	parse func(e *history.Event, kinds []string, text string) error
}

// A number is a field of an event that is printed as a number.
type number struct {
	of  func(e eventOf) int64
	set func(e *history.Event, x int64)
}

// has reports whether an event has the column.
func (c *eventColumn) has(e *eventOf) bool {
	switch c.name {
	case "entry":
		return e.Entry != 0 && !slices.Contains(otherEntry, e.Kind)
	case "victim":
		return e.Kind == history.FaultBegan && e.Entry != 0
	case "servers_hit":
		return e.Kind == history.FaultBegan && len(e.ServersHit()) > 0
	case "in_doubt":
		return e.Kind == history.Crashed && e.Count != 0
	case "first_hit_ns":
		return e.Kind == history.FaultHealed && e.FirstHit() != 0
	case "fence":
		return e.Kind == history.Entered && e.Fence != 0
	case "units":
		return e.Kind == history.Requested || e.Kind == history.Unissued && e.Count > 0
	case "clock":
		return e.Kind == history.ClockBound && e.Fence != history.NoClock
	case "steps", "spoilt":
		done, _ := e.Worked()
		return done > 0
	case "refused":
		return e.Refused()
	case "type":
		return e.says.Type != ""
	case "says":
		return e.says.Body != ""
	case "messages":
		return e.Kind == history.Settled || e.Kind == history.Counted || e.Kind == history.Marked && e.Value != 0
	}
	return c.of == nil || slices.Contains(c.of, e.Kind)
}

func (c *eventColumn) append(b []byte, e eventOf, json bool) []byte {
	switch {
	case c.number != nil:
		return strconv.AppendInt(b, c.number.of(e), 10)
	case json && c.free:
		text, _ := encodingjson.Marshal(c.text(e))
		return append(b, text...)
	case json:
		return strconv.AppendQuote(b, c.text(e))
	case c.free:
		return append(append(append(b, '"'), strings.ReplaceAll(c.text(e), `"`, `""`)...), '"')
	}
	return append(b, c.text(e)...)
}

// eventColumns are the columns of printed events, in their order.
var eventColumns = []eventColumn{
	{name: "trial", number: &number{of: func(e eventOf) int64 { return int64(e.trial) }}},
	{name: "at_ns", number: at},
	{name: "node", number: node},
	{name: "instance", number: instance},
	{name: "event", text: func(e eventOf) string { return e.Kind.String() },
		parse: parseKind},
	{name: "entry", number: entry},
	{name: "due_ns", of: kinds(history.Requested, history.Unissued), number: value},
	{name: "units", of: kinds(history.Requested, history.Unissued), number: count},
	{name: "register", of: kinds(history.Entered), number: count},
	{name: "fence", of: kinds(history.Entered), number: fence},
	{name: "account", of: kinds(history.Entered, history.Exited, history.Revoked), number: value},
	{name: "refused", of: kinds(history.Exited), number: count},
	{name: "kind", of: kinds(history.Sent), must: true, text: message, parse: parseMessage},
	{name: "term", of: kinds(history.Elected), number: value},
	{name: "leader", of: kinds(history.Elected), must: true, number: leader},
	{name: "suspect", of: kinds(history.Suspected, history.Trusted), must: true, number: count},
	{name: "restarts", of: kinds(history.Restarted), number: count},
	{name: "in_doubt", of: kinds(history.Crashed), number: count},
	{name: "mark", of: kinds(history.Marked), must: true, text: countName, parse: parseCount},
	{name: "gauge", of: kinds(history.Gauged), text: countName, parse: parseCount},
	{name: "value", of: kinds(history.Gauged), number: value},
	{name: "requester", of: kinds(history.Settled), number: count},
	{name: "messages", of: kinds(history.Settled, history.Counted, history.Marked), number: value},
	{name: "dropped", of: kinds(history.Counted), number: fence},
	{name: "process", of: kinds(history.Paused, history.Resumed), must: true, text: process,
		parse: parseProcess},
	{name: "fault", of: kinds(history.FaultBegan, history.FaultHealed), must: true, number: count},
	{name: "victim", of: kinds(history.FaultBegan), number: victim},
	{name: "nodes_hit", of: kinds(history.FaultBegan), number: fence},
	{name: "messages_hit", of: kinds(history.FaultHealed), number: value},
	{name: "first_hit_ns", of: kinds(history.FaultHealed),
		number: &number{of: func(e eventOf) int64 { return e.FirstHit() }}, parse: parseFirstHit},
	{name: "until_ns", of: kinds(history.FaultHealed), number: fence},
	{name: "connection", of: kinds(history.Disconnected, history.Reconnected), number: count},
	{name: "sender", of: kinds(history.LinkBegan, history.MulticastBegan), number: count},
	{name: "incarnation", of: kinds(history.LinkBegan, history.MulticastBegan), number: entry},
	{name: "first", of: kinds(history.LinkBegan, history.MulticastBegan), number: value},
	{name: "last_before", of: kinds(history.LinkBegan, history.MulticastBegan), number: fence},
	{name: "servers_hit", of: kinds(history.FaultBegan), text: serversHit, parse: parseServers},
	{name: "tried_ns", of: kinds(history.TryRefused), number: value},
	{name: "of_node", of: kinds(history.ClockBound), must: true, number: count},
	{name: "errs_ns", of: kinds(history.ClockBound), number: value},
	{name: "errs_on_host_ns", of: kinds(history.ClockBound), number: entry},
	{name: "clock", of: kinds(history.ClockBound), number: fence},
	{name: "steps", of: kinds(history.Exited, history.Revoked), number: steps},
	{name: "spoilt", of: kinds(history.Exited, history.Revoked), number: spoilt},
	{name: "timers", of: kinds(history.ClockSet), number: count},
	{name: "timers_set", of: kinds(history.ClockSet), number: value},
	{name: "late_ns", of: kinds(history.Lagged), number: value},
	{name: "handled_ns", of: kinds(history.Lagged), number: fence},
	{name: "late_timers", of: kinds(history.Lagged), number: entry},
	{name: "sent_by", of: kinds(history.Lagged), number: leader},
	{name: "breach", of: kinds(history.Breached), text: countName, parse: parseCount},
	{name: "type", free: true, text: func(e eventOf) string { return e.says.Type }},
	{name: "says", free: true, text: func(e eventOf) string { return e.says.Body }},
	{name: "assumptions", of: kinds(history.AssumptionBroken, history.FaultBegan), text: assumptions,
		parse: parseAssumptions},
}

// otherEntry are the kinds of events whose Entry is not the number of a request.
var otherEntry = kinds(history.Lagged, history.LinkBegan, history.MulticastBegan, history.FaultBegan,
	history.FaultHealed, history.ClockBound)

func kinds(k ...history.Kind) []history.Kind { return k }

// The fields of events that are printed as numbers.
var (
	at       = &number{func(e eventOf) int64 { return e.At }, func(e *history.Event, x int64) { e.At = x }}
	node     = &number{func(e eventOf) int64 { return int64(e.Node) }, setNode}
	instance = &number{func(e eventOf) int64 { return int64(e.Instance) },
		func(e *history.Event, x int64) { e.Instance = uint16(x) }}
	value = &number{func(e eventOf) int64 { return e.Value }, func(e *history.Event, x int64) { e.Value = x }}
	count = &number{func(e eventOf) int64 { return int64(e.Count) }, setCount}
	entry = &number{func(e eventOf) int64 { return int64(e.Entry) },
		func(e *history.Event, x int64) { e.Entry = uint32(x) }}
	fence = &number{func(e eventOf) int64 { return int64(e.Fence) },
		func(e *history.Event, x int64) { e.Fence = uint64(x) }}
	leader = &number{func(e eventOf) int64 { return int64(nodes.ID(e.Count)) }, setCount}
	victim = &number{func(e eventOf) int64 { return int64(e.Entry) - 1 },
		func(e *history.Event, x int64) { e.Entry = uint32(x + 1) }}
	steps = &number{func(e eventOf) int64 { done, _ := e.Worked(); return int64(done) },
		func(e *history.Event, x int64) { e.Fence |= uint64(x) << 32 }}
	spoilt = &number{func(e eventOf) int64 { _, spoilt := e.Worked(); return int64(spoilt) },
		func(e *history.Event, x int64) { e.Fence |= uint64(uint32(x)) }}
)

func setNode(e *history.Event, x int64)  { e.Node = nodes.ID(x) }
func setCount(e *history.Event, x int64) { e.Count = uint32(x) }

func countName(e eventOf) string { return e.CountName() }

// process returns the process that an event is about: the ID of a node, or another name.
func process(e eventOf) string {
	return cmp.Or(history.ProcessName(e.Count), strconv.Itoa(int(e.Count)))
}

// message returns the name of the kind of message in an event of the kind Sent.
func message(e eventOf) string {
	if int(e.Count) < len(e.kinds) {
		return e.kinds[e.Count]
	}
	return strconv.Itoa(int(e.Count))
}

func serversHit(e eventOf) string { return strings.Trim(fmt.Sprint(e.ServersHit()), "[]") }

// assumptions lists the assumptions of an event, as in: no_loss FIFO_links.
func assumptions(e eventOf) string {
	return strings.NewReplacer(", ", " ", " ", "_").Replace(nodes.Assumption(e.Value).String())
}
