package nodes

import (
	"cmp"
	"fmt"
	"strings"

	"turnstile/internal/english"
)

// Units says how many units of a resource an algorithm serves. Its zero value is one unit.
type Units struct {
	Most  int // the most units of a resource; 0: one
	Take  int // the most units of one request; 0: one
	Usual int // units if a configuration gives no number, and has more clients than this; 0: one
}

// AnyUnits is the Most or the Take of an algorithm that serves any number: more than any run has.
const AnyUnits = 1 << 20

// Serves reports whether the algorithm serves a resource with that many units.
func (u Units) Serves(units int) bool { return units >= 0 && units <= max(1, u.Most) }

// Takes returns the most units that one request may take from a resource with that many units.
func (u Units) Takes(units int) int { return min(units, max(1, u.Take)) }

// explicit returns the number of units of a configuration. If the configuration gives none, it is the usual
// number, but fewer than there are clients: with a unit for each client, no client would ever wait.
func (u Units) explicit(c Config) int {
	if c.Units > 0 || u.Usual <= 1 {
		return c.Units
	}
	return min(u.Usual, max(1, c.N-1))
}

// checkUnits returns an error if the units of a configuration are wrong.
func (s *Spec) checkUnits(c Config) error {
	switch {
	case c.Units < 0:
		return fmt.Errorf("%d units: the resource has at least one", c.Units)
	case !s.Units.Serves(c.Units):
		return &UnitsError{Units: c.Units, of: s}
	}
	return nil
}

// CheckTake returns an error if a request may not take that many units in a configuration.
func (s *Spec) CheckTake(c Config, take int) error {
	switch capacity := c.Capacity(); {
	case take > max(1, s.Units.Take):
		return &UnitsError{Take: take, of: s}
	case take > capacity:
		return fmt.Errorf("take %d: the resource has %s: take fewer, or give it %d", take,
			english.Count(capacity, "unit", "units"), take)
	}
	return nil
}

// A UnitsError says that an algorithm does not serve a resource of so many units, or does not give so many
// units to one request.
type UnitsError struct {
	Units  int      // units of the resource
	Take   int      // units of one request; 0: the error is about Units
	Others []string // algorithms that do serve them; nil: not looked up

	of *Spec
}

func (e *UnitsError) Error() string {
	says, right := "", ""
	if most := max(1, e.of.Units.Most); e.Take == 0 {
		says = fmt.Sprintf("%d units: %s serves a resource of %s", e.Units, e.of.Name, unitsUpTo(most))
		right = "leave the number out"
		if most > 1 {
			right = fmt.Sprintf("write %d or fewer", most)
		}
	} else {
		says = fmt.Sprintf("take %d: %s gives each request %s", e.Take, e.of.Name,
			unitsUpTo(max(1, e.of.Units.Take)))
		right = "leave it out"
	}
	return fmt.Sprintf("%s: %s, or take an algorithm that gives more: %s", says, right,
		cmp.Or(strings.Join(e.Others, ", "), "see list"))
}

// A FenceError says that the resource demands fence numbers, but an algorithm hands out none.
type FenceError struct {
	Algorithm string
	Others    []string // algorithms that hand them out; nil: not looked up
	Option    string   // the option by which Algorithm hands them out; empty: there is no such option
}

func (e *FenceError) Error() string {
	instead := "take an algorithm that does: " + cmp.Or(strings.Join(e.Others, ", "), "see list")
	if e.Option != "" {
		instead = "have it do so by " + e.Option
	}
	return fmt.Sprintf("fenced: %s hands out no fence numbers, so the resource could refuse nothing: leave it "+
		"out, or %s", e.Algorithm, instead)
}

// unitsUpTo prints a limit of units.
func unitsUpTo(most int) string {
	if most == 1 {
		return "one unit"
	}
	return fmt.Sprintf("up to %d units", most)
}
