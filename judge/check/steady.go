package check

import (
	"fmt"
	"slices"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
)

// elected says who led in the run.
type elected struct {
	*model
	leaders   *leadership.Fold // nil: nobody leads
	campaigns []campaign
	senders   otherSenders
}

// otherSenders are what others than the leader sent though all agreed on it.
type otherSenders struct {
	messages uint64
	first    history.Event
	leader   nodes.ID // when the first was sent
}

// noteSender notes a message of the elector from a node that follows a leader on which all agree, if by its
// row the leader alone sends then.
func (e *elected) noteSender(event history.Event) {
	if !e.Leads.LeaderAlone || event.Instance != 0 || !e.leaders.Follows(event.Node) {
		return
	}
	leader := e.leaders.Agreed()
	if leader == nodes.None {
		return
	}
	if e.senders.messages++; e.senders.messages == 1 {
		e.senders.first, e.senders.leader = event, leader
	}
}

// senders: once all agree on a leader, nobody else sends anything.
func senders(e *evidence) Finding {
	switch {
	case !e.Leads.LeaderAlone:
		return notJudged("others than the leader may send")
	case e.senders.messages > 0:
		return violated("%s sent by others than the leader while all agreed on it: the first by %s at %v, when "+
			"all followed %s", english.Count(e.senders.messages, "message was", "messages were"),
			name(e.senders.first.Node),
			e.since(e.senders.first.At), name(e.senders.leader))
	case len(e.leaders.Agreements) == 0:
		return notJudged("at no time did all agree on a leader")
	}
	return valid("while all agreed on a leader, nobody else sent anything")
}

// stability: while delays are bounded and nothing else goes wrong, no node gives up the leader that all
// should agree on more often than the row says. A node that followed it before something went wrong may give
// it up once more.
func stability(e *evidence) Finding {
	switch {
	case e.Leads.Mistakes == nil:
		return notJudged("it does not say how often a leader that is up may be given up")
	case !e.Bounded:
		return notJudged("messages may take any time")
	}
	longest := e.Delay + e.Slack
	most, judged := e.Leads.Mistakes(e.Config, longest), false
	for _, calm := range e.calms() {
		leader := e.shouldLead(calm.From)
		if leader == nodes.None || calm.Length() == 0 {
			continue
		}
		judged = true
		if id, times := e.givesUp(leader, calm); times > most {
			return violated("%s gave up %s %s in %v in which that was up and nothing went wrong: where no message "+
				"takes longer than %v, it may %d times", name(id), name(leader),
				english.Count(uint64(times), "time", "times"),
				time.Duration(calm.Length()).Round(time.Millisecond), longest, most)
		}
	}
	if !judged {
		return notJudged("at all times something went wrong")
	}
	return valid("nobody gave up the leader that all should agree on more than %s while that was up and "+
		"nothing went wrong", english.Count(uint64(most), "time", "times"))
}

// shouldLead returns which of the nodes that are up at a time is to be elected; None: the row does not say.
func (e *elected) shouldLead(at int64) nodes.ID {
	best := nodes.None
	for id := range nodes.ID(e.Config.N) {
		if !e.wasUp(id, at) {
			continue
		}
		switch {
		case best == nodes.None,
			e.Leads.Wins == row.HighestWins && e.rank(id) > e.rank(best),
			e.Leads.Wins == row.LowestWins && e.rank(id) < e.rank(best):
			best = id
		}
	}
	if e.Leads.Wins == row.AnyWins {
		return nodes.None
	}
	return best
}

// givesUp returns which node came to follow a leader and gave it up most often in a stretch, and how often.
func (e *elected) givesUp(leader nodes.ID, calm stretch) (most nodes.ID, times int) {
	count := make([]int, e.Config.N)
	for i := range e.leaders.Beliefs {
		if b := &e.leaders.Beliefs[i]; b.Leader == leader && !b.Cut && b.From >= calm.From && b.To < calm.To {
			count[b.Node]++
		}
	}
	times = slices.Max(count)
	return nodes.ID(slices.Index(count, times)), times
}

// electionCost: an election takes as many messages as the row says.
func electionCost(e *evidence) Finding {
	switch {
	case e.Leads.Costs == nil:
		return notJudged("it is not known how many messages an election takes")
	case e.faulty():
		return notJudged("nothing is published for a run with faults")
	case e.brokenBy(e.sections.End, e.Live) != 0: // an election may have been begun in vain
		return notJudged("what elections rest on did not hold")
	case !e.rested() || !e.balanced():
		return notJudged("the counts of messages are not whole")
	}
	cost, sent, won := e.Leads.Costs(e.Config), e.sent(), 0
	for i := range e.leaders.Beliefs {
		if e.leaders.Beliefs[i].Leads() {
			won++
		}
	}
	says := fmt.Sprintf("%s in %s", english.Count(sent, "message", "messages"),
		english.Count(uint64(won), "election", "elections"))
	switch due, most := uint64(won*cost.AtOnce), uint64(won*cost.Most); {
	case won == 0:
		return notJudged("nobody was elected")
	case e.begunAtOnce(won) && sent != due:
		return violated("%s, but by the order of the identities it takes %d", says, due).with(e.kindsSent())
	case e.begunAtOnce(won):
		return valid("%s, exactly as many as it takes by the order of the identities", says)
	case sent > most:
		return violated("%s, but %d at most are published", says, most).with(e.kindsSent())
	default:
		return valid("%s: at most %d, as published", says, most)
	}
}

// kindsSent lists the messages of the run by their kinds.
func (r *records) kindsSent() string {
	perKind := make([]float64, len(r.sum.Kinds))
	for kind, k := range r.sum.Kinds {
		perKind[kind] = float64(k.Sent)
	}
	return r.perKind(perKind)
}

// A campaign is how many nodes were told to campaign at one moment.
type campaign struct {
	at    int64
	nodes int
}

// told takes note of a node that is told to campaign.
func (e *elected) told(at int64) {
	if last := len(e.campaigns) - 1; last >= 0 && e.campaigns[last].at == at {
		e.campaigns[last].nodes++
		return
	}
	e.campaigns = append(e.campaigns, campaign{at, 1})
}

// begunAtOnce reports whether every message took the same time, and all nodes began each of so many
// elections at one moment, with none going on. The last one must be over when the run is told to stop:
// messages may have no effect after that.
func (e *elected) begunAtOnce(elections int) bool {
	s := e.sections
	if !e.Even || len(s.Faults)+len(s.Pauses) > 0 || len(e.campaigns) != elections || e.leaders.Apart != nil {
		return false
	}
	all := e.leaders.Agreements
	for i, c := range e.campaigns {
		for len(all) > 0 && all[0].Agreed < c.at {
			all = all[1:]
		}
		if c.nodes != e.Config.N || i > 0 && len(all) > 0 && all[0].Begun < c.at {
			return false
		}
	}
	return true
}
