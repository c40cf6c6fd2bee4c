package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/english"
	"turnstile/judge/check"
)

// Above says whether a group is worse than its baseline by more than a share in any figure, judged at the end
// of the interval that is best for the group; text is the share as it was written. A group with a violated
// trial fails, whatever it measured in other trials. A baseline with a violated trial makes it inconclusive.
func (c *Comparison) Above(share float64, text string) (check.Outcome, string) {
	broken, unknown := c.broken()
	worse, unsaid := c.worse(share)
	if worse != nil {
		broken = append(broken, fmt.Sprintf("worse by more than %s: %s", text, strings.Join(worse, "; ")))
	}
	if unsaid = append(unsaid, c.Unmeasured...); len(unsaid) > 0 || len(c.Lines) == 0 {
		unknown = append(unknown, fmt.Sprintf("whether it is worse by more than %s cannot be said of %s", text,
			cmp.Or(strings.Join(unsaid, "; "), "anything")))
	}
	switch {
	case broken != nil:
		return check.Violated, "FAILED: " + strings.Join(broken, "; ")
	case unknown != nil:
		return check.Inconclusive, "INCONCLUSIVE: " + strings.Join(unknown, "; ")
	}
	return check.Valid, "PASSED: no figure is shown to be worse by more than " + text
}

// broken names the groups that broke a promise, and why others cannot be compared.
func (c *Comparison) broken() (broken, unknown []string) {
	violated := check.Violated.String()
	for i, p := range c.compared {
		says := func(g *Group) string {
			of := strings.TrimPrefix(g.Where+": ", ": ") + g.Name
			if n := g.Others[violated]; n > 0 {
				return fmt.Sprintf("of %s, %s violated", of, english.Count(n, "trial is", "trials are"))
			}
			return fmt.Sprintf("no trial of %s is valid", of)
		}
		first := !slices.ContainsFunc(c.compared[:i], func(o pair) bool { return o.baseline == p.baseline })
		if first && (p.baseline.Others[violated] > 0 || p.baseline.Valid == 0) {
			unknown = append(unknown, says(p.baseline))
		}
		switch {
		case p.other.Others[violated] > 0:
			broken = append(broken, says(p.other))
		case p.other.Valid == 0:
			unknown = append(unknown, says(p.other))
		}
	}
	return broken, unknown
}

// worse names the figures in which a group is worse by more than a share. The figures unsaid are not known
// well enough to tell.
func (c *Comparison) worse(than float64) (worse, unsaid []string) {
	for i := range c.Lines {
		l := &c.Lines[i]
		if BetterOf(l.Metric) == "" {
			continue
		}
		of := fmt.Sprintf("%s of %s", l.Metric, cmp.Or(l.Where, l.Group))
		switch share, known := l.WorseBy(); {
		case !known:
			unsaid = append(unsaid, of)
		case share > than:
			worse = append(worse, fmt.Sprintf("%s by %.1f%% or more", of, 100*share))
		}
	}
	return worse, unsaid
}
