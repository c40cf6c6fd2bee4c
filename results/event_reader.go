package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Cell is a kind of event together with a column that such events have.
type Cell struct {
	Kind   history.Kind
	Column string
}

// eventAt is the index of the column with the kind of an event.
var eventAt = slices.IndexFunc(eventColumns, func(c eventColumn) bool { return c.name == "event" })

// ReadEvents calls do with each event of a history that an EventWriter wrote as JSON, one object per line.
// kinds has the names of messages by their numbers. A missing column counts as zero. A missing clock means
// that the clock jumped. The error names the line and its mistake. Each line needs at_ns, node, event and the
// columns that its event is about, such as leader. It must have no unknown column. Times must not decrease,
// and all events must be of one trial.
//
// ReadEvents also returns which columns the events of each kind have.
func ReadEvents(r io.Reader, kinds []string, do func(history.Event)) (map[Cell]bool, error) {
	has := map[Cell]bool{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var last, trial int64
	for number := 1; lines.Scan(); number++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		e, of, err := parseEvent(text, kinds, has)
		switch {
		case err != nil:
		case e.At < last && number > 1:
			err = fmt.Errorf("at_ns is %d, and was %d in a line before: sort the events by time", e.At, last)
		case of != trial && trial != 0:
			err = fmt.Errorf("trial is %d, and was %d in a line before: take one trial, as runs history --trial does",
				of, trial)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		last, trial = e.At, of
		do(e)
	}
	return has, lines.Err()
}

// parseEvent parses one line. It returns the event and the number of its trial; 0: the line names no trial.
func parseEvent(text []byte, kinds []string, has map[Cell]bool) (e history.Event, trial int64, err error) {
	var cells map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&cells); err != nil {
		return e, 0, fmt.Errorf("not an object of JSON: %w", err)
	}
	for _, name := range []string{"at_ns", "node", "event"} {
		if cells[name] == nil {
			return e, 0, fmt.Errorf("%s is missing", name)
		}
	}
	left := len(cells)
	for i := range eventColumns { // the kind comes first, since texts depend on it
		c := &eventColumns[i]
		cell, there := cells[c.name]
		switch {
		case there:
		case c.must && slices.Contains(c.of, e.Kind):
			return e, 0, fmt.Errorf("%s is missing: an event %v has it", c.name, e.Kind)
		default:
			continue
		}
		left--
		if i > eventAt {
			has[Cell{e.Kind, c.name}] = true
		}
		switch {
		case c.name == "trial":
			trial, err = integer(cell)
		case c.number != nil:
			var x int64
			if x, err = integer(cell); err == nil {
				c.number.set(&e, x)
			}
		case c.parse != nil:
			err = c.parse(&e, kinds, fmt.Sprint(cell))
		}
		if err != nil {
			return e, 0, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if e.Kind == history.ClockBound && cells["clock"] == nil {
		e.Fence = history.NoClock
	}
	if left > 0 {
		for name := range cells {
			if !slices.ContainsFunc(eventColumns, func(c eventColumn) bool { return c.name == name }) {
				return e, 0, fmt.Errorf("there is no column %q of events", name)
			}
		}
	}
	return e, trial, nil
}

// integer returns the whole number in a cell.
func integer(cell any) (int64, error) {
	n, is := cell.(json.Number)
	if !is {
		return 0, fmt.Errorf("%v is not a number", cell)
	}
	x, err := n.Int64()
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number", n)
	}
	return x, nil
}

func parseKind(e *history.Event, _ []string, text string) error {
	for k := range history.Kind(mostKinds) {
		if k.String() == text {
			e.Kind = k
			return nil
		}
	}
	return fmt.Errorf("there is no event %q", text)
}

func parseMessage(e *history.Event, kinds []string, text string) error {
	if i := slices.Index(kinds, text); i >= 0 {
		e.Count = uint32(i)
		return nil
	}
	x, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return fmt.Errorf("the algorithm has no message %q: it has %s", text, strings.Join(kinds, ", "))
	}
	e.Count = uint32(x)
	return nil
}

// mostKinds exceeds the number of kinds of events.
const mostKinds = 64

// mostNames exceeds the number of marks, of gauges, of breaches and of brokers.
const mostNames = 1 << 10

func parseCount(e *history.Event, _ []string, text string) error {
	for e.Count = range uint32(mostNames) {
		if e.CountName() == text {
			return nil
		}
	}
	return fmt.Errorf("there is no %q", text)
}

func parseProcess(e *history.Event, _ []string, text string) error {
	if x, err := strconv.ParseUint(text, 10, 32); err == nil {
		e.Count = uint32(x)
		return nil
	}
	for i := range uint32(mostNames) {
		if e.Count = ^i; history.ProcessName(e.Count) == text {
			return nil
		}
	}
	return fmt.Errorf("there is no process %q", text)
}

func parseServers(e *history.Event, _ []string, text string) error {
	for _, word := range strings.Fields(text) {
		i, err := strconv.Atoi(word)
		if err != nil || i < 0 || i >= history.MaxServers {
			return fmt.Errorf("%q is not a server", word)
		}
		e.HitServer(i)
	}
	return nil
}

func parseAssumptions(e *history.Event, _ []string, text string) error {
	for _, word := range strings.Fields(text) {
		one := nodes.Assumption(1)
		for ; one != 0 && assumptions(eventOf{Event: &history.Event{Value: int64(one)}}) != word; one <<= 1 {
		}
		if one == 0 {
			return fmt.Errorf("there is no assumption %q", word)
		}
		e.Value |= int64(one)
	}
	return nil
}
