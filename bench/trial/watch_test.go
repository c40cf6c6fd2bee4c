package trial

import (
	"testing"

	"turnstile/nodes/history"
)

func TestRest(t *testing.T) {
	for _, test := range []struct {
		s          sums
		rest, open bool
	}{
		{sums{}, true, false},
		{sums{requests: 3, entries: 3, exits: 3, sent: 9, delivered: 9}, true, false},
		{sums{requests: 3, entries: 3, exits: 3, sent: 9, delivered: 8}, false, false},
		{sums{requests: 3, entries: 3, exits: 2, sent: 9, delivered: 9}, false, true}, // somebody is inside
		{sums{requests: 3, entries: 2, exits: 2, sent: 9, delivered: 9}, false, true},
	} {
		if test.s.atRest() != test.rest || test.s.open() != test.open {
			t.Errorf("%+v: at rest %v, open %v", test.s, test.s.atRest(), test.s.open())
		}
	}
}

// Sums include detectors only once the detectors have stopped. The method messages never counts messages of
// detectors, nor heartbeats of other instances.
func TestDetectorsAreLeftOut(t *testing.T) {
	instances := make([]history.InstanceCounters, 2)
	for i := range instances {
		instances[i].Kinds[i].Sent.Store(uint64(10 + i))
		instances[i].Kinds[i].Delivered.Store(uint64(5 + i))
		instances[i].Dropped.Store(1)
		instances[i].Timeouts.Store(3)
	}
	instances[0].Kinds[2].Sent.Store(100)
	w := watch{heartbeats: []bool{false, true, true}, detectors: []bool{false, true},
		of: []*history.Watched{{Counters: &history.Counters{}, Instances: instances}}}
	if got, want := w.read(), (sums{sent: 110, delivered: 6, timeouts: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	w.detectorsStopped = true
	if got, want := w.read(), (sums{sent: 121, delivered: 13, timeouts: 6}); got != want {
		t.Errorf("detectorsStopped, %+v, want %+v", got, want)
	}
	if sent, dropped := w.messages(); sent != 10 || dropped != 1 {
		t.Errorf("%d messages, %d dropped", sent, dropped)
	}
}
