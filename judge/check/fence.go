package check

import (
	"fmt"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
)

// fenced reports whether fence numbers decide about the exclusion of a resource: if the algorithm promises
// them, and each entry had one.
func (e *evidence) fenced(r *section.Resource) bool {
	return e.Fenced && r.Capacity == 1 && r.Unfenced == 0
}

// effective: the resource accepts nothing that is written under a lower fence number than the highest that
// has entered. That two are inside together is no violation then, since what the earlier one writes is
// refused: no algorithm that lets others go on can prevent it if a process may stand still for any time.
func (e *evidence) effective(r *section.Resource) Finding {
	if stale := r.Stale.Least(e.outside); stale != nil {
		s, by := stale.What.A, stale.What.B
		f := violated("the resource accepted what %s wrote under the fence number %d, "+
			"after %s had entered under %d", name(s.Node), s.Fence, name(by.Node), by.Fence)
		return e.excuse(f.with(enteredUnder(s), enteredUnder(by),
			fmt.Sprintf("%s wrote %d at %s", name(s.Node), s.Written, us(s.Ended))),
			e.beside(stale.From, stale.At), e.Safe)
	}
	f := valid("nothing was accepted under a fence number that had been passed: %s, for %v in all, "+
		"and %s refused", english.Count(r.Violations, "entry overlapped", "entries overlapped"),
		time.Duration(r.Overlap).Round(time.Microsecond),
		english.Count(r.Refusals, "write was", "writes were"))
	if r.First != nil {
		f.Witness = e.story(r.First)
	}
	return f
}

// enteredUnder tells of an entry under a fence number.
func enteredUnder(s *section.Section) string {
	return fmt.Sprintf("%s entered under %d at %s: the account held %d", name(s.Node), s.Fence, us(s.Entered),
		s.Read)
}
