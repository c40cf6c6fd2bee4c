// Package export writes a part of a run for other programs: entries as CSV; steps of nodes with vector
// clocks, for ShiViz; and spans of time in Chrome's trace format, for Perfetto.
package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes/history"
)

// EntryColumns is the header of the CSV of entries. Times are in microseconds since the zero of the run's
// clock.
const EntryColumns = "trial,node,instance,entry,units,due_us,asked_us,entered_us,left_us,wait_us," +
	"protocol_us,hold_us,fence,refused,outcome,measured,faults\n"

// outcomes are the values of the column outcome.
var outcomes = map[section.State]string{section.Exited: "exited", section.Revoked: "revoked",
	section.Crashed: "crashed", section.Unended: "inside", section.Abandoned: "abandoned",
	section.Unserved: "unserved", section.Unissued: "unissued", section.GaveUp: "gave_up"}

// Entries writes a row for each request of a trial: first the requests that were issued, in their order, then
// the others.
func Entries(w io.Writer, trial int, x *spacetime.Extract) error {
	out := csv.NewWriter(w)
	for _, sections := range [][]section.Section{x.Sections, x.Unissued} {
		for i := range sections {
			out.Write(entryOf(trial, &sections[i], x)) // out keeps the first error
		}
	}
	out.Flush()
	return out.Error()
}

// entryOf returns the row of a request.
func entryOf(trial int, s *section.Section, x *spacetime.Extract) []string {
	issued, served := s.State != section.Unissued, s.Served()
	left := s.State == section.Exited || s.State == section.Revoked || s.State == section.Crashed
	var faults []string // faults in force at any moment between the time when the request was due and its end
	for _, f := range x.Faults {
		if f.From <= s.Ended && f.To >= s.Due {
			faults = append(faults, fmt.Sprint(f.Number))
		}
	}
	return []string{cell(true, trial), cell(true, s.Node), cell(true, s.Resource.Instance),
		cell(issued, s.Entry), cell(s.Units > 0, s.Units), us(true, s.Due), us(issued, s.Asked),
		us(served, s.Entered), us(left, s.Ended), us(served, s.Entered-s.Due), us(served, s.Entered-s.Asked),
		us(left, s.Ended-s.Entered), cell(served && s.Fence != 0, s.Fence), cell(left, s.Refused),
		outcomes[s.State], cell(served, x.Measured.Has(s.Entered)), strings.Join(faults, " ")}
}

// cell prints a value; empty: the value is not known.
func cell(known bool, value any) string {
	if !known {
		return ""
	}
	return fmt.Sprint(value)
}

// us prints nanoseconds as microseconds; empty: the time is not known.
func us(known bool, ns int64) string {
	return cell(known, strconv.FormatFloat(micros(ns), 'f', -1, 64))
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

// shivizHead has the regular expression by which ShiViz parses the lines that follow, and an empty delimiter
// between executions.
const shivizHead = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)` + "\n\n"

// ShiViz writes the steps of the nodes with their vector clocks for ShiViz: a line with the node and its
// clock as JSON, and a line that describes the step.
func ShiViz(w io.Writer, x *spacetime.Extract) error {
	out := bufio.NewWriter(w)
	out.WriteString(shivizHead)
	for id, steps := range x.ClockedSteps() {
		for i := range steps {
			s, clock := &steps[i], map[string]uint32{}
			for other, count := range s.Clock {
				if count > 0 {
					clock[host(x, other)] = count
				}
			}
			text, _ := json.Marshal(clock) // a map of numbers always encodes
			fmt.Fprintf(out, "%s %s\n%s (%s us)\n", host(x, id), text, says(x, s), us(true, s.At))
		}
	}
	return out.Flush()
}

// host returns the name of a node, without blanks.
func host[ID ~int | ~int32](x *spacetime.Extract, id ID) string {
	if int(id) >= x.Stack.N() {
		return "server" + strconv.Itoa(int(id))
	}
	return "node" + strconv.Itoa(int(id))
}

// says describes a step of a node. For a message of a foreign program it includes the body.
func says(x *spacetime.Extract, s *spacetime.Step) string {
	switch e := s.Event; {
	case e == nil:
	case e.Kind == history.Elected && int32(e.Count) < 0:
		return "knows of no leader"
	case e.Kind == history.Elected:
		return fmt.Sprintf("follows %s in term %d", host(x, int(e.Count)), e.Value)
	case e.Kind == history.Suspected || e.Kind == history.Trusted:
		return fmt.Sprintf("%v: %s", e.Kind, host(x, int(e.Count)))
	case e.Entry > 0:
		return fmt.Sprintf("%v: entry %d", e.Kind, e.Entry)
	default:
		return e.Kind.String()
	}
	m := &x.Messages[s.Messages[0]]
	text := "gets " + x.Name(m) + " from " + host(x, m.From)
	if !s.Receipt {
		text = "sends " + x.Name(m) + " to"
		for _, i := range s.Messages {
			text += " " + host(x, x.Messages[i].To)
		}
	}
	return strings.TrimSuffix(text+": "+x.Body(m), ": ")
}

// A traceEvent is an event of Chrome's trace format, with its fields in alphabetical order.
type traceEvent struct {
	Args     *traceName `json:"args,omitempty"`
	Binds    string     `json:"bp,omitempty"`
	Category string     `json:"cat,omitempty"`
	Lasts    *float64   `json:"dur,omitempty"` // in microseconds
	ID       int        `json:"id,omitempty"`  // of an arrow
	Name     string     `json:"name"`
	Phase    string     `json:"ph"`
	Process  int        `json:"pid"`
	Scope    string     `json:"s,omitempty"`
	Track    int        `json:"tid"`
	At       float64    `json:"ts"` // in microseconds
}

// A traceName names a process or a track.
type traceName struct {
	Name string `json:"name"`
}

// A trace writes events, one after another.
type trace struct {
	*bufio.Writer
	of     *spacetime.Extract
	before string // what comes before the next event
}

func (t *trace) put(e traceEvent) {
	text, _ := json.Marshal(&e) // texts and numbers always encode
	t.WriteString(t.before)
	t.WriteByte('\n')
	t.Write(text)
	t.before = ","
}

// lasts writes a span of time, as far as it is in the window.
func (t *trace) lasts(name string, process, track int, from, to int64) {
	from, to = max(from, t.of.Window.From), min(to, t.of.Window.To, t.of.End)
	if length := micros(to - from); to >= from {
		t.put(traceEvent{Phase: "X", Name: name, Process: process, Track: track, At: micros(from), Lasts: &length})
	}
}

// Process IDs of the trace are nodes and, for the faults, faultProcess. Each node has four tracks.
const (
	clientTrack  = 1
	leadsTrack   = 2
	messageTrack = 3
	lifeTrack    = 4
	faultProcess = 100_000_000
)

// Perfetto writes Chrome's trace format: a process for each node, with tracks for its client, leadership,
// messages and crashes, and an arrow for each message. fault returns the name of the fault with a number.
func Perfetto(w io.Writer, x *spacetime.Extract, fault func(number uint32) string) error {
	t := &trace{bufio.NewWriter(w), x, `{"displayTimeUnit":"ns","traceEvents":[`}
	for id, steps := range x.MessageSteps() {
		t.put(traceEvent{Phase: "M", Name: "process_name", Process: id, Args: &traceName{host(x, id)}})
		for i, name := range []string{"client", "leads", "messages", "down or stopped"} {
			t.put(traceEvent{Phase: "M", Name: "thread_name", Process: id, Track: i + 1, Args: &traceName{name}})
		}
		for i := range steps {
			t.step(id, &steps[i])
		}
	}
	for i := range x.Sections {
		s := &x.Sections[i]
		t.lasts(fmt.Sprintf("request %d", s.Entry), int(s.Node), clientTrack, s.Asked, s.Ended)
		if s.Served() {
			t.lasts(fmt.Sprintf("inside, fence %d", s.Fence), int(s.Node), clientTrack, s.Entered, s.Ended)
		}
	}
	for _, r := range x.Reigns {
		t.lasts(fmt.Sprintf("leads in term %d", r.Term), int(r.Node), leadsTrack, r.From, r.To)
	}
	for _, d := range x.Deaths {
		t.lasts("down", int(d.Node), lifeTrack, d.At, d.Back)
	}
	for _, p := range x.Pauses {
		t.lasts("stands still", int(p.Process), lifeTrack, p.From, p.To)
	}
	for _, f := range x.Faults {
		t.lasts(fmt.Sprintf("fault %d: %s", f.Number, fault(f.Number)), faultProcess, int(f.Number), f.From, f.To)
	}
	t.WriteString("\n]}\n")
	return t.Flush()
}

// step writes a step of a node that is about messages: one nanosecond long, since no other step begins within
// it.
func (t *trace) step(id int, s *spacetime.Step) {
	length := micros(1)
	t.put(traceEvent{Phase: "X", Name: says(t.of, s), Process: id, Track: messageTrack, At: micros(s.At),
		Lasts: &length})
	for _, i := range s.Messages {
		m := &t.of.Messages[i]
		e := traceEvent{Name: t.of.Name(m), Process: id, Track: messageTrack, At: micros(s.At)}
		switch {
		case m.Fate == spacetime.Lost:
			e.Phase, e.Name, e.Process, e.At, e.Scope = "i", "lost: "+e.Name, int(m.To), micros(m.Over), "t"
			t.put(e)
		case m.Fate == spacetime.Handled && (!s.Receipt || m.Sent != spacetime.Unknown):
			e.Phase, e.Category, e.ID, e.Binds = "s", "message", int(i+1), "e"
			if s.Receipt {
				e.Phase = "f"
			}
			t.put(e)
		}
	}
}
