package nodes

import (
	"cmp"
	"fmt"
	"strings"

	"turnstile/internal/english"
)

// Units says how many units of a resource an algorithm serves. Its zero value is one unit.
type Units struct {
	Most  int // units that there may be; 0: one
	Take  int // that one request may take; 0: one
	Usual int // that there are if a configuration does not say, and clients enough; 0: one
}

// AnyUnits is the Most or the Take of an algorithm that serves any number: more than any run has.
const AnyUnits = 1 << 20

// Serves reports whether the algorithm serves a resource of so many units.
func (u Units) Serves(units int) bool { return units >= 0 && units <= max(1, u.Most) }

// Takes returns how many units one request takes at most, of so many that there are.
func (u Units) Takes(units int) int { return min(units, max(1, u.Take)) }

// explicit returns how many units there are if a configuration does not say: one fewer than its clients at
// most, since nobody waits for another where there is a unit for each.
func (u Units) explicit(c Config) int {
	if c.Units > 0 || u.Usual <= 1 {
		return c.Units
	}
	return min(u.Usual, max(1, c.N-1))
}

// checkUnits says what is wrong with the units of a configuration, if anything is.
func (s *Spec) checkUnits(c Config) error {
	switch {
	case c.Units < 0:
		return fmt.Errorf("%d units: the resource has at least one", c.Units)
	case !s.Units.Serves(c.Units):
		return &UnitsError{Units: c.Units, row: s}
	}
	return nil
}

// CheckTake says what is wrong with a request for so many units in a configuration, if anything is.
func (s *Spec) CheckTake(c Config, take int) error {
	switch capacity := c.Capacity(); {
	case take > max(1, s.Units.Take):
		return &UnitsError{Take: take, row: s}
	case take > capacity:
		return fmt.Errorf("take %d: the resource has %s: take fewer, or have it be of %d", take,
			english.Count(capacity, "unit", "units"), take)
	}
	return nil
}

// A UnitsError says that a row does not serve so many units, or so many to one request.
type UnitsError struct {
	Units  int      // that the resource was to have
	Take   int      // that a request was to take; 0: it is about Units
	Others []string // the rows that do, if somebody found out

	row *Spec
}

func (e *UnitsError) Error() string {
	says, right := "", ""
	if most := max(1, e.row.Units.Most); e.Take == 0 {
		says = fmt.Sprintf("%d units: %s serves a resource of %s", e.Units, e.row.Name, unitsUpTo(most))
		right = "leave the number out"
		if most > 1 {
			right = fmt.Sprintf("write %d or fewer", most)
		}
	} else {
		says = fmt.Sprintf("take %d: %s gives each request %s", e.Take, e.row.Name,
			unitsUpTo(max(1, e.row.Units.Take)))
		right = "leave it out"
	}
	return fmt.Sprintf("%s: %s, or take an algorithm that gives more: %s", says, right,
		cmp.Or(strings.Join(e.Others, ", "), "see list"))
}

// A FenceError says that a row hands out no fence numbers, which the resource was to demand.
type FenceError struct {
	Row    string
	Others []string // the rows that do, if somebody found out
	Option string   // that has the row hand them out; empty: there is none
}

func (e *FenceError) Error() string {
	instead := "take an algorithm that does: " + cmp.Or(strings.Join(e.Others, ", "), "see list")
	if e.Option != "" {
		instead = "have it do so by " + e.Option
	}
	return fmt.Sprintf("fenced: %s hands out no fence numbers, so the resource could refuse nothing: leave it "+
		"out, or %s", e.Row, instead)
}

// unitsUpTo writes a limit of units.
func unitsUpTo(most int) string {
	if most == 1 {
		return "one unit"
	}
	return fmt.Sprintf("up to %d units", most)
}
