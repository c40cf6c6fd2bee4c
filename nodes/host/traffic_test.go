package host_test

import (
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/nodes/history"
)

// published checks that each message is published once, and a broadcast once for every atATime hearers.
func published(t *testing.T, h *history.History, algorithm string, atATime uint64) {
	t.Helper()
	spec, err := mutex.Find(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	for kind, is := range spec.Messages {
		hearers := uint64(1)
		if is.Broadcast {
			hearers = atATime
		}
		var sum history.KindTotals
		for _, l := range h.Logs {
			of := l.Instance(0).Kind(uint8(kind)) // zero if the node has sent none
			sum.Sent += of.Sent
			sum.Publishes += of.Publishes
		}
		if sum.Publishes*hearers != sum.Sent {
			t.Errorf("%s: %d are sent by %d publishes, each to %d", spec.Codec().Name(kind), sum.Sent, sum.Publishes,
				hearers)
		}
	}
}
