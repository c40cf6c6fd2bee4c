package check

import "turnstile/nodes"

// together2 returns a run with two clients inside together. The algorithm needs the assumption rests, and
// links records what the transport did to messages.
func together2(rests nodes.Assumption, links func(w *world)) func() *world {
	return made(func(w *world) {
		w.together()
		w.Safe = rests
		links(w)
	})
}

// doubtMutants are runs without faults in which the transport lost, repeated or invented messages.
var doubtMutants = []mutant{
	{"two inside, and a message came again", together2(nodes.NoDuplication, func(w *world) {
		w.log(1).Totals.Repeats++
	}), "exclusion", Inconclusive, Inconclusive,
		"together for 1.0 us, but 0 messages on the way did not arrive, and 1 came again"},
	{"two inside, and a message out of nothing", together2(nodes.FIFO, func(w *world) {
		w.log(1).SentTo[0]--
	}), "account", Inconclusive, Inconclusive, "but the numbering of messages is wrong: link 1 -> 0: 3 sent"},
	{"two inside, and a message lost", together2(nodes.NoLoss, func(w *world) { w.log(1).Totals.Gaps++ }),
		"register", Inconclusive, Inconclusive, "but 1 message on the way did not arrive"},
	{"two inside, and a message lost that it does not rest on", together2(nodes.NoDuplication, func(w *world) {
		w.log(1).Totals.Gaps++
	}), "exclusion", Violated, Violated, "together for 1.0 us"},
}
