package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// shivizHead is the regular expression with which ShiViz parses the lines below it. The line after it is the
// delimiter of executions. It is empty, since there is one execution.
const shivizHead = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)` + "\n\n"

// ShiViz writes the steps of the nodes of an extract with their vector clocks, as ShiViz reads them: a line
// with the node and its clock as JSON, and a line that says what it did.
func ShiViz(w io.Writer, x *spacetime.Extract) error {
	b := bufio.NewWriter(w)
	b.WriteString(shivizHead)
	for id, steps := range x.ClockedSteps() {
		for i := range steps {
			s := &steps[i]
			text := says(x, s)
			if b := body(x, s); b != "" {
				text += ": " + b
			}
			fmt.Fprintf(b, "%s {%s}\n%s (%s us)\n", host(x, nodes.ID(id)), clock(x, s.Clock), text, us(s.At))
		}
	}
	return b.Flush()
}

// host names a node, without blanks.
func host(x *spacetime.Extract, id nodes.ID) string {
	if int(id) >= x.Stack.N() {
		return fmt.Sprintf("server%d", id)
	}
	return fmt.Sprintf("node%d", id)
}

// clock writes what is not zero of a vector clock.
func clock(x *spacetime.Extract, clock []uint32) string {
	var parts []string
	for id, count := range clock {
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%q: %d", host(x, nodes.ID(id)), count))
		}
	}
	return strings.Join(parts, ", ")
}

// says says in words what a node did.
func says(x *spacetime.Extract, s *spacetime.Step) string {
	if s.Event != nil {
		return event(x, s.Event)
	}
	m := &x.Messages[s.Messages[0]]
	if s.Receipt {
		return fmt.Sprintf("gets %s from %s", x.Name(m), host(x, m.From))
	}
	var to []string
	for _, i := range s.Messages {
		to = append(to, host(x, x.Messages[i].To))
	}
	return fmt.Sprintf("sends %s to %s", x.Name(m), strings.Join(to, ", "))
}

// body returns what the message of a step says, if it is one of a foreign program.
func body(x *spacetime.Extract, s *spacetime.Step) string {
	if s.Event != nil {
		return ""
	}
	return x.Body(&x.Messages[s.Messages[0]])
}

// event says in words what an event of a node is.
func event(x *spacetime.Extract, e *history.Event) string {
	switch e.Kind {
	case history.Requested:
		return fmt.Sprintf("requests entry %d", e.Entry)
	case history.Entered:
		return fmt.Sprintf("enters for entry %d", e.Entry)
	case history.Exited:
		return fmt.Sprintf("leaves after entry %d", e.Entry)
	case history.Revoked:
		return fmt.Sprintf("loses entry %d", e.Entry)
	case history.ToldLost:
		return fmt.Sprintf("is told that entry %d is lost", e.Entry)
	case history.Elected:
		leader := nodes.ID(int32(e.Count))
		switch {
		case leader == e.Node:
			return fmt.Sprintf("leads in term %d", e.Value)
		case leader < 0:
			return "knows of no leader"
		}
		return fmt.Sprintf("follows %s in term %d", host(x, leader), e.Value)
	case history.Suspected, history.Trusted:
		return fmt.Sprintf("%v: %s", e.Kind, host(x, nodes.ID(e.Count)))
	}
	return e.Kind.String()
}
