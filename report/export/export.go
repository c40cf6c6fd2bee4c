// Package export writes a part of a run for other programs: entries as CSV; steps of nodes with vector
// clocks, for ShiViz; and spans of time in Chrome's trace format, for Perfetto.
package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
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
	section.Unserved: "unserved", section.Unissued: "unissued"}

// Entries writes a row for each request of a trial: first the requests that were issued, in their order, then
// the others.
func Entries(w io.Writer, trial int, x *spacetime.Extract) error {
	out := csv.NewWriter(w)
	for _, s := range slices.Concat(x.Sections, x.Unissued) {
		issued, served := s.State != section.Unissued, s.Served()
		left := s.State == section.Exited || s.State == section.Revoked || s.State == section.Crashed
		var faults []string // faults in force at any moment between the time when the request was due and its end
		for _, f := range x.Faults {
			if f.From <= s.Ended && f.To >= s.Due {
				faults = append(faults, fmt.Sprint(f.Number))
			}
		}
		out.Write([]string{cell(true, trial), cell(true, s.Node), cell(true, s.Resource.Instance),
			cell(issued, s.Entry), cell(s.Units > 0, s.Units), us(true, s.Due), us(issued, s.Asked),
			us(served, s.Entered), us(left, s.Ended), us(served, s.Entered-s.Due), us(served, s.Entered-s.Asked),
			us(left, s.Ended-s.Entered), cell(served && s.Fence != 0, s.Fence), cell(left, s.Refused),
			outcomes[s.State], cell(served, x.Measured.Has(s.Entered)), strings.Join(faults, " ")})
	}
	out.Flush()
	return out.Error()
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
		return fmt.Sprintf("server%d", id)
	}
	return fmt.Sprintf("node%d", id)
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
	text := fmt.Sprintf("gets %s from %s", x.Name(m), host(x, m.From))
	if !s.Receipt {
		text = fmt.Sprintf("sends %s to", x.Name(m))
		for _, i := range s.Messages {
			text += " " + host(x, x.Messages[i].To)
		}
	}
	return strings.TrimSuffix(text+": "+x.Body(m), ": ")
}

// Perfetto writes Chrome's trace format: a process for each node, with tracks for its client, leadership,
// messages and crashes, and an arrow for each message. fault returns the name of the fault with a number.
func Perfetto(w io.Writer, x *spacetime.Extract, fault func(number uint32) string) error {
	const client, leads, messages, life, faults = 1, 2, 3, 4, 100_000_000 // IDs of four tracks, and of a process
	out, before := bufio.NewWriter(w), `{"displayTimeUnit":"ns","traceEvents":[`
	put := func(kind, name string, process, track int, at int64, more map[string]any) {
		event := map[string]any{"ph": kind, "name": name, "pid": process, "tid": track, "ts": micros(at)}
		maps.Copy(event, more)
		text, _ := json.Marshal(event) // texts and numbers always encode
		fmt.Fprintf(out, "%s\n%s", before, text)
		before = ","
	}
	lasts := func(name string, process, track int, from, to int64) {
		from, to = max(from, x.Window.From), min(to, x.Window.To, x.End)
		if to >= from {
			put("X", name, process, track, from, map[string]any{"dur": micros(to - from)})
		}
	}
	for id, steps := range x.Steps() {
		put("M", "process_name", id, 0, 0, map[string]any{"args": map[string]string{"name": host(x, id)}})
		for i, name := range []string{"client", "leads", "messages", "down or stopped"} {
			put("M", "thread_name", id, i+1, 0, map[string]any{"args": map[string]string{"name": name}})
		}
		for i := range steps {
			s := &steps[i]
			if s.Event == nil { // one nanosecond long, since no other step begins within it
				put("X", says(x, s), id, messages, s.At, map[string]any{"dur": micros(1)})
			}
			for _, i := range s.Messages {
				m, arrow := &x.Messages[i], map[string]any{"cat": "message", "id": i + 1, "bp": "e"}
				switch {
				case m.Fate == spacetime.Lost:
					put("i", "lost: "+x.Name(m), int(m.To), messages, m.Over, map[string]any{"s": "t"})
				case m.Fate == spacetime.Handled && s.Receipt && m.Sent != spacetime.Unknown:
					put("f", x.Name(m), id, messages, s.At, arrow)
				case m.Fate == spacetime.Handled && !s.Receipt:
					put("s", x.Name(m), id, messages, s.At, arrow)
				}
			}
		}
	}
	for i := range x.Sections {
		s := &x.Sections[i]
		lasts(fmt.Sprintf("request %d", s.Entry), int(s.Node), client, s.Asked, s.Ended)
		if s.Served() {
			lasts(fmt.Sprintf("inside, fence %d", s.Fence), int(s.Node), client, s.Entered, s.Ended)
		}
	}
	for _, r := range x.Reigns {
		lasts(fmt.Sprintf("leads in term %d", r.Term), int(r.Node), leads, r.From, r.To)
	}
	for _, d := range x.Deaths {
		lasts("down", int(d.Node), life, d.At, d.Back)
	}
	for _, p := range x.Pauses {
		lasts("stands still", int(p.Process), life, p.From, p.To)
	}
	for _, f := range x.Faults {
		lasts(fmt.Sprintf("fault %d: %s", f.Number, fault(f.Number)), faults, int(f.Number), f.From, f.To)
	}
	fmt.Fprintf(out, "\n]}\n")
	return out.Flush()
}
