package host_test

import (
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A moment is from when to when something lasts at a node.
type moment struct{ from, to int64 }

// held reports whether a time is within one of some moments.
func held(all []moment, at int64) bool {
	for _, m := range all {
		if m.from < at && at < m.to {
			return true
		}
	}
	return false
}

// Messages wait for applications in the same way in simulated and in real runs, and the runs come to rest.
func TestApplicationsReceive(t *testing.T) {
	for way, period := range map[workload.Receiver]time.Duration{workload.Interrupt: 0, workload.Handler: 0,
		workload.Poll: 5 * time.Millisecond} {
		t.Run(string(way), func(t *testing.T) {
			tr := trial{instances: []algorithm.Instance{instance(algorithmOf(t, "bakery"), 3)}, entries: 24,
				workload: workload.Workload{Load: workload.Closed, Think: chance.Constant(6 * time.Millisecond),
					Hold:    chance.Constant(4 * time.Millisecond),
					Receive: workload.Receive{By: way, Period: period}}}
			tr.everywhere(t, func(t *testing.T, h *history.History) {
				judge(t, h, 24)
				inside, computes, handled := map[nodes.ID][]moment{}, map[nodes.ID][]moment{}, 0
				entered, exited := map[nodes.ID]int64{}, map[nodes.ID]int64{}
				for _, e := range h.Events {
					switch e.Kind {
					case history.Entered:
						entered[e.Node] = e.At
					case history.Exited:
						inside[e.Node] = append(inside[e.Node], moment{entered[e.Node], e.At})
						exited[e.Node] = e.At
					case history.Requested:
						if exited[e.Node] > 0 { // it has computed until the request was due
							computes[e.Node] = append(computes[e.Node], moment{e.Value - int64(5*time.Millisecond), e.Value})
						}
					}
				}
				for _, l := range h.Logs {
					for _, m := range l.Trace {
						switch {
						case m.Sent:
							continue
						case way != workload.Poll && held(inside[m.Node], m.At):
							t.Errorf("node %d handles a message at %d, and is inside", m.Node, m.At)
						case way == workload.Handler && held(computes[m.Node], m.At):
							t.Errorf("node %d handles a message at %d, and computes", m.Node, m.At)
						}
						handled++
					}
				}
				if handled == 0 {
					t.Error("no message is handled")
				}
			})
		})
	}
}
