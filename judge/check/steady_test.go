package check

import (
	"fmt"
	"strings"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
)

// steady are runs of which it is looked at whether the leader alone sends, and for how long it stays.
func steady() []electionRun {
	alone := func(s *Setting) { s.Leads = &row.Leadership{LeaderAlone: true} }
	within := func(s *Setting) {
		s.Bounded, s.Delay = true, 20*time.Millisecond
		s.Leads = &row.Leadership{Wins: row.LowestWins,
			Mistakes: func(_ nodes.Config, longest time.Duration) int {
				return int(longest / (10 * time.Millisecond))
			}}
	}
	gives := func(times int) string {
		return allElect(5, 0, 0) + strings.Repeat("300 3 elect 3\n310 3 elect 0\n", times)
	}
	return []electionRun{
		{name: "the leader sends", setting: alone, check: "senders", as: Valid, says: "nobody else sent anything",
			text: allElect(5, 0, 0) + "50 0 send 0\n100 0 send 0"},
		{name: "another sends", setting: alone, check: "senders", as: Violated,
			says: "2 messages were sent by others than the leader while all agreed on it: the first by node 3 at " +
				"50ms, when all followed node 0", text: allElect(5, 0, 0) + "50 3 send 0\n100 3 send 0"},
		{name: "another sends before it gives way", setting: alone, check: "senders", as: Valid,
			text: allElect(5, 0, 0) + "50 3 elect 3\n60 3 send 0\n70 3 elect 0"},
		{name: "another sends while not all agree", setting: alone, check: "senders", as: Valid,
			text: allElect(5, 0, 0) + "50 3 elect 3\n60 4 send 0\n70 3 elect 0"},
		{name: "who was never agreed on", setting: alone, check: "senders", as: Valid, says: "at no time",
			text: "50 3 elect 3\n60 3 send 0"},
		{name: "others may send", check: "senders", as: Valid, says: "others than the leader may send",
			text: allElect(5, 0, 0) + "50 3 send 0"},

		{name: "given up as often as it may be", setting: within, check: "stability", as: Valid,
			says: "more than 2 times", text: gives(2)},
		{name: "given up too often", setting: within, check: "stability", as: Violated,
			says: "node 3 gave up node 0 3 times in 995ms in which that was up and nothing went wrong: where no " +
				"message takes longer than 20ms, it may 2 times", text: gives(3)},
		{name: "processes may be late", check: "stability", as: Valid, text: gives(3),
			setting: func(s *Setting) { within(s); s.Slack = 10 * time.Millisecond }},
		{name: "once more after something went wrong", check: "stability", as: Valid,
			setting: func(s *Setting) { within(s); parted(s) },
			text: allElect(5, 0, 0) + "100 1 fault 1\n200 1 heal\n" +
				strings.Repeat("300 3 elect 3\n310 3 elect 0\n", 3)},
		{name: "twice more after something went wrong", check: "stability", as: Violated,
			setting: func(s *Setting) { within(s); parted(s) },
			text: allElect(5, 0, 0) + "100 1 fault 1\n200 1 heal\n" +
				strings.Repeat("300 3 elect 3\n310 3 elect 0\n", 4)},
		{name: "while something goes wrong", check: "stability", as: Valid,
			setting: func(s *Setting) { within(s); parted(s) }, text: allElect(5, 0, 0) + "100 1 fault 1\n" +
				strings.Repeat("300 3 elect 3\n310 3 elect 0\n", 4) + "900 1 heal"},
		{name: "until something goes wrong", check: "stability", as: Valid,
			setting: func(s *Setting) { within(s); s.Delay = 0; parted(s) },
			text:    allElect(5, 0, 0) + "100 1 fault 1\n100 3 elect 3\n200 1 heal"},
		{name: "who should not lead", setting: within, check: "stability", as: Valid,
			text: allElect(5, 0, 0) + strings.Repeat("300 3 elect 1\n310 3 elect 2\n", 4)},
		{name: "the lowest is down", setting: within, check: "stability", as: Violated,
			says: "node 3 gave up node 1 4 times", text: "1 0 crash\n" + allElect(5, 1, 0) +
				strings.Repeat("300 3 elect 3\n310 3 elect 1\n", 4)},
		{name: "messages may take any time", check: "stability", as: Valid, says: "messages may take any time",
			setting: func(s *Setting) { within(s); s.Bounded = false }, text: gives(9)},
	}
}

// costly are runs of which it is looked at how many messages their elections take: 10 each if all begin at
// once, and 15 at most.
func costly() []electionRun {
	even := func(s *Setting) {
		s.Even, s.Codec = true, nodes.NewCodec(toys[:1])
		s.Leads = &row.Leadership{Costs: func(nodes.Config) row.ElectionCost {
			return row.ElectionCost{AtOnce: 10, Most: 15}
		}}
	}
	uneven := func(s *Setting) { even(s); s.Even = false }
	sent := func(count uint64) func([]*history.NodeLog) {
		return func(all []*history.NodeLog) {
			of := all[1].Instance(0)
			of.Kinds = append(of.Kinds, history.KindTotals{Sent: count, Delivered: count, Publishes: count})
		}
	}
	begin := func(at string) string {
		return strings.ReplaceAll("T 0 campaign\nT 1 campaign\nT 2 campaign\nT 3 campaign\nT 4 campaign\n", "T", at)
	}
	again := strings.ReplaceAll(allElect(205, 4, 0), "205 4", "206 4")
	twice := begin("1") + allElect(5, 4, 0) + begin("200") +
		"200 0 elect -1\n200 1 elect -1\n200 2 elect -1\n200 3 elect -1\n200 4 elect -1\n" + again
	return []electionRun{
		{name: "as many as it takes", setting: even, text: begin("1") + allElect(5, 4, 0), logs: sent(10),
			check: "cost", as: Valid, says: "10 messages in 1 election, exactly as many as it takes"},
		{name: "one too many", setting: even, text: begin("1") + allElect(5, 4, 0), logs: sent(11), check: "cost",
			as: Violated, says: "11 messages in 1 election, but by the order of the identities it takes 10"},
		{name: "one too few", setting: even, text: begin("1") + allElect(5, 4, 0), logs: sent(9), check: "cost",
			as: Violated, says: "it takes 10"},
		{name: "two elections", setting: even, text: twice, logs: sent(20), check: "cost", as: Valid,
			says: "20 messages in 2 elections, exactly"},
		{name: "two elections and one message", setting: even, text: twice, logs: sent(21), check: "cost",
			as: Violated, says: "it takes 20"},
		{name: "not all begin", setting: even, text: "1 0 campaign\n" + allElect(5, 4, 0), logs: sent(15),
			check: "cost", as: Valid, says: "at most 15, as published"},
		{name: "not all begin at once", setting: even, logs: sent(12), check: "cost", as: Valid, says: "at most",
			text: begin("1") + allElect(5, 4, 0) + "200 0 campaign\n"},
		{name: "messages do not take the same time", setting: uneven, text: begin("1") + allElect(5, 4, 0),
			logs: sent(12), check: "cost", as: Valid, says: "12 messages in 1 election: at most 15, as published"},
		{name: "more than is published", setting: uneven, text: begin("1") + allElect(5, 4, 0), logs: sent(16),
			check: "cost", as: Violated, says: "but 15 at most are published"},
		{name: "a process stood still", setting: even, logs: sent(12), check: "cost", as: Valid, says: "at most",
			text: begin("1") + allElect(5, 4, 0) + "300 2 pause\n310 2 resume\n"},
		{name: "the last is not over", setting: even, text: begin("1") + "5 4 elect 4\n6 3 elect 4\n",
			logs:  sent(9),
			check: "cost", as: Valid, says: "at most 15, as published"},
		{name: "an election was begun in vain, since messages overtook each other", check: "cost", as: Valid,
			says: "what elections rest on did not hold", logs: sent(16), setting: func(s *Setting) {
				uneven(s)
				s.Live = nodes.FIFO
				s.Faults = []Fault{{Text: "reorder 40ms", OfLinks: true, Breaks: nodes.FIFO}}
			}, text: begin("1") + allElect(5, 4, 0) + fmt.Sprintf("100 1 fault %d\n200 1 heal\n", nodes.FIFO)},
		{name: "nobody was elected", setting: even, text: begin("1"), logs: sent(12), check: "cost", as: Valid,
			says: "nobody was elected"},
		{name: "nothing is published", text: begin("1") + allElect(5, 4, 0), logs: sent(99), check: "cost",
			as:   Valid,
			says: "not known"},
	}
}
