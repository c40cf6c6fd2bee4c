package stall

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// What the messages since a request say of who was asked, who answered, and what is not known of it.
func TestAsked(t *testing.T) {
	const ms = 1_000_000
	sent := func(at int64, to nodes.ID, seq uint32) history.MessageRecord {
		return history.MessageRecord{At: at * ms, Node: 0, Peer: to, Seq: seq, Sent: true}
	}
	got := func(at int64, node, from nodes.ID, seq uint32) history.MessageRecord {
		return history.MessageRecord{At: at * ms, Node: node, Peer: from, Seq: seq}
	}
	beat := got(130, 0, 2, 9)
	beat.Kind = 1
	log := func(id nodes.ID, ever int, trace ...history.MessageRecord) *history.NodeLog {
		return &history.NodeLog{Node: id, Trace: trace,
			Totals: history.Totals{TraceNext: uint64(len(trace) + ever)}}
	}
	asks := log(0, 0, sent(50, 2, 4), got(60, 0, 2, 8), sent(100, 1, 5), sent(101, 2, 5), got(110, 0, 1, 3),
		beat)
	for name, x := range map[string]struct {
		logs []*history.NodeLog
		want string
	}{
		"silent": {[]*history.NodeLog{asks, log(2, 0, got(55, 2, 0, 4), got(120, 2, 0, 5))},
			", and sent ask to 1 and 2; 2 has not answered (it got that at 0.120 s)"},
		"not got": {[]*history.NodeLog{asks, log(2, 0, got(55, 2, 0, 4))},
			", and sent ask to 1 and 2; 2 has not answered (it has not got that)"},
		"lost from the record": {[]*history.NodeLog{asks, log(2, 7, got(150, 2, 1, 4))},
			", and sent ask to 1 and 2; 2 has not answered (it is not recorded whether it got that)"},
		"answered": {[]*history.NodeLog{log(0, 0, sent(100, 1, 5), got(110, 0, 1, 3))},
			", and sent ask to 1; all have sent something back"},
		"asked nobody": {[]*history.NodeLog{log(0, 3, sent(60, 1, 5))}, ", and has sent nothing since"},
		"not recorded": {[]*history.NodeLog{log(0, 3, sent(100, 1, 5))},
			"; its messages since then are not all recorded"},
		"answers early": {[]*history.NodeLog{log(0, 0, got(96, 0, 1, 2), sent(100, 1, 5)), log(1, 0)},
			", and sent ask to 1; 1 has not answered (it has not got that)"},
	} {
		r := Report{Clients: 3, States: []*nodes.NodeStatus{{Client: "waiting", Since: 95 * ms},
			{Client: "idle"}, nil}}
		r.Ask(x.logs, func(m history.MessageRecord, _ history.Text) string {
			return []string{"ask", ""}[m.Kind]
		})
		if got, want := r.Asked[0].String(), "node 0 requested at 0.095 s"+x.want; got != want {
			t.Errorf("%s: it says %q, not %q", name, got, want)
		}
	}
	told := Report{States: []*nodes.NodeStatus{{Client: "waiting", Since: 1}}, Waits: []Wait{{0, 1, nodes.None}}}
	if told.Ask(nil, nil); told.Asked != nil {
		t.Errorf("of a node that says what it waits for, it says %v", told.Asked)
	}
}
