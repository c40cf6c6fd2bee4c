package report

import (
	"bytes"
	"strings"
	"testing"

	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/nodes/mutex"
	"turnstile/results"
)

// The first lines say how often a request was passed over, where nothing is promised, or nothing while
// something goes wrong; entries that were refused are told apart.
func TestSummaryOfWhoWasPassedOver(t *testing.T) {
	s := threeTrials(t)
	fair := check.Finding{Check: "fairness"}
	for i := range s.Verdicts {
		s.Verdicts[i].Findings = append(s.Verdicts[i].Findings, fair)
	}
	s.Verdicts[1].PassedOver = &check.PassedOver{Node: 2, Request: 7, Times: 898}
	s.Verdicts[2].PassedOver = &check.PassedOver{Node: 1, Request: 7, Times: 5}
	says := func(row string, faults int) string {
		spec, err := mutex.Find(row)
		if err != nil {
			t.Fatal(err)
		}
		s.Spec, s.Faults = spec, make([]results.FaultRow, faults)
		var b bytes.Buffer
		New(&b).verdict(s)
		_, line, _ := strings.Cut(b.String(), "\n")
		return strings.TrimSpace(line)
	}
	for _, c := range []struct {
		row    string
		faults int
		want   string
	}{
		{"maekawa", 0, "node 2 was passed over 898 times; this algorithm promises no bound"},
		{"ricart-agrawala", 1, ""},
		{"central-queued", 0, ""},
		{"central-queued", 1,
			"node 2 was passed over 898 times; at most 2 are promised, as long as nothing goes wrong"},
	} {
		if got := says(c.row, c.faults); got != c.want {
			t.Errorf("%s, %d faults: %q", c.row, c.faults, got)
		}
	}
	s.Verdicts[1].PassedOver.Times = 2
	s.Verdicts[2].PassedOver = nil
	if got := says("maekawa", 0); got != "" {
		t.Errorf("first come, first served: %q", got)
	}
	s.Faults = nil
	for i := range s.Rows {
		s.Rows[i].Entries, s.Rows[i].EntriesRefused = figure.Number(1000), figure.Number(float64(10*i))
	}
	s.Rows[1].EntriesInMinority = figure.Number(7)
	wantSummary(t, s, "minority    7 of 3,000 entries by clients that could reach no majority")
	wantSummary(t, s, "refused     30 of 3,000 entries of the whole run, which count in no rate")
}
