package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// leaderObserver passes the events of the fold of sections on to the fold of leaders.
type leaderObserver struct{ *leadership.Fold }

func (leaderObserver) Asked(*section.Section)   {}
func (leaderObserver) Entered(*section.Section) {}
func (leaderObserver) Ended(*section.Section)   {}

// Leaders returns the fold of leaders; nil if the run elects none.
func (e *elected) Leaders() *leadership.Fold { return e.leaders }

// terms: no term has two leaders, over all incarnations, and no node goes back to a lower term.
func terms(e *evidence) Finding {
	l := e.leaders
	switch {
	case !e.Leads.Terms:
		return notJudged("its leaders have no terms")
	case e.Lacks.Terms:
		return notJudged("not judged: the history has no terms")
	case len(l.Conflicts) > 0:
		c := l.Conflicts[0]
		var lines []string
		for _, c := range l.Conflicts {
			lines = append(lines, fmt.Sprintf("term %d: %s, and then %s at %v", c.Term, name(c.First), name(c.Second),
				e.since(c.At)))
		}
		f := violated("two leaders in term %d: %s and %s", c.Term, name(c.First), name(c.Second))
		return e.outsideIf(f.with(fewOf(lines, len(lines))...), e.at(c.At), e.Safe)
	case len(l.Backwards) > 0:
		b := l.Backwards[0]
		f := violated("%s went back to term %d at %v", name(b.Node), b.Term, e.since(b.From))
		return e.outsideIf(f, e.at(b.From), e.Safe)
	}
	return valid("no term had two leaders")
}

func (e *elected) rank(id nodes.ID) uint32 { return e.Leads.RankOf(e.Config, id) }

// since returns how long after the run began a time was, for people.
func (e *elected) since(at int64) time.Duration {
	return time.Duration(at - e.leaders.Begun).Round(time.Microsecond)
}

// leaders: no two nodes lead at once for longer than the algorithm allows for a take-over. Without terms that
// holds as long as the assumptions of safety hold. With terms it holds only while nothing goes wrong: a
// leader that is cut off or stands still may lead on in its older term until it hears of the higher one.
func leaders(e *evidence) Finding {
	l := e.leaders
	both := time.Duration(l.TwoLeaders).Round(time.Microsecond)
	worst, at := e.worst()
	switch {
	case worst == nil && l.TwoLeaders == 0:
		return valid("never were there two leaders at once")
	case worst == nil && e.Lacks.Terms && e.Leads.Terms:
		return inconclusive("for %v there were two leaders or more, and the history has no terms", both).
			with(e.overlaps(0)...)
	case worst == nil && e.Leads.Terms:
		f := valid("for %v there were two leaders or more, each of a term of its own", both)
		f.Together = e.together()
		return f.with(e.overlaps(0)...)
	case worst == nil:
		return valid("for %v there were two leaders, and never for longer than the %v that a take-over may take",
			both, about(e.takeOver(e.longest())))
	}
	count := "two leaders"
	if n := len(worst.Leaders); n > 2 {
		count = fmt.Sprintf("%d leaders, at least two at any time", n)
	}
	f := violated("%s: %s for %v", count, english.List(names(worst.Leaders)),
		time.Duration(at.Length()).Round(time.Microsecond))
	switch {
	case e.Replayed:
		f = violated("%s at the same time, for too long", nodesDo(worst.Leaders, "leads", "lead"))
	case e.Leads.Terms:
		f.Says += e.undisturbed(at.From)
		return f.with(e.overlaps(e.Overlap)...)
	}
	f = f.lasting(at.From+int64(e.Overlap), at.To, worst.Leaders...)
	return e.outsideIf(f.with(e.overlaps(e.Overlap)...), span{at.From, at.To, int64(e.Grace), nil}, e.Safe)
}

// worst returns the overlap with the longest time in which two led for too long, and that time; nil: no such
// overlap. One inside the model counts as worse than one outside.
func (e *evidence) worst() (worst *leadership.Overlap, at leadership.Span) {
	inside := false // worst is inside the model
	for i := range e.leaders.Overlaps {
		o := &e.leaders.Overlaps[i]
		when, is := e.tooLong(o)
		if !is && !e.Leads.Terms && e.saw(history.Together) && o.To == e.leaders.End {
			when, is = o.Span, true
		}
		if !is {
			continue
		}
		in := e.brokenIn(span{when.From, when.To, int64(e.Grace), nil}, e.Safe) == 0
		if worst == nil || in && !inside || in == inside && when.Length() > at.Length() {
			worst, at, inside = o, when, in
		}
	}
	return worst, at
}

// together returns how long the longest overlap of leaders lasted that no broken assumption of safety
// explains.
func (e *elected) together() (longest time.Duration) {
	for i := range e.leaders.Overlaps {
		o := &e.leaders.Overlaps[i]
		if e.brokenIn(span{o.From, o.To, int64(e.Grace), nil}, e.Safe) == 0 {
			longest = max(longest, time.Duration(o.Length()))
		}
	}
	return longest
}

// tooLong reports whether two led at once for longer than a take-over takes, and when.
func (e *elected) tooLong(o *leadership.Overlap) (leadership.Span, bool) {
	if e.Leads.Terms {
		return e.tooLongUndisturbed(o)
	}
	return o.Span, time.Duration(o.Length()) > e.takeOver(o)
}

// takeOver returns how long two may lead while one takes over from the other. That they do not lead longer is
// no promise about time: only the clocks may err, and the message from which the old leader learns of the new
// one takes as long as messages of this run did.
func (e *elected) takeOver(o *leadership.Overlap) time.Duration {
	if e.Real && !e.Measured {
		return e.Overlap + time.Duration(e.sections.StampError())
	}
	return e.Overlap + e.slack(o.From, o.To, 1, o.Leaders...)
}

// longest returns the longest time in which two led.
func (e *elected) longest() *leadership.Overlap {
	return new(slices.MaxFunc(e.leaders.Overlaps, func(a, b leadership.Overlap) int {
		return cmp.Compare(a.Length(), b.Length())
	}))
}

// tooLongUndisturbed reports whether two led in different terms for longer than a take-over takes though
// nothing had gone wrong since the run began, or since the algorithm had had time to recover; and when. If an
// assumption of its progress is broken for good, a scheme may never get down to one leader.
func (e *elected) tooLongUndisturbed(o *leadership.Overlap) (longest leadership.Span, is bool) {
	for _, calm := range e.stretches(e.disturbances(nil)) {
		from := calm.From
		if from > e.leaders.Begun && e.Leads.Overlap == nil {
			from = later(from, int64(e.Patience()))
		}
		at := leadership.Span{From: max(o.From, from), To: min(o.To, calm.To)}
		allowed := e.takeOver(&leadership.Overlap{Span: at, Leaders: o.Leaders})
		if time.Duration(at.Length()) > allowed && at.Length() > longest.Length() &&
			e.brokenIn(stretch{at}.span(), e.Safe|e.Live|e.NeverHolds) == 0 {
			longest, is = at, true
		}
	}
	return longest, is
}

// leadOn reports whether two or more lead at the end, and have for so long that more time would not change
// it.
func (e *elected) leadOn() bool {
	for i := range e.leaders.Overlaps {
		if o := &e.leaders.Overlaps[i]; o.To == e.leaders.End {
			_, is := e.tooLong(o)
			return is
		}
	}
	return false
}

func names(all []nodes.ID) (words []string) {
	for _, id := range all {
		words = append(words, name(id))
	}
	return words
}

// overlaps describes the stretches with several leaders that were longer than a bound.
func (e *elected) overlaps(bound time.Duration) []string {
	var lines []string
	for i := range e.leaders.Overlaps {
		if o := &e.leaders.Overlaps[i]; time.Duration(o.Length()) > bound {
			lines = append(lines, fmt.Sprintf("from %v for %v: %s", e.since(o.From),
				time.Duration(o.Length()).Round(time.Microsecond), english.List(names(o.Leaders))))
		}
	}
	return fewOf(lines, len(lines))
}

// beliefs describes which leader each node followed when the run was told to stop.
func (e *elected) beliefs() []string {
	last := map[nodes.ID]string{}
	for i := range e.leaders.Beliefs {
		if b := &e.leaders.Beliefs[i]; b.From <= e.leaders.End && b.To >= e.leaders.End {
			last[b.Node] = b.Text()
		}
	}
	var lines []string
	for id := range nodes.ID(e.Config.N) {
		says := last[id]
		switch {
		case !e.wasUp(id, e.leaders.End):
			says = "is down"
		case says == "":
			says = "knows of no leader"
		}
		lines = append(lines, name(id)+" "+says)
	}
	return fewOf(lines, len(lines))
}

// winner: each election elected the node that the algorithm names, such as the highest of those up
// throughout.
func winner(e *evidence) Finding {
	if e.Leads.Wins == algorithm.AnyWins {
		return notJudged("it may elect anybody")
	}
	judged := 0
	for i := range e.leaders.Elections {
		x := &e.leaders.Elections[i]
		if x.Again || x.Cause.What != leadership.RunBegan && x.Cause.What != leadership.LeaderCrashed {
			continue
		}
		judged++
		should := x.Highest
		if e.Leads.Wins == algorithm.LowestWins {
			should = x.Lowest
		}
		if should == nodes.None || e.rank(x.Leader) == e.rank(should) ||
			e.Leads.Wins == algorithm.HighestWins && e.rank(x.Leader) > e.rank(should) ||
			e.Leads.Wins == algorithm.LowestWins && e.rank(x.Leader) < e.rank(should) {
			continue
		}
		f := violated("%s was elected at %v, though %s was up", name(x.Leader), e.since(x.Agreed), name(should))
		return e.outsideIf(f, span{x.Begun, x.Agreed, int64(e.Grace), nil}, e.Safe|e.Live)
	}
	if judged == 0 {
		return notJudged("no election was completed that began with the run, or with a crash of the leader")
	}
	return valid("%s elected the right one", english.Count(judged, "election", "elections"))
}

// back describes when a leader that crashed restarted, if it did before a time.
func (e *elected) back(lost leadership.Incident, until int64) string {
	for _, r := range e.leaders.Restarts {
		if r.Node == lost.Node && r.At > lost.At && r.At < until {
			return fmt.Sprintf("it was back after %v; ", time.Duration(r.At-lost.At).Round(time.Microsecond))
		}
	}
	return ""
}

// again reports whether, before a time, all came to follow the same leader again after its crash.
func (e *elected) again(lost leadership.Incident, until int64) bool {
	return slices.ContainsFunc(e.leaders.Agreements, func(x leadership.Election) bool {
		return x.Again && x.Leader == lost.Node && lost.At < x.Agreed && x.Agreed < until
	})
}

// elections: an election was completed, and one after each crash of a leader; otherwise the other checks have
// no evidence. If an algorithm elects no leader, the check of agreement finds a violation.
func elections(e *evidence) Finding {
	l := e.leaders
	n := l.Elected()
	if n == 0 {
		return inconclusive("no election was completed")
	}
	var lines []string
	same := 0 // crashes after which all followed the same leader again
	next := 0 // index of the first election that was not over before a crash
	for i, lost := range l.Lost {
		until, what := l.End, "the run ended"
		if i+1 < len(l.Lost) {
			until, what = l.Lost[i+1].At, "the leader "+name(l.Lost[i+1].Node)+" crashed"
		}
		for next < len(l.Elections) && (l.Elections[next].Again || l.Elections[next].Agreed < lost.At) {
			next++
		}
		if next == len(l.Elections) || l.Elections[next].Agreed >= until {
			then := fmt.Sprintf("%v later, %s", time.Duration(until-lost.At).Round(time.Microsecond), what)
			if e.again(lost, until) {
				then = "all took it for the leader again"
				same++
			}
			lines = append(lines, fmt.Sprintf("the leader %s crashed at %v; %s%s", name(lost.Node), e.since(lost.At),
				e.back(lost, until), then))
		}
	}
	if len(lines) > 0 {
		why := fmt.Sprintf("an election may need up to %v without further faults",
			about(e.patience(l.Begun, l.Begun)))
		if e.unlimited() {
			why = "it is unknown how long an election may take"
		}
		if same == len(lines) {
			why = "all took the same one for the leader again when it was back: keep it down for longer"
			if e.Config.N == 1 {
				why = "with one node, nobody else can lead: take more nodes"
			}
		}
		return inconclusive("no election was completed after %s of a leader; %s",
			english.Count(len(lines), "crash", "crashes"), why).with(fewOf(lines, len(lines))...)
	}
	f := valid("%s completed", english.Count(n, "election was", "elections were"))
	if lost := len(l.Lost); lost > 0 {
		f.Says += fmt.Sprintf(", %d of them after %s of a leader", l.ElectedSince(l.Lost[0].At),
			english.Count(lost, "crash", "crashes"))
	}
	return f
}

// elected is the evidence of runs about leaders.
type elected struct {
	*model
	leaders   *leadership.Fold // nil: the run has no leaders
	campaigns []campaign
	offline   []disconnection
	senders   otherSenders
}

// A disconnection is a time in which a node had no connection to the broker.
type disconnection struct {
	node     nodes.ID
	from, to int64
}

// connection takes an event that ends the connection of a node, or brings it back.
func (e *elected) connection(event *history.Event) {
	if event.Kind == history.Disconnected {
		e.offline = append(e.offline, disconnection{event.Node, event.At, math.MaxInt64})
		return
	}
	for i := range e.offline {
		if o := &e.offline[i]; o.node == event.Node && o.to == math.MaxInt64 {
			o.to = event.At
		}
	}
}

// otherSenders counts messages of other nodes than the leader while all agreed on it.
type otherSenders struct {
	messages uint64
	first    history.Event
	leader   nodes.ID // the leader when the message in first was sent
}

// noteSender notes a message of an elector while all agree on another node as leader, if the algorithm lets
// only the leader send then.
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

// senders: while all agree on a leader, no other node sends anything.
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

// stability: while delays are bounded and nothing goes wrong, no node gives up the leader that all should
// agree on more often than the algorithm allows. A belief that began before the last trouble does not count.
func stability(e *evidence) Finding {
	switch {
	case e.Leads.Mistakes == nil:
		return notJudged("the algorithm does not promise how often nodes abandon a leader that is up")
	case !e.Bounded:
		return notJudged("messages may take any time")
	}
	most, judged := 0, false
	for _, calm := range e.calms() {
		longest := e.Delay + e.Slack
		if e.Measured {
			longest += max(history.LateFrom, e.sections.Longest(calm.From, calm.To))
		}
		most = e.Leads.Mistakes(e.Config, longest)
		leader := e.shouldLead(calm.From)
		if leader == nodes.None || calm.Length() == 0 {
			continue
		}
		judged = true
		if id, times := e.givesUp(leader, calm); times > most {
			return violated("%s suspected the live leader, %s, %s in %v without faults; if no message takes longer "+
				"than %v, it may do so %s", name(id), name(leader), english.Count(uint64(times), "time", "times"),
				time.Duration(calm.Length()).Round(time.Millisecond), longest,
				english.Count(uint64(most), "time", "times"))
		}
	}
	if !judged {
		return notJudged("faults or their aftermath cover the whole run")
	}
	return valid("without faults, no node suspected the live leader more than %s",
		english.Count(uint64(most), "time", "times"))
}

// shouldLead returns the node that should be elected of those up at a time; None: any may be.
func (e *elected) shouldLead(at int64) nodes.ID {
	best := nodes.None
	for id := range nodes.ID(e.Config.N) {
		if !e.wasUp(id, at) {
			continue
		}
		switch {
		case best == nodes.None,
			e.Leads.Wins == algorithm.HighestWins && e.rank(id) > e.rank(best),
			e.Leads.Wins == algorithm.LowestWins && e.rank(id) < e.rank(best):
			best = id
		}
	}
	if e.Leads.Wins == algorithm.AnyWins {
		return nodes.None
	}
	return best
}

// givesUp returns the node that came to follow a leader and gave it up most often in a stretch, and how many
// times. Until the algorithm has had time to recover from earlier trouble, giving up does not count: nodes
// may notice only now that the leader was silent.
func (e *elected) givesUp(leader nodes.ID, calm stretch) (most nodes.ID, times int) {
	since := calm.From
	if since > e.leaders.Begun {
		since = later(since, int64(e.Grace))
	}
	count := make([]int, e.Config.N)
	for i := range e.leaders.Beliefs {
		b := &e.leaders.Beliefs[i]
		if b.Leader == leader && !b.Cut && b.From >= calm.From && b.To >= since && b.To < calm.To {
			count[b.Node]++
		}
	}
	times = slices.Max(count)
	return nodes.ID(slices.Index(count, times)), times
}

// electionCost: an election takes as many messages as the algorithm expects.
func electionCost(e *evidence) Finding {
	switch {
	case e.Leads.Costs == nil:
		return notJudged("it is not known how many messages an election takes")
	case e.faulty():
		return notJudged("nothing is published for a run with faults")
	case e.brokenBy(e.sections.End, e.Live) != 0: // elections without a result may have cost messages
		return notJudged("an assumption of the scheme was broken")
	case !e.rested() || !e.balanced():
		return notJudged("the counts of messages are incomplete")
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
		return violated("%s, but this order of identities takes %d", says, due).with(e.kindsSent())
	case e.begunAtOnce(won):
		return valid("%s, exactly as many as this order of identities takes", says)
	case sent > most:
		return violated("%s, but at most %d by the published cost", says, most).with(e.kindsSent())
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

// A campaign counts the nodes that were told to campaign at one time.
type campaign struct {
	at    int64
	nodes int
}

// campaigned notes that a node was told to campaign.
func (e *elected) campaigned(at int64) {
	if last := len(e.campaigns) - 1; last >= 0 && e.campaigns[last].at == at {
		e.campaigns[last].nodes++
		return
	}
	e.campaigns = append(e.campaigns, campaign{at, 1})
}

// begunAtOnce reports whether every message took the same time, and all nodes began each of the elections at
// one time, when the election before was over. The last one must be over when the run is told to stop, since
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

// lapse: a leader that cannot reach a majority, because of cuts or crashes, knows it within the time that its
// algorithm promises. The check leaves out the time in which a node stands still, and the time after the run
// was told to stop.
func lapse(e *evidence) Finding {
	if e.Lapse == 0 {
		return notJudged("a leader without a majority may never know it")
	}
	judged := false
	for i := range e.leaders.Beliefs {
		b := &e.leaders.Beliefs[i]
		until := min(b.To, e.leaders.End)
		if !b.Leads() || b.From >= until {
			continue
		}
		for _, alone := range e.minorityOf(b.Node, b.From, until) {
			judged = true
			within := e.Lapse + e.slack(alone.from, alone.to, 2, b.Node)
			if had := time.Duration(alone.to - alone.from); had > within {
				f := violated("%s led for %v without a majority, and should know within %v", name(b.Node),
					had.Round(time.Millisecond), within).lasting(alone.from+int64(e.Lapse), alone.to, b.Node)
				return e.outsideIf(f, span{alone.from, alone.to, int64(e.Grace), []nodes.ID{b.Node}},
					nodes.NoPause|nodes.Timing)
			}
		}
	}
	if !judged {
		return notJudged("every leader could reach a majority")
	}
	return valid("every leader without a majority knew it within %v", e.Lapse)
}
