package commands

import (
	"bytes"
	"strings"
	"testing"
)

// Numbers and names beyond all bounds are refused before anything is built from them.
func TestNumbersAndNamesAreBounded(t *testing.T) {
	name := strings.Repeat("a", 100_000)
	for _, test := range []struct{ args, says string }{
		{"simulate --algo ricart -n 9223372036854775807", "a run takes at most 1048576"},
		{"simulate --algo ricart -n 2147483648", "a run takes at most 1048576"},
		{"simulate --algo naimi -n 2147483648", "a run takes at most 1048576"},
		{"simulate --algo bully -n 2147483648", "a run takes at most 1048576"},
		{"bench --algo maekawa -n 2147483648", "a run takes at most 1048576"},
		{"sweep --algo ricart -n 2147483648", "a run takes at most 1048576"},
		{"explore --algo ricart -n 9223372036854775807", "a run takes at most 1048576"},
		{"list -n 9223372036854775807", "a run takes at most 1048576"},
		{"list ricart -n 2147483648", "a run takes at most 1048576"},
		{"simulate --algo ricart --trials 100000000", "at most 100000 trials"},
		{"simulate --algo ricart --duration 1s --trials 100000000", "take 2.78e+04 hours in all"},
		{"bench --algo ricart --trials 100000000", "at most 100000 trials"},
		{"list " + name, "unknown algorithm"},
		{"list --columns " + name, "there is no table or column"},
		{"simulate --algo " + name, "unknown algorithm"},
		{"simulate --algo bully --detector " + name, "unknown failure detector"},
	} {
		var out bytes.Buffer
		status := run(t.Context(), program{}, strings.Fields(test.args), &out, &out)
		if says := out.String(); status != usage || !strings.Contains(says, test.says) {
			t.Errorf("%.60s: status %d, %.300s", test.args, status, says)
		}
	}
}
