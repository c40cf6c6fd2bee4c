package report

import (
	"bytes"
	"strings"
	"testing"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/internal/figure"
)

// summaryOf returns what is printed of a run.
func summaryOf(s *bench.Summary) string {
	var b bytes.Buffer
	New(&b).Summary(s)
	return b.String()
}

// The summary has a line about clients that lost their lock if there were any.
func TestSummaryOfLostLocks(t *testing.T) {
	s := threeTrials(t)
	for i := range s.Rows {
		r := &s.Rows[i]
		for _, f := range []*figure.Figure{&r.EntriesTold, &r.ToldStayed, &r.ToldInsideUS, &r.OverlappedUntold,
			&r.ToldForNothing, &r.RefusedTries, &r.RefusedFree, &r.ViolationsFenced, &r.Violations} {
			*f = figure.Count(0)
		}
	}
	for _, says := range []string{"lost locks", "the lock refused", "fences "} {
		if got := summaryOf(s); strings.Contains(got, says) {
			t.Errorf("nothing happened, and %q is in %s", says, got)
		}
	}
	r := &s.Rows[1]
	r.EntriesTold, r.ToldStayed, r.ToldInsideUSMax = figure.Count(5), figure.Count(3), figure.Number(812_000)
	r.OverlappedUntold, r.ToldForNothing = figure.Count(2), figure.Count(1)
	r.RefusedTries, r.RefusedFree = figure.Count(1200), figure.Count(7)
	r.Violations = figure.Count(4)
	for _, says := range []string{
		"lost locks  in 3 entries the client went on for up to 812 ms after it was told that the lock was lost",
		"            in 2 entries the client left as soon as it was told that the lock was lost",
		"in 2 entries another client entered before the client was told that the lock was lost, if it was " +
			"told at all",
		"in 1 entry the client went on after it was told that the lock was lost, and no other was inside " +
			"while it was",
		"tries       the lock refused 1,200 tries, 7 of them while no client was inside",
		"fences      4 entries overlapped; a resource that demands fence numbers keeps them apart",
	} {
		wantSummary(t, s, says)
	}
	of := *r
	r.EntriesTold, r.ToldStayed = figure.Count(0), figure.Count(0)
	wantSummary(t, s, "overlapped  in 2 entries another client entered, and no client was told that it had "+
		"lost "+
		"the lock")
	*r = of
	r.ViolationsFenced = figure.AtLeast(2)
	wantSummary(t, s, "fences      4 entries overlapped; a resource that demands fence numbers does not keep "+
		"at least 2 of them apart")
	r.ViolationsFenced = figure.Figure{}
	if got := summaryOf(s); strings.Contains(got, "fences ") {
		t.Errorf("what is not known is said: %s", got)
	}
}

// Of an open load the summary says why it is not known which share of the requests was issued.
func TestSummaryOfAnOpenLoadWithoutRequests(t *testing.T) {
	s := threeTrials(t)
	for i := range s.Rows {
		s.Rows[i].Asked = s.Rows[i].With(option.LoadColumn, "open")
	}
	wantSummary(t, s, "issued      no request fell due while it was measured")
	s.Record.Trials[1].Trouble = "interrupted"
	wantSummary(t, s, "issued      not known, since the run ended before: waits of requests not made are "+
		"left out")
}
