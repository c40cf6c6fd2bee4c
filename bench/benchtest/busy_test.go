package benchtest

import (
	"strings"
	"testing"
	"time"

	"turnstile/judge/check"
)

// A busy machine excuses a run that is inconclusive since processes were late, and no violation, nor a doubt
// that lateness does not explain.
func TestBusy(t *testing.T) {
	const idle, late = time.Millisecond, 200 * time.Millisecond
	of := func(name string, outcome check.Outcome, says string) check.Finding {
		return check.Finding{Check: name, Outcome: outcome, Says: says}
	}
	overlap := of("exclusion", check.Inconclusive, "two were inside, but processes waited for processors")
	none := of("evidence", check.Inconclusive, "nobody entered while it was measured")
	for name, c := range map[string]struct {
		findings []check.Finding
		latest   time.Duration
		want     string
	}{
		"valid":                      {[]check.Finding{of("exclusion", check.Valid, "")}, late, ""},
		"an overlap by lateness":     {[]check.Finding{overlap}, idle, "waited for processors"},
		"a violation":                {[]check.Finding{of("grants", check.Violated, "twice")}, late, ""},
		"a violation beside another": {[]check.Finding{overlap, of("grants", check.Violated, "twice")}, late, ""},
		"not judged beside another": {[]check.Finding{overlap, of("loss", check.Inconclusive, "not judged")}, idle,
			"waited"},
		"too few entries":          {[]check.Finding{none}, late, "a timer ran out 200ms late"},
		"too few without lateness": {[]check.Finding{none}, idle, ""},
		"books that disagree": {[]check.Finding{overlap, of("accounting", check.Inconclusive, "counters disagree")},
			late, ""},
	} {
		v := check.Verdict{Findings: c.findings}
		v.Reason = v.Worst().Says
		if got := busy(&v, c.latest); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	v := check.Verdict{Findings: []check.Finding{none}, Reason: "node 0 ended on its own"}
	if why := busy(&v, late); why != "" {
		t.Errorf("a node that ended on its own is excused: %s", why)
	}
}
