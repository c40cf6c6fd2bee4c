package section

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// said is an event by which the detector of a node suspects or trusts another.
func said(at int64, by nodes.ID, kind history.Kind, of uint32) history.Event {
	return history.Event{At: at, Kind: kind, Node: by, Count: of, Instance: 1}
}

// stood is an event by which a process is stopped or goes on.
func stood(at int64, process uint32, kind history.Kind) history.Event {
	return history.Event{At: at, Kind: kind, Node: nodes.None, Count: process}
}

func TestDetections(t *testing.T) {
	const crashed, restarted, suspected, trusted = history.Crashed, history.Restarted, history.Suspected,
		history.Trusted
	end := happens(100, nodes.None, history.Marked)
	for name, test := range map[string]struct {
		events []history.Event
		want   Detection
		broken bool
	}{
		"all in time": {[]history.Event{happens(10, 2, crashed), said(14, 0, suspected, 2),
			said(16, 1, suspected, 2)}, Detection{Suspicions: 2, Detected: 2, Sum: 10, Most: 6}, false},
		"one never": {[]history.Event{happens(10, 2, crashed), said(14, 0, suspected, 2)},
			Detection{Suspicions: 1, Detected: 1, Undetected: 1, Sum: 94, Most: 90}, false},
		"a restart in time": {[]history.Event{happens(10, 2, crashed), happens(12, 2, restarted)},
			Detection{}, false},
		"a suspicion after it": {[]history.Event{happens(10, 2, crashed), happens(12, 2, restarted),
			said(14, 0, suspected, 2), said(15, 0, trusted, 2)}, Detection{Suspicions: 1, Wrong: 1}, true},
		"suspected before": {[]history.Event{said(5, 0, suspected, 2), said(6, 1, suspected, 2),
			said(7, 1, trusted, 2), happens(10, 2, crashed), said(15, 1, suspected, 2)},
			Detection{Suspicions: 3, Wrong: 2, Detected: 2, Sum: 5, Most: 5}, true},
		"again after a restart": {[]history.Event{happens(10, 2, crashed), said(11, 0, suspected, 2),
			said(12, 1, suspected, 2), happens(13, 2, restarted), happens(20, 2, crashed),
			said(23, 1, trusted, 2), said(24, 1, suspected, 2)},
			Detection{Suspicions: 3, Detected: 4, Sum: 3, Most: 2}, false},
		"an observer that goes down": {[]history.Event{happens(10, 2, crashed), happens(12, 1, crashed),
			happens(20, 1, restarted), said(22, 1, suspected, 2), said(30, 0, suspected, 2),
			said(31, 0, suspected, 1)},
			Detection{Suspicions: 3, Wrong: 1, Detected: 1, Sum: 20, Most: 20}, true},
		"of nodes that stand still, and of one that went on": {[]history.Event{stood(10, 2, history.Paused),
			said(14, 0, suspected, 2), stood(20, 2, history.Resumed), said(30, 1, suspected, 2),
			said(31, 0, trusted, 2), said(32, 0, suspected, 2), said(33, 2, suspected, 0)},
			Detection{Suspicions: 4, Wrong: 4, WrongStill: 2}, true},
		"nobody that exists": {[]history.Event{said(5, 0, suspected, 1<<31)},
			Detection{Suspicions: 1, Wrong: 1}, true},
	} {
		f := New(0, nil)
		for _, e := range append(test.events, end) {
			f.Add(e)
		}
		f.Close([]*history.NodeLog{{Node: nodes.None}, {Node: 0}, {Node: 1}, {Node: 2}})
		got := f.Detection
		got.suspected, got.wrong, got.crashes = nil, nil, nil
		broken := len(f.Wrongs) > 0
		if got.Suspicions != test.want.Suspicions || got.Wrong != test.want.Wrong ||
			got.WrongStill != test.want.WrongStill ||
			got.Detected != test.want.Detected || got.Undetected != test.want.Undetected ||
			got.Sum != test.want.Sum || got.Most != test.want.Most || broken != test.broken {
			t.Errorf("%s: %+v, broken %v; want %+v", name, got, broken, test.want)
		}
	}
}
