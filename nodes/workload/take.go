package workload

import (
	"fmt"
	"strconv"
	"strings"

	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/nodes"
)

// A Take says how many units of a resource requests take: a number drawn evenly from Least to Most, or all
// units for the share Whole of the requests. With the zero value each request takes one unit.
type Take struct {
	Least, Most int // zero: one
	Whole       float64
}

// TakeForms lists what ParseTake reads.
const TakeForms = "2 (units of each request), 1..3 (drawn for each request), all or writers:0.2 (a share " +
	"of 0.2 takes all units, the rest take one)"

// The forms of a Take that begin with a word.
const (
	allForm     = "all"
	writersForm = "writers:"
)

// ParseTake reads how many units requests take: 2, 1..3, all or writers:0.2.
func ParseTake(text string) (Take, error) {
	if text == allForm {
		return Take{Whole: 1}, nil
	}
	if share, is := strings.CutPrefix(text, writersForm); is {
		x, err := strconv.ParseFloat(share, 64)
		if err != nil || !(x >= 0 && x <= 1) { // refuses NaN too
			return Take{}, fmt.Errorf("%q: %q is no share of requests: write one from 0 to 1, as in writers:0.2", text,
				share)
		}
		return Take{Whole: x}, nil
	}
	first, last, several := strings.Cut(text, "..")
	least, err := strconv.Atoi(first)
	most := least
	if several && err == nil {
		most, err = strconv.Atoi(last)
	}
	switch {
	case err != nil:
		return Take{}, fmt.Errorf("%q does not say how many units a request takes: write %s", text, TakeForms)
	case least < 1:
		return Take{}, fmt.Errorf("%q: a request takes at least one unit, as in 1..3", text)
	case most < least:
		return Take{}, fmt.Errorf("%q goes backwards: write %d..%d", text, most, least)
	}
	return Take{Least: least, Most: most}.plain(), nil
}

// plain returns the zero value for one unit per request, so that equal Takes have equal values.
func (t Take) plain() Take {
	if t.Least == 1 && t.Most == 1 {
		t.Least, t.Most = 0, 0
	}
	return t
}

// IsZero reports whether requests take one unit each.
func (t Take) IsZero() bool { return t == Take{} }

// String writes the Take as ParseTake reads it.
func (t Take) String() string {
	least, most := t.between()
	switch {
	case t.Whole == 1:
		return allForm
	case t.Whole > 0:
		return writersForm + strconv.FormatFloat(t.Whole, 'f', -1, 64)
	case least == most:
		return strconv.Itoa(least)
	}
	return fmt.Sprintf("%d..%d", least, most)
}

// Set reads what ParseTake reads. With Type it makes t the value of a flag.
func (t *Take) Set(text string) (err error) { *t, err = ParseTake(text); return err }

// Type names the values of the flag.
func (t *Take) Type() string { return "units" }

// MarshalText writes the Take as ParseTake reads it.
func (t Take) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (t *Take) UnmarshalText(text []byte) error { return t.Set(string(text)) }

// between returns the fewest and the most units of a request that does not take all units.
func (t Take) between() (least, most int) { return max(1, t.Least), max(1, t.Most) }

// draw returns how many units a request takes of a resource with capacity units.
func (t Take) draw(d chance.Dice, r chance.Roll, capacity int) int {
	if capacity == 1 {
		return 1
	}
	if t.Whole > 0 && d.Unit(r) < t.Whole {
		return capacity
	}
	least, most := t.between()
	if least == most {
		return least
	}
	return least + d.Below(r, most-least+1)
}

// Sizes returns the numbers of units that requests may take of a resource with capacity units, in rising
// order.
func (t Take) Sizes(capacity int) (all []int) {
	least, most := t.between()
	for size := least; size <= most && t.Whole < 1; size++ {
		all = append(all, size)
	}
	if t.Whole > 0 && (len(all) == 0 || all[len(all)-1] != capacity) {
		all = append(all, capacity)
	}
	return all
}

// WholeShare returns the share of requests that take all units of a resource; 0 if it has one unit.
func (t Take) WholeShare(capacity int) float64 {
	switch least, most := t.between(); {
	case capacity == 1:
		return 0 // a single unit is not divided
	case t.Whole > 0:
		return t.Whole
	case least <= capacity && capacity <= most:
		return 1 / float64(most-least+1)
	}
	return 0
}

// Contended reports whether the clients of a configuration may want more units than it has, so that clients
// wait for each other.
func (t Take) Contended(c nodes.Config) bool {
	sizes := t.Sizes(c.Capacity())
	return c.N > 1 && c.N*sizes[len(sizes)-1] > c.Capacity()
}

// Check returns an error unless the algorithm serves all requests, and the clients together can take all
// units.
func (t Take) Check(spec *nodes.Spec, c nodes.Config) error {
	capacity := c.Capacity()
	if capacity == 1 && t.Whole > 0 {
		return fmt.Errorf("take %v: the resource has one unit: give it several, as in --units 3", t)
	}
	sizes := t.Sizes(capacity)
	most := sizes[len(sizes)-1]
	if err := spec.CheckTake(c, most); err != nil {
		return err
	}
	if reach := c.N * most; reach < capacity {
		return fmt.Errorf("%d units: %s at %s each never take more than %d: make it %d, or have more "+
			"clients", capacity, english.Count(c.N, "client", "clients"), english.Count(most, "unit", "units"), reach,
			max(1, reach-1))
	}
	return nil
}
