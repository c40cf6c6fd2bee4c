package check

import (
	"slices"
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Each network has streams of its own, and the audit finds what is missing from either.
func TestStreamsOfTwoNetworksAreAudited(t *testing.T) {
	codec := nodes.NewCodec([]nodes.MessageKind{toys[0], {Zero: toyReply{}, Net: 1}})
	for _, test := range []struct {
		name           string
		sent, received uint64 // by node 0 to node 1 on the second network
		floor          uint64
		dies           string
		says           string // part of the finding
	}{
		{"all came", 3, 3, 0, "", "every message came"},
		{"one is missing", 3, 2, 0, "", "link 0 -> 1 on the second network: 3 sent, number 2 was the last to come"},
		{"one went with the broker", 3, 2, 3, "", "1 message was lost with connections to the broker"},
		{"one is missing, and another node died", 3, 2, 0, "500 3 crash", "link 0 -> 1: 3 sent, 1 missing"},
		{"one went with the broker, and another node died", 3, 2, 3, "500 3 crash",
			"1 message was lost with connections"},
		{"its sender died", 3, 2, 0, "500 0 crash", "1 message to or from nodes that died"},
	} {
		r := electionRun{text: allElect(5, 4, 0) + test.dies, setting: func(s *Setting) { s.Codec = codec },
			logs: func(all []*history.NodeLog) {
				for _, l := range all[1:] {
					l.SentTo, l.ReceivedFrom = make([]uint64, 10), make([]uint64, 10)
					l.MultiFrom, l.Floor = make([]uint64, 10), make([]uint64, 10)
				}
				all[1].SentTo[5+1], all[1].Floor[5+1], all[2].ReceivedFrom[5+0] = test.sent, test.floor, test.received
				all[1].Instance(0).Kinds = []history.KindTotals{{}, {Sent: test.sent, Publishes: test.sent}}
				all[2].Instance(0).Kinds = []history.KindTotals{{}, {Delivered: test.received}}
			}}
		v := r.verdict(t)
		for _, f := range v.Findings {
			lines := append(slices.Clone(f.Witness), f.Says)
			if f.Check == "loss" && !strings.Contains(strings.Join(lines, "\n"), test.says) {
				t.Errorf("%s: %v: %q", test.name, f.Outcome, lines)
			}
			if f.Check == "accounting" && (f.Outcome != Valid) != (test.name == "one is missing") {
				t.Errorf("%s: %v: %s %q", test.name, f.Outcome, f.Says, f.Witness)
			}
		}
	}
}
