package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"turnstile/judge/section"
	"turnstile/nodes/history"
)

// entryHeader names the columns of entries. Times are in microseconds since the run's zero.
const entryHeader = "trial,node,instance,entry,units,due_us,asked_us,entered_us,left_us,wait_us," +
	"protocol_us,hold_us,fence,refused,outcome,measured,faults\n"

// Entries writes requests, a row for each, in the order of their ends.
type Entries struct {
	w     *bufio.Writer
	err   error
	fold  *section.Fold
	trial int
}

// NewEntries begins to write requests to w. Flush ends it.
func NewEntries(w io.Writer) *Entries {
	e := &Entries{w: bufio.NewWriterSize(w, 1<<16)}
	_, e.err = e.w.WriteString(entryHeader)
	return e
}

// Of returns the fold of a trial whose requests are to be written. capacity is that of the resource, in
// units.
func (e *Entries) Of(trial int, h history.Header, capacity int) history.Fold {
	e.trial, e.fold = trial, section.New(h.StampError, func(uint16) int { return capacity })
	e.fold.Observe(e)
	return e.fold
}

// Flush writes what is left, and returns the first error.
func (e *Entries) Flush() error {
	if err := e.w.Flush(); e.err == nil {
		e.err = err
	}
	return e.err
}

// Add implements history.Fold.
func (e *Entries) Add(history.Event) {}

// Close implements history.Fold.
func (e *Entries) Close([]*history.NodeLog) {}

// Asked implements section.Observer.
func (e *Entries) Asked(*section.Section) {}

// Entered implements section.Observer.
func (e *Entries) Entered(*section.Section) {}

// Ended implements section.Observer.
func (e *Entries) Ended(s *section.Section) {
	if e.err != nil {
		return
	}
	cells := []string{strconv.Itoa(e.trial), strconv.Itoa(int(s.Node)), strconv.Itoa(int(s.Resource.Instance)),
		"", "", us(s.Due), "", "", "", "", "", "", "", "", outcomes[s.State], "", e.inForce(s)}
	if s.Units > 0 {
		cells[4] = strconv.Itoa(int(s.Units))
	}
	if s.State != section.Unissued {
		cells[3] = strconv.Itoa(int(s.Entry))
		cells[6] = us(s.Asked)
	}
	if s.Served() {
		cells[7], cells[9], cells[10] = us(s.Entered), us(s.Entered-s.Due), us(s.Entered-s.Asked)
		cells[15] = strconv.FormatBool(e.fold.Window.Has(s.Entered))
		if s.Fence != 0 {
			cells[12] = strconv.FormatUint(s.Fence, 10)
		}
	}
	if s.State == section.Exited || s.State == section.Revoked || s.State == section.Crashed {
		cells[8], cells[11] = us(s.Ended), us(s.Ended-s.Entered)
		cells[13] = strconv.FormatBool(s.Refused)
	}
	_, e.err = fmt.Fprintln(e.w, strings.Join(cells, ","))
}

// outcomes are what becomes of requests, as the column outcome has them.
var outcomes = map[section.State]string{section.Exited: "exited", section.Revoked: "revoked",
	section.Crashed: "crashed", section.Unended: "inside", section.Abandoned: "abandoned",
	section.Unserved: "unserved", section.Unissued: "unissued"}

// inForce lists the numbers of the faults that were in force at any moment from when a request was due until
// it was over, with spaces between them.
func (e *Entries) inForce(s *section.Section) string {
	var numbers []string
	for i := range e.fold.Faults {
		if f := &e.fold.Faults[i]; f.From <= s.Ended && f.To >= s.Due {
			numbers = append(numbers, strconv.Itoa(int(f.Number)))
		}
	}
	return strings.Join(numbers, " ")
}

// us prints nanoseconds as microseconds, exactly.
func us(ns int64) string {
	text := strconv.FormatInt(ns/1000, 10)
	if ns < 0 && ns > -1000 {
		text = "-0"
	}
	if rest := ns % 1000; rest != 0 {
		if rest < 0 {
			rest = -rest
		}
		text += "." + strings.TrimRight(fmt.Sprintf("%03d", rest), "0")
	}
	return text
}
