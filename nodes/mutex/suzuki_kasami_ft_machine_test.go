package mutex

import (
	"fmt"
	"slices"
	"testing"

	"turnstile/judge/rowtest"
	"turnstile/nodes"
)

// A handling is what a node of three is given one after the other, and what it does at the last.
type handling struct {
	says   string
	node   nodes.ID
	inputs []nodes.Input
	want   string
}

var (
	started   = nodes.Input{Kind: nodes.Start}
	requested = nodes.Input{Kind: nodes.Request}
	released  = nodes.Input{Kind: nodes.Release}
)

func heard(id nodes.ID, m nodes.Message) nodes.Input {
	return nodes.Input{Kind: nodes.Receive, From: id, Message: m}
}

func suspected(id nodes.ID) nodes.Input { return nodes.Input{Kind: nodes.Suspect, From: id} }

// skftAsked is the request of a node of that number.
func skftAsked(id nodes.ID, number uint64) nodes.Input { return heard(id, suzukiRequest{number}) }

// skftCame is the token of an epoch, sent so often in it, with a queue.
func skftCame(epoch, sent uint64, queue ...nodes.ID) nodes.Input {
	return heard(0, skftToken{regeneratedToken{Epoch: epoch, Sent: sent}, make([]uint64, 3), queue})
}

func entered(epoch, serial uint64) string {
	return fmt.Sprintf("enter under %d", fence(3, epoch, serial))
}

func TestHandlersOfSuzukiKasamiFT(t *testing.T) {
	for _, test := range slices.Concat(skftTokens, skftCensuses) {
		node, got := rowtest.Node(&suzukiKasamiFTRow, 3, test.node), ""
		for _, in := range test.inputs {
			got = effectsOf(node, in)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.says, got, test.want)
		}
	}
}

// Where nothing is lost, and where a peer is passed over.
var skftTokens = []handling{
	{"the holder enters at once", 0, []nodes.Input{started, requested}, entered(0, 1)},
	{"who has no token asks all", 1, []nodes.Input{started, requested}, "suzukiRequest{1} to all"},
	{"an idle holder sends the token", 0, []nodes.Input{started, skftAsked(2, 1)},
		"skftToken{{0 2 0} [0 0 0] []} to 2"},
	{"and not twice", 0, []nodes.Input{started, skftAsked(2, 1), skftAsked(2, 1)}, ""},
	{"a request that was served counts for nothing", 0, []nodes.Input{started, skftAsked(2, 0)}, ""},
	{"a holder inside keeps the token", 0, []nodes.Input{started, requested, skftAsked(2, 1)}, ""},
	{"who leaves queues from the next node on", 0,
		[]nodes.Input{started, requested, skftAsked(2, 1), skftAsked(1, 1), released},
		"skftToken{{0 2 1} [0 0 0] [2]} to 1"},
	{"and passes over who is suspected", 0,
		[]nodes.Input{started, requested, skftAsked(2, 1), skftAsked(1, 1), suspected(1), released},
		"skftToken{{0 2 1} [0 0 0] []} to 2"},
	{"if all are, the token stays", 0,
		[]nodes.Input{started, requested, skftAsked(1, 1), suspected(1), released}, ""},
	{"until one is trusted again", 0,
		[]nodes.Input{started, requested,
			skftAsked(1, 1), suspected(1), released, {Kind: nodes.Trust, From: 1}},
		"skftToken{{0 2 1} [0 0 0] []} to 1"},
	{"a token lets in who waits", 1, []nodes.Input{started, requested, skftCame(0, 2)}, entered(0, 1)},
	{"a copy of it does not", 1,
		[]nodes.Input{started, requested, skftCame(0, 2), released, requested, skftAsked(0, 1), released, requested,
			skftCame(0, 2)},
		""},
	{"who does not wait sends it on", 1, []nodes.Input{started, skftCame(0, 2, 2)},
		"skftToken{{0 3 0} [0 0 0] []} to 2"},
}

// skftRenewed is an epoch, with the requests of the nodes that its census found.
func skftRenewed(epoch uint64, rn ...uint64) nodes.Input {
	return heard(2, suzukiRenewal{epoch, make([]uint64, 3), rn})
}

// Where a token may be lost.
var skftCensuses = []handling{
	{"a promise is saved, and answered with what was had", 0,
		[]nodes.Input{started, heard(1, censusAsk{1, 0})},
		"save censusPromise{1}; censusAnswer[suzukiReport]{1 1 0 {{0 1} 0 0}} to 1"},
	{"after it the token is of no use", 0, []nodes.Input{started, heard(1, censusAsk{1, 0}), requested},
		"suzukiRequest{1} to all"},
	{"nor is one that comes", 1, []nodes.Input{started, requested, heard(2, censusAsk{2, 0}),
		skftCame(0, 2)}, ""},
	{"one of a later epoch is", 1, []nodes.Input{started, requested, heard(2, censusAsk{2, 0}),
		skftCame(5, 1)},
		"save censusPromise{5}; " + entered(5, 1)},
	{"whom the token was sent to dies: a census", 0, []nodes.Input{started, skftAsked(2, 1), suspected(2)},
		"save censusPromise{3}; censusAsk{3 0} to 1"},
	{"the death of another is none", 0, []nodes.Input{started, skftAsked(2, 1), suspected(1)}, ""},
	{"the last holder is given the epoch, with what was reported", 0, []nodes.Input{started, skftAsked(2, 1),
		suspected(2), heard(1, censusAnswer[suzukiReport]{Epoch: 3, Promised: 3,
			Report: suzukiReport{Number: 4, Served: 3}})}, "skftToken{{3 2 0} [0 3 0] [2]} to 1"},
	{"an answer to another epoch counts for nothing", 0, []nodes.Input{started, skftAsked(2, 1),
		suspected(2), heard(1, censusAnswer[suzukiReport]{Epoch: 0, Promised: 3})}, ""},
	{"who is given an epoch makes the token", 1,
		[]nodes.Input{started, requested, heard(2, censusAsk{2, 0}), skftRenewed(2, 0, 1, 1)}, entered(2, 1)},
	{"and sends it to who waits", 1, []nodes.Input{started, heard(2, censusAsk{2, 0}),
		skftRenewed(2, 0, 0, 1)},
		"skftToken{{2 2 0} [0 0 0] []} to 2"},
	{"once", 1, []nodes.Input{started, heard(2, censusAsk{2, 0}), skftRenewed(2, 0, 0, 1),
		skftRenewed(2, 0, 0, 1)}, ""},
	{"and not of an epoch that is over", 1,
		[]nodes.Input{started, heard(0, censusAsk{3, 0}), skftRenewed(2, 0, 0, 1)}, ""},
	{"who is up again asks all before it takes part", 1, []nodes.Input{
		{Kind: nodes.Recover, Message: nodes.Saved{censusPromise{2}}}},
		"censusAsk{0 0} to 0; censusAsk{0 0} to 2"},
}
