package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// An electionRun is a run of five nodes about leaders, made of lines such as "10 2 elect 4 7": after 10 ms,
// node 2 takes node 4 for the leader of term 7. Nobody leads at its beginning, and it is told to stop after a
// second.
type electionRun struct {
	name    string
	setting func(s *Setting)
	text    string
	check   string                       // the name of the check that is tested
	as      Outcome                      // the outcome of that check
	outside bool                         // the finding is outside the model
	says    string                       // part of the sentence
	without string                       // what the sentence does not say
	witness string                       // the first line of the witness; empty: any
	logs    func(all []*history.NodeLog) // changes the logs of the orchestrator and the nodes; nil: keep them
	jumps   bool                         // the clock of a host jumps
}

// events reads the lines of a run.
func (r *electionRun) events(t *testing.T) (all []history.Event) {
	t.Helper()
	kinds := map[string]history.Kind{"elect": history.Elected, "crash": history.Crashed,
		"restart": history.Restarted, "campaign": history.Campaigned,
		"pause": history.Paused, "resume": history.Resumed, "fault": history.FaultBegan,
		"heal": history.FaultHealed, "suspect": history.Suspected, "trust": history.Trusted,
		"mark": history.Marked, "send": history.Sent, "late": history.Lagged}
	mark := func(at int64, m uint32) {
		all = append(all, history.Event{At: at, Kind: history.Marked, Count: m, Node: nodes.None})
	}
	mark(0, history.Began)
	mark(0, history.Measuring)
	stopped := false
	for line := range strings.Lines(strings.TrimSpace(r.text)) {
		var at, count, value int64
		var node nodes.ID
		var what string
		fields := strings.Fields(line)
		fmt.Sscan(fields[0], &at)
		fmt.Sscan(fields[1], &node)
		what = fields[2]
		if kinds[what] == 0 {
			t.Fatalf("%q is no event", line)
		}
		if at >= 1000 && !stopped {
			mark(1e9, history.Stopped)
			stopped = true
		}
		if len(fields) > 3 {
			fmt.Sscan(fields[3], &count)
		}
		if len(fields) > 4 {
			fmt.Sscan(fields[4], &value)
		}
		e := history.Event{At: at * 1e6, Kind: kinds[what], Node: node, Count: uint32(count), Value: value}
		switch e.Kind {
		case history.Marked: // this mark replaces the mark Stopped
			e.Node, stopped = nodes.None, true
		case history.Paused, history.Resumed:
			e.Count, e.Node = uint32(node), nodes.None
		case history.FaultBegan: // the line has the number of the fault in place of a node
			e.Count, e.Node, e.Value, e.Fence = uint32(node), nodes.None, count, 1 // a node was hit
		case history.Lagged: // count is for how many milliseconds it was late
			e = history.Lag{From: e.At - count*1e6, To: e.At, Sender: nodes.None}.Event(e.At)
			e.Node = node
		case history.FaultHealed: // a message was hit; a number says in which millisecond that is over
			e.Count, e.Node, e.Value, e.Fence = uint32(node), nodes.None, 1, uint64(count)*1e6
		}
		all = append(all, e)
	}
	if !stopped {
		mark(1e9, history.Stopped)
	}
	mark(2e9, history.Rested)
	return all
}

// verdict judges the run.
func (r *electionRun) verdict(t *testing.T) Verdict {
	t.Helper()
	s := Setting{Problem: Election, Config: nodes.Config{N: 5}, Leads: &algorithm.Leadership{},
		Grace: 100 * time.Millisecond}
	if r.setting != nil {
		r.setting(&s)
	}
	sections := Sections(history.Header{Nodes: 5}, s)
	f := New(sections, s)
	if r.jumps {
		for _, clock := range []uint64{history.NoClock, 1} {
			sections.Add(history.Event{Kind: history.ClockBound, Value: 1, Fence: clock, Node: nodes.None})
		}
	}
	for _, e := range r.events(t) {
		sections.Add(e)
	}
	var logs []*history.NodeLog
	for id := nodes.None; int(id) < s.Config.N; id++ {
		logs = append(logs, &history.NodeLog{Node: id})
	}
	if r.logs != nil {
		r.logs(logs)
	}
	sections.Close(logs)
	return f.Verdict()
}

// allElect has all five nodes elect a leader in a term at a time.
func allElect(at, leader, term int) string {
	var b strings.Builder
	for id := range 5 {
		fmt.Fprintf(&b, "%d %d elect %d %d\n", at, id, leader, term)
	}
	return b.String()
}

func inTerms(s *Setting) { s.Leads = &algorithm.Leadership{Terms: true} }

// parted has a fault cut nodes 0 and 1 off from the others. The events say which assumptions it breaks.
func parted(s *Setting) {
	s.Faults = []Fault{{Text: "cut 0-1/2-4", OfLinks: true, Breaks: nodes.NoLoss,
		Separates: func(a, b, _ nodes.ID) bool { return (a < 2) != (b < 2) }}}
}

// quorate has leaders know within a time that they have no majority.
func quorate(s *Setting) {
	parted(s)
	s.Leads = &algorithm.Leadership{Terms: true, Lapse: func(nodes.Config) time.Duration { return 0 }}
	s.Lapse = 150 * time.Millisecond
}

// agreements are runs for the check whether all agree in the end.
func agreements() []electionRun {
	delayed := func(s *Setting) {
		s.Live = nodes.Timing
		s.Faults = []Fault{{Text: "delay 9ms", OfLinks: true, Breaks: nodes.Timing, Leaves: 9 * time.Millisecond}}
	}
	late := fmt.Sprintf("100 1 fault %d\n500 4 elect -1\n895 1 heal", nodes.Timing)
	long := fmt.Sprintf("100 1 fault %d\n500 4 elect -1\n800 1 heal", nodes.Timing)
	return []electionRun{
		{name: "sound", text: allElect(5, 4, 0), check: "agreement", as: Valid, says: "all agreed on node 4"},
		{name: "a node goes its own way", text: allElect(5, 4, 0) + "50 0 elect 3", check: "agreement",
			as: Violated, says: "nothing had gone wrong for"},
		{name: "they elect one that is down", text: "1 4 crash\n" + allElect(5, 4, 0), check: "agreement",
			as: Violated, says: "the nodes do not agree on a leader"},
		{name: "too soon after a crash", text: allElect(5, 4, 0) + "950 4 crash", check: "agreement",
			as: Inconclusive, says: "let the run go on for longer"},
		{name: "long after a crash", text: allElect(5, 4, 0) + "500 4 crash", check: "agreement", as: Violated},
		{name: "a crash that it does not outlast", text: allElect(5, 4, 0) + "500 4 crash", check: "agreement",
			setting: func(s *Setting) { s.Live = nodes.NoCrash }, as: Inconclusive, outside: true},
		{name: "a crash that nothing tells of", text: allElect(5, 4, 0) + "500 4 crash", check: "agreement",
			setting: func(s *Setting) { s.Live, s.Unheard = nodes.EventualDetector, true }, as: Inconclusive,
			outside: true},
		{name: "a crash that a detector tells of", text: allElect(5, 4, 0) + "500 4 crash", check: "agreement",
			setting: func(s *Setting) { s.Live = nodes.EventualDetector }, as: Violated},
		{name: "too soon after a delay", text: allElect(5, 4, 0) + late, check: "agreement", setting: delayed,
			as: Inconclusive, outside: true, says: "let the run go on for longer"},
		{name: "long after a delay", text: allElect(5, 4, 0) + long, check: "agreement", setting: delayed,
			as: Violated},
		{name: "a server that is down", text: allElect(5, 4, 0) + "500 5 crash\n510 0 elect -1", check: "agreement",
			setting: func(s *Setting) { s.Live = nodes.ServersUp }, as: Inconclusive, outside: true},
		{name: "a server that is up again", check: "agreement", as: Violated,
			setting: func(s *Setting) { s.Live = nodes.ServersUp },
			text:    allElect(5, 4, 0) + "500 5 crash\n510 0 elect -1\n520 5 restart 1"},
		{name: "the fault that took it down is named", check: "agreement", as: Inconclusive, outside: true,
			says: "all servers are up, and one was not; kill 5)", setting: func(s *Setting) {
				s.Live = nodes.ServersUp
				s.Faults = []Fault{{Text: "kill 0", ForGood: true}, {Text: "kill 5", ForGood: true},
					{Text: "kill 1", ForGood: true}}
			}, text: allElect(5, 4, 0) + fmt.Sprintf("300 1 fault %d\n300 0 crash\n500 2 fault %[1]d\n500 5 crash\n"+
				"510 3 elect -1\n600 3 fault %[1]d\n600 1 crash", nodes.NoCrash)},
		{name: "only clients are down", text: allElect(5, 4, 0) + "500 4 crash", check: "agreement", as: Violated,
			setting: func(s *Setting) { s.Live = nodes.ServersUp }},
		{name: "the node that should campaign is dead", text: "1 0 campaign\n2 0 crash", check: "agreement",
			as: Inconclusive, says: "no node that was up"},
		{name: "and somebody else falls ill later", text: "1 0 campaign\n2 0 crash\n600 1 pause\n610 1 resume",
			check: "agreement", as: Inconclusive, says: "no node that was up"},
		{name: "and comes up again", text: "1 0 campaign\n2 0 crash\n3 0 restart 1", check: "agreement",
			as: Inconclusive, says: "no node that was up"},
		{name: "and says something", text: "1 0 campaign\n2 0 crash\n3 0 restart 1\n4 0 elect -1",
			check: "agreement", as: Violated},
		{name: "another campaigns in vain", text: "1 0 campaign\n1 1 campaign\n2 0 crash", check: "agreement",
			as: Violated},
		{name: "what breaks only safety excuses no disagreement", check: "agreement", as: Violated,
			setting: func(s *Setting) { s.Safe = nodes.NoCrash }, text: allElect(5, 4, 0) + "500 4 crash"},
	}
}

// chosen are runs for the checks of leaders by term, and of the right leader.
func chosen() []electionRun {
	return []electionRun{
		{name: "terms", setting: inTerms, text: allElect(5, 4, 1), check: "terms", as: Valid},
		{name: "two in a term", setting: inTerms, text: allElect(5, 4, 1) + "50 4 crash\n60 3 elect 3 1",
			check: "terms", as: Violated, says: "two leaders in term 1: node 4 and node 3"},
		{name: "two in a term outside its model", check: "terms", as: Violated, outside: true,
			setting: func(s *Setting) { inTerms(s); s.Safe = nodes.NoCrash },
			text:    allElect(5, 4, 1) + "50 4 crash\n60 3 elect 3 1"},
		{name: "back in terms", setting: inTerms, text: allElect(5, 4, 5) + "50 3 elect 4 4", check: "terms",
			as: Violated, says: "node 3 went back to term 4"},
		{name: "no terms", text: allElect(5, 4, 0), check: "terms", as: Valid, says: "have no terms"},

		{name: "the highest", setting: func(s *Setting) { s.Leads.Wins = algorithm.HighestWins }, check: "winner",
			text: allElect(5, 4, 0), as: Valid},
		{name: "not the highest", setting: func(s *Setting) { s.Leads.Wins = algorithm.HighestWins },
			check: "winner",
			text:  allElect(5, 3, 0), as: Violated, says: "node 3 was elected at 5ms, though node 4 was up"},
		{name: "the highest that is up", setting: func(s *Setting) { s.Leads.Wins = algorithm.HighestWins },
			check: "winner", text: "1 4 crash\n" + allElect(5, 3, 0), as: Valid},
		{name: "not the lowest", setting: func(s *Setting) { s.Leads.Wins = algorithm.LowestWins }, check: "winner",
			text: allElect(5, 3, 0), as: Violated, says: "node 0 was up"},
	}
}

// minorities are runs for the check whether a leader without a majority knows it.
func minorities() []electionRun {
	cutOff := fmt.Sprintf("200 1 fault %d\n", nodes.NoLoss)
	return []electionRun{
		{name: "a majority", setting: quorate, check: "lapse", as: Valid, says: "could reach a majority",
			text: allElect(5, 4, 1) + cutOff + "900 1 heal"},
		{name: "no majority, and it knows", setting: quorate, check: "lapse", as: Valid,
			says: "knew it within 150ms",
			text: allElect(5, 0, 1) + cutOff + "340 0 elect -1 1\n900 1 heal"},
		{name: "no majority, and it goes on", setting: quorate, check: "lapse", as: Violated,
			says: "node 0 led for 160ms without a majority",
			text: allElect(5, 0, 1) + cutOff + "360 0 elect -1 1\n900 1 heal"},
		{name: "the others are down", setting: quorate, check: "lapse", as: Violated, says: "node 0 led for 300ms",
			text: allElect(5, 0, 1) + "200 2 crash\n200 3 crash\n200 4 crash\n500 4 restart 1"},
		{name: "the run was told to stop before it had to know", setting: quorate, check: "lapse", as: Valid,
			says: "knew it within 150ms",
			text: allElect(5, 0, 1) + "900 2 crash\n900 3 crash\n900 4 crash\n1400 0 elect -1 1"},
		{name: "it promises nothing of the kind", text: allElect(5, 4, 0), check: "lapse", as: Valid,
			says: "may never know"},
	}
}

// doubtful are runs with defects in the evidence: a promise can be violated only if no defect concerns it.
func doubtful() []electionRun {
	gap := func(all []*history.NodeLog) { all[3].Totals.Gaps++ }
	repeat := func(all []*history.NodeLog) { all[3].Totals.Repeats++ }
	miscount := func(all []*history.NodeLog) { all[3].Instance(0).Requests++ }
	lossless := func(s *Setting) { s.Safe = nodes.NoLoss }
	hasty := func(s *Setting) {
		s.Real, s.Measured, s.Live = true, true, nodes.Timing
		s.Covers = func(late time.Duration) bool { return late < 20*time.Millisecond }
	}
	slowed := func(s *Setting) {
		hasty(s)
		s.Faults = []Fault{{Text: "slow: 2", Slows: true, Hits: func(id, _ nodes.ID) bool { return id == 2 }}}
	}
	apart := allElect(150, 4, 0) + "250 0 elect 3"
	twoLeaders := allElect(5, 4, 0) + "50 3 elect 3\n60 3 elect 4"
	twoInTerm := allElect(5, 4, 1) + "50 4 crash\n60 3 elect 3 1"
	return []electionRun{
		{name: "two leaders, and a message lost", setting: lossless, text: twoLeaders, logs: gap,
			check: "leaders", as: Inconclusive, says: "1 message on the way did not arrive"},
		{name: "two leaders, and a message lost that changes nothing", text: twoLeaders, logs: gap,
			check: "leaders", as: Violated},
		{name: "two leaders, and a message lost that only progress rests on", text: twoLeaders, logs: gap,
			setting: func(s *Setting) { s.Live = nodes.NoLoss }, check: "leaders", as: Violated},
		{name: "two leaders, and a message twice", text: twoLeaders, logs: repeat,
			setting: func(s *Setting) { s.Safe = nodes.NoDuplication }, check: "leaders", as: Inconclusive,
			says: "1 came again"},
		{name: "two in a term by counts that disagree", setting: inTerms, text: twoInTerm, logs: miscount,
			check: "terms", as: Inconclusive, says: "but the counts disagree"},
		{name: "no agreement, and a message lost", text: allElect(5, 4, 0) + "50 0 elect 3", logs: gap,
			setting: func(s *Setting) { s.Live = nodes.NoLoss }, check: "agreement", as: Inconclusive,
			says: "1 message on the way did not arrive"},
		{name: "no agreement, and a process late for long", text: apart + "\n980 2 late 900", setting: hasty,
			check: "agreement", as: Inconclusive, says: "20ms after anything went wrong"},
		{name: "no agreement, and a process late by what timeouts cover", text: apart + "\n980 2 late 15",
			setting: hasty, check: "agreement", as: Violated},
		{name: "no agreement, and a process late by more, long ago", text: apart + "\n500 2 late 30",
			setting: hasty, check: "agreement", as: Violated},
		{name: "no agreement, and a process late because of a fault", setting: slowed,
			text: apart + "\n260 1 fault 0\n400 1 heal\n980 2 late 700", check: "agreement", as: Violated},
		{name: "no agreement, and another process late", setting: slowed,
			text: apart + "\n260 1 fault 0\n400 1 heal\n980 3 late 700", check: "agreement", as: Inconclusive},
		{name: "the wrong one, and a process later than timeouts cover", text: "4 1 late 30\n" + allElect(5, 3, 0),
			setting: func(s *Setting) { hasty(s); s.Leads.Wins = algorithm.HighestWins },
			check:   "winner", as: Inconclusive, says: "a process was late by 30ms"},
		{name: "the wrong one, and a process late before the run", text: "0 1 late 30\n" + allElect(5, 3, 0),
			setting: func(s *Setting) { hasty(s); s.Leads.Wins = algorithm.HighestWins },
			check:   "winner", as: Violated},
		{name: "the wrong one, and a process late by less", text: "4 1 late 15\n" + allElect(5, 3, 0),
			setting: func(s *Setting) { hasty(s); s.Leads.Wins = algorithm.HighestWins },
			check:   "winner", as: Violated},
		{name: "two leaders outside its model, and timers late", check: "leaders", as: Violated, outside: true,
			setting: func(s *Setting) { s.Safe = nodes.PerfectDetector; s.Real, s.Measured = true, true },
			text:    allElect(5, 4, 0) + "49 3 suspect 4\n50 3 elect 3\n60 3 elect 4\n61 3 trust 4"},
		{name: "the wrong one, and a message lost", text: allElect(5, 3, 0), logs: gap,
			setting: func(s *Setting) { s.Leads.Wins, s.Live = algorithm.HighestWins, nodes.NoLoss },
			check:   "winner", as: Inconclusive, says: "1 message on the way did not arrive"},
	}
}

func TestElectionsAreJudged(t *testing.T) {
	for _, r := range slices.Concat(agreements(), lateInCalm(), troubled(), crashing(), overlapping(),
		overlappingInTerms(), withoutMajority(), chosen(),
		minorities(), doubtful(), steady(), costly()) {
		v := r.verdict(t)
		at := slices.IndexFunc(v.Findings, func(f Finding) bool { return f.Check == r.check })
		f := v.Findings[at]
		if f.Outcome != r.as || f.OutsideModel != r.outside || !strings.Contains(f.Says, r.says) ||
			r.without != "" && strings.Contains(f.Says, r.without) {
			t.Errorf("%s: %v, outside its model %v: %s %q", r.name, f.Outcome, f.OutsideModel, f.Says, f.Witness)
		}
		if r.witness != "" && (len(f.Witness) == 0 || f.Witness[0] != r.witness) {
			t.Errorf("%s: the witness is %q", r.name, f.Witness)
		}
		if r.as != Valid && v.Outcome < r.as {
			t.Errorf("%s: the verdict is %v: %s", r.name, v.Outcome, v.Reason)
		}
	}
}

// steady are runs for the checks whether only the leader sends, and how often it is given up.
func steady() []electionRun {
	alone := func(s *Setting) { s.Leads = &algorithm.Leadership{LeaderAlone: true} }
	within := func(s *Setting) {
		s.Bounded, s.Delay = true, 20*time.Millisecond
		s.Leads = &algorithm.Leadership{Wins: algorithm.LowestWins,
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
		{name: "a leader that was never agreed on", setting: alone, check: "senders", as: Valid, says: "at no time",
			text: "50 3 elect 3\n60 3 send 0"},
		{name: "others may send", check: "senders", as: Valid, says: "others than the leader may send",
			text: allElect(5, 0, 0) + "50 3 send 0"},

		{name: "given up as often as it may be", setting: within, check: "stability", as: Valid,
			says: "more than 2 times", text: gives(2)},
		{name: "given up too often", setting: within, check: "stability", as: Violated,
			says: "node 3 suspected the live leader, node 0, 3 times in 995ms without faults; if no message takes " +
				"longer than 20ms, it may do so 2 times", text: gives(3)},
		{name: "processes may be late", check: "stability", as: Valid, text: gives(3),
			setting: func(s *Setting) { within(s); s.Slack = 10 * time.Millisecond }},
		{name: "once more after something went wrong", check: "stability", as: Valid,
			setting: func(s *Setting) { within(s); parted(s) },
			text: allElect(5, 0, 0) + "100 1 fault 1\n200 1 heal\n" +
				strings.Repeat("300 3 elect 3\n310 3 elect 0\n", 3)},
		{name: "given up since they were silent during a cut", check: "stability", as: Valid,
			setting: func(s *Setting) { within(s); parted(s) },
			text: allElect(5, 0, 0) + "100 1 fault 1\n200 1 heal\n" +
				strings.Repeat("210 3 elect 3\n220 3 elect 0\n", 4)},
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
		{name: "a node that should not lead", setting: within, check: "stability", as: Valid,
			text: allElect(5, 0, 0) + strings.Repeat("300 3 elect 1\n310 3 elect 2\n", 4)},
		{name: "the lowest is down", setting: within, check: "stability", as: Violated,
			says: "node 3 suspected the live leader, node 1, 4 times", text: "1 0 crash\n" + allElect(5, 1, 0) +
				strings.Repeat("300 3 elect 3\n310 3 elect 1\n", 4)},
		{name: "messages may take any time", check: "stability", as: Valid, says: "messages may take any time",
			setting: func(s *Setting) { within(s); s.Bounded = false }, text: gives(9)},
	}
}

// costly are runs for the check of how many messages elections take: 10 each if all nodes begin at once, and
// 15 at most otherwise.
func costly() []electionRun {
	even := func(s *Setting) {
		s.Even, s.Codec = true, nodes.NewCodec(toys[:1])
		s.Leads = &algorithm.Leadership{Costs: func(nodes.Config) algorithm.ElectionCost {
			return algorithm.ElectionCost{AtOnce: 10, Most: 15}
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
			check: "cost", as: Valid, says: "10 messages in 1 election, exactly as many as this order of identities"},
		{name: "one too many", setting: even, text: begin("1") + allElect(5, 4, 0), logs: sent(11), check: "cost",
			as: Violated, says: "11 messages in 1 election, but this order of identities takes 10"},
		{name: "one too few", setting: even, text: begin("1") + allElect(5, 4, 0), logs: sent(9), check: "cost",
			as: Violated, says: "takes 10"},
		{name: "two elections", setting: even, text: twice, logs: sent(20), check: "cost", as: Valid,
			says: "20 messages in 2 elections, exactly"},
		{name: "two elections and one message", setting: even, text: twice, logs: sent(21), check: "cost",
			as: Violated, says: "takes 20"},
		{name: "not all begin", setting: even, text: "1 0 campaign\n" + allElect(5, 4, 0), logs: sent(15),
			check: "cost", as: Valid, says: "at most 15, as published"},
		{name: "not all begin at once", setting: even, logs: sent(12), check: "cost", as: Valid, says: "at most",
			text: begin("1") + allElect(5, 4, 0) + "200 0 campaign\n"},
		{name: "messages do not take the same time", setting: uneven, text: begin("1") + allElect(5, 4, 0),
			logs: sent(12), check: "cost", as: Valid, says: "12 messages in 1 election: at most 15, as published"},
		{name: "more than is published", setting: uneven, text: begin("1") + allElect(5, 4, 0), logs: sent(16),
			check: "cost", as: Violated, says: "but at most 15 by the published cost"},
		{name: "a process stood still", setting: even, logs: sent(12), check: "cost", as: Valid, says: "at most",
			text: begin("1") + allElect(5, 4, 0) + "300 2 pause\n310 2 resume\n"},
		{name: "the last is not over", setting: even, text: begin("1") + "5 4 elect 4\n6 3 elect 4\n",
			logs:  sent(9),
			check: "cost", as: Valid, says: "at most 15, as published"},
		{name: "an election was begun in vain, since messages overtook each other", check: "cost", as: Valid,
			says: "an assumption of the scheme was broken", logs: sent(16), setting: func(s *Setting) {
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
