package main

import (
	"strings"
	"testing"

	"turnstile/results"
)

func TestTheNextRateIsSaidToBeServedWhereItIs(t *testing.T) {
	row := results.RateRow{Asked: results.Asked{Algorithm: "central", Nodes: 4}, Trials: 1}
	if got := nextRate([]results.RateRow{row}, nil); got != "The next rate, 5% higher, is not served." {
		t.Error(got)
	}
	row.Trials, row.ServedNext = 6, "2 5"
	got := nextRate([]results.RateRow{row}, []string{"algorithm", "nodes"})
	if !strings.HasSuffix(got, "\nA rate 5% higher is served in trials 2 and 5 of 6: "+
		"algorithm central, nodes 4.") {
		t.Error(got)
	}
}
