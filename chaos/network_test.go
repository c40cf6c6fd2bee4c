package chaos

import (
	"fmt"
	"testing"

	"turnstile/chaos/effect"
	"turnstile/nodes"
)

// One more message that is lost moves no decision about any other message.
func TestOneMoreLossMovesNoOtherDecision(t *testing.T) {
	link, others := nodes.Packet{From: 0, To: 1}, []nodes.Packet{{From: 1, To: 0}, {From: 0, To: 2}}
	fates := func(loss effect.Share) (mine, theirs []string) {
		var network Network
		network.Latency.Set("exponential:1ms")
		s := ruled(t, &network, Fault{Seed: 3, Effect: &effect.Loss{Of: effect.Losses{Rate: loss}}},
			Fault{Seed: 4, Effect: &effect.Duplicate{Of: 0.2}})
		for n := uint64(1); n < 200; n++ {
			link.Number = n
			mine = append(mine, fmt.Sprint(s.Shape(&link, nil)))
			for _, l := range others {
				l.Number, l.Kind = n, 1
				theirs = append(theirs, fmt.Sprint(s.Shape(&l, nil)))
			}
		}
		return mine, theirs
	}
	few, fewOthers := fates(0.1)
	more, moreOthers := fates(0.2)
	lost := 0
	for i, fate := range few {
		switch {
		case more[i] == fate:
		case more[i] == "[]":
			lost++
		default:
			t.Errorf("message %d: %s, and with more losses %s", i, fate, more[i])
		}
	}
	for i, fate := range fewOthers {
		if moreOthers[i] != fate && moreOthers[i] != "[]" {
			t.Errorf("a message of another link: %s, and with more losses %s", fate, moreOthers[i])
		}
	}
	if lost == 0 {
		t.Error("no more messages are lost at twice the rate")
	}
}
