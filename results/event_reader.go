package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
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

// longestLine is how many bytes a line of events may have.
const longestLine = 1 << 20

// eventAt is the index of the column with the kind of an event.
var eventAt = slices.IndexFunc(eventColumns, func(c eventColumn) bool { return c.name == "event" })

// ReadEvents calls do with each event of a history that an EventWriter wrote as JSON, one object per line.
// kinds has the names of messages by their numbers. A missing column counts as zero. A missing clock means
// that the clock jumped. The error names the line and its mistake. Each line needs at_ns, node, event and the
// columns that its event is about, such as leader. It must have no unknown column. Times must not decrease,
// and all events must be of one trial. An error of do ends the reading.
//
// ReadEvents also returns which columns all events of a kind have.
func ReadEvents(r io.Reader, kinds []string, do func(history.Event) error) (map[Cell]bool, error) {
	seen, all := map[Cell]int{}, map[history.Kind]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	var last, trial int64
	number := 1
	for ; lines.Scan(); number++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		e, of, err := parseEvent(text, kinds, seen)
		switch {
		case err != nil:
		case e.At < last && number > 1:
			err = fmt.Errorf("at_ns is %d, and was %d in a line before: sort the events by time", e.At, last)
		case of != trial && trial != 0:
			err = fmt.Errorf("trial is %d, and was %d in a line before: take one trial, as runs history --trial does",
				of, trial)
		default:
			err = do(e)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		last, trial = e.At, of
		all[e.Kind]++
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: it is longer than %d bytes: write one event a line", number, longestLine)
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", number, err)
	}
	has := map[Cell]bool{}
	for cell, count := range seen {
		has[cell] = count == all[cell.Kind]
	}
	return has, nil
}

// parseObject parses the only object of a line.
func parseObject(text []byte) (cells map[string]any, err error) {
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return nil, errors.New("it begins with a byte order mark: write UTF-8 without one")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&cells); err != nil {
		return nil, fmt.Errorf("not an object of JSON: %w", err)
	}
	if more := bytes.TrimSpace(text[d.InputOffset():]); len(more) > 0 {
		return nil, fmt.Errorf("there is more behind the object, %.20q: write one event a line", more)
	}
	for _, name := range []string{"at_ns", "node", "event"} {
		if cells[name] == nil {
			return nil, fmt.Errorf("%s is missing", name)
		}
	}
	return cells, nil
}

// parseEvent parses one line. It returns the event and the number of its trial; 0: the line names no trial.
func parseEvent(text []byte, kinds []string, seen map[Cell]int) (e history.Event, trial int64, err error) {
	cells, err := parseObject(text)
	if err != nil {
		return e, 0, err
	}
	left := len(cells)
	for i := range eventColumns { // the kind comes first, since texts depend on it
		c := &eventColumns[i]
		cell, there := cells[c.name]
		switch {
		case there && c.of != nil && !slices.Contains(c.of, e.Kind):
			return e, 0, fmt.Errorf("an event %v has no column %s", e.Kind, c.name)
		case there:
		case c.must && slices.Contains(c.of, e.Kind):
			return e, 0, fmt.Errorf("%s is missing: an event %v has it", c.name, e.Kind)
		default:
			continue
		}
		left--
		if i > eventAt {
			seen[Cell{e.Kind, c.name}]++
		}
		switch {
		case c.name == "trial":
			trial, err = integer(cell)
		case c.parse != nil:
			err = c.parse(&e, kinds, fmt.Sprint(cell))
		case c.number != nil:
			var x int64
			if x, err = integer(cell); err == nil {
				err = c.number.put(&e, x)
			}
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

// put sets the field of an event, if x fits into it.
func (n *number) put(e *history.Event, x int64) error {
	if n.set(e, x); n.of(eventOf{Event: e}) != x {
		return fmt.Errorf("%d is out of range", x)
	}
	return nil
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

// parseFirstHit sets when a fault hit its first message. An event has that to the microsecond.
func parseFirstHit(e *history.Event, _ []string, text string) error {
	x, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return fmt.Errorf("%s is not a whole number", text)
	case x < 1 || x > e.At:
		return fmt.Errorf("a fault hits its first message after 0, and not after its end: not at %d", x)
	}
	e.HitFirst(x)
	return nil
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
