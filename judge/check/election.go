package check

import (
	"fmt"
	"slices"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
)

// leaderObserver gives the fold of leaders what the fold of sections is given.
type leaderObserver struct{ *leadership.Fold }

func (leaderObserver) Asked(*section.Section)   {}
func (leaderObserver) Entered(*section.Section) {}
func (leaderObserver) Ended(*section.Section)   {}

// Leaders returns who led in the run; nil if it elects nobody.
func (e *elected) Leaders() *leadership.Fold { return e.leaders }

// terms: no term has two leaders, over all incarnations, and no node goes back to a lower term.
func terms(e *evidence) Finding {
	l := e.leaders
	switch {
	case !e.Leads.Terms:
		return notJudged("its leaders have no terms")
	case len(l.Conflicts) > 0:
		c := l.Conflicts[0]
		var lines []string
		for _, c := range l.Conflicts {
			lines = append(lines, fmt.Sprintf("term %d: %s, and then %s at %v", c.Term, name(c.First), name(c.Second),
				e.since(c.At)))
		}
		f := violated("two leaders in term %d: %s and %s", c.Term, name(c.First), name(c.Second))
		return e.excuse(f.with(fewOf(lines, len(lines))...), e.at(c.At), e.Safe)
	case len(l.Backwards) > 0:
		b := l.Backwards[0]
		f := violated("%s went back to term %d at %v", name(b.Node), b.Term, e.since(b.From))
		return e.excuse(f, e.at(b.From), e.Safe)
	}
	return valid("no term had two leaders")
}

func (e *elected) rank(id nodes.ID) uint32 { return e.Leads.RankOf(e.Config, id) }

// since returns how long after the run began a time was, for people.
func (e *elected) since(at int64) time.Duration {
	return time.Duration(at - e.leaders.Begun).Round(time.Microsecond)
}

// leaders: no two nodes that run lead at once for longer than a take-over takes by the row. Without terms
// that holds as long as what safety rests on; with terms it holds while nothing goes wrong: a leader that is
// cut off or stands still may lead on in its older term until it hears of the higher one.
func leaders(e *evidence) Finding {
	l := e.leaders
	both := time.Duration(l.TwoLeaders).Round(time.Microsecond)
	worst, at := e.worst()
	switch {
	case worst == nil && l.TwoLeaders == 0:
		return valid("never were there two leaders at once")
	case worst == nil && e.Leads.Terms:
		return valid("for %v there were two leaders or more, each of a term of its own", both).
			with(e.overlaps(0)...)
	case worst == nil:
		return valid("for %v there were two leaders, and never for longer than the %v that a take-over may take%s",
			both, about(e.Overlap), e.lateBy())
	}
	count := "two leaders"
	if n := len(worst.Leaders); n > 2 {
		count = fmt.Sprintf("%d leaders, two or more at once", n)
	}
	f := violated("%s: %s for %v", count, english.List(names(worst.Leaders)),
		time.Duration(at.Length()).Round(time.Microsecond))
	switch {
	case e.Replayed:
		f = violated("%s at the same time, for too long", who(worst.Leaders, "leads", "lead"))
	case e.Leads.Terms:
		f.Says += e.undisturbed(at.From)
		return f.with(e.overlaps(e.Overlap)...)
	}
	return e.excuse(f.with(e.overlaps(e.Overlap)...), span{at.From, at.To, int64(e.Grace)}, e.Safe)
}

// worst returns the longest time in which two led for too long, and when that was: one inside the model
// before any outside. Nil: there is none.
func (e *evidence) worst() (worst *leadership.Overlap, at leadership.Span) {
	inside := false // the model
	for i := range e.leaders.Overlaps {
		o := &e.leaders.Overlaps[i]
		when, is := e.tooLong(o)
		if !is && !e.Leads.Terms && e.saw(history.Together) && o.To == e.leaders.End {
			when, is = o.Span, true
		}
		if !is {
			continue
		}
		in := e.brokenIn(span{when.From, when.To, int64(e.Grace)}, e.Safe) == 0
		if worst == nil || in && !inside || in == inside && when.Length() > at.Length() {
			worst, at, inside = o, when, in
		}
	}
	return worst, at
}

// tooLong reports whether two led at once for longer than a take-over takes, and when. Processes may be late,
// but while they cannot reach each other, none takes over from the other.
func (e *elected) tooLong(o *leadership.Overlap) (leadership.Span, bool) {
	if e.Leads.Terms {
		return e.tooLongUndisturbed(o)
	}
	if time.Duration(o.Length()) > e.Overlap+e.Slack {
		return o.Span, true
	}
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		apart := time.Duration(min(o.To, f.To) - max(o.From, f.From))
		if cut := e.asked(f).Separates; cut != nil && apart > e.Overlap && e.divides(o, cut, f.Victim) {
			return o.Span, true
		}
	}
	return leadership.Span{}, false
}

// tooLongUndisturbed reports whether two led in terms of their own for longer than a take-over takes though
// nothing had gone wrong, and when: since the run began, or since the algorithm had its time to recover from
// what went wrong last. A scheme whose progress rests on what is broken for good may never have one leader.
func (e *elected) tooLongUndisturbed(o *leadership.Overlap) (longest leadership.Span, is bool) {
	for _, calm := range e.stretches(e.disturbances(nil)) {
		from := calm.From
		if from > e.leaders.Begun {
			from = later(from, int64(e.Patience()))
		}
		at := leadership.Span{From: max(o.From, from), To: min(o.To, calm.To)}
		if time.Duration(at.Length()) > e.Overlap+e.Slack && at.Length() > longest.Length() &&
			e.brokenIn(stretch{at}.span(), e.Safe|e.Live|e.NeverHolds) == 0 {
			longest, is = at, true
		}
	}
	return longest, is
}

// leadOn reports whether two or more lead at the end, and have for longer than more time would change.
func (e *elected) leadOn() bool {
	for i := range e.leaders.Overlaps {
		if o := &e.leaders.Overlaps[i]; o.To == e.leaders.End {
			_, is := e.tooLong(o)
			return is
		}
	}
	return false
}

// divides reports whether a cut was between some that led at once.
func (e *elected) divides(o *leadership.Overlap, cut func(a, b, victim nodes.ID) bool, victim nodes.ID) bool {
	return slices.ContainsFunc(o.Leaders, func(a nodes.ID) bool {
		return slices.ContainsFunc(o.Leaders, func(b nodes.ID) bool { return a != b && cut(a, b, victim) })
	})
}

// lateBy says by how much processes may be late beside; empty: not at all.
func (e *elected) lateBy() string {
	if e.Slack == 0 {
		return ""
	}
	return fmt.Sprintf(", and the %v by which processes may be late", e.Slack)
}

func names(all []nodes.ID) (words []string) {
	for _, id := range all {
		words = append(words, name(id))
	}
	return words
}

// overlaps tells of stretches with several leaders that were longer than a bound.
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

// beliefs tells whom each node took for the leader when the run was told to stop.
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

// winner: of the nodes that were up throughout an election, the one was elected that the row says.
func winner(e *evidence) Finding {
	if e.Leads.Wins == row.AnyWins {
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
		if e.Leads.Wins == row.LowestWins {
			should = x.Lowest
		}
		if should == nodes.None || e.rank(x.Leader) == e.rank(should) ||
			e.Leads.Wins == row.HighestWins && e.rank(x.Leader) > e.rank(should) ||
			e.Leads.Wins == row.LowestWins && e.rank(x.Leader) < e.rank(should) {
			continue
		}
		f := violated("%s was elected at %v, though %s was up", name(x.Leader), e.since(x.Agreed), name(should))
		return e.excuse(f, span{x.Begun, x.Agreed, int64(e.Grace)}, e.Safe|e.Live)
	}
	if judged == 0 {
		return notJudged("no election was completed that began with the run, or with a crash of the leader")
	}
	return valid("%s elected the right one", english.Count(judged, "election", "elections"))
}

// back says when a leader that crashed came up again, if it did by a time.
func (e *elected) back(lost leadership.Incident, until int64) string {
	for _, r := range e.leaders.Restarts {
		if r.Node == lost.Node && r.At > lost.At && r.At < until {
			return fmt.Sprintf("it was back after %v; ", time.Duration(r.At-lost.At).Round(time.Microsecond))
		}
	}
	return ""
}

// again reports whether all took a leader that had crashed for the leader again, by a time.
func (e *elected) again(lost leadership.Incident, until int64) bool {
	return slices.ContainsFunc(e.leaders.Agreements, func(x leadership.Election) bool {
		return x.Again && x.Leader == lost.Node && lost.At < x.Agreed && x.Agreed < until
	})
}

// elections: somebody was elected, and somebody after each crash of a leader, so that the other checks had
// evidence. The check of agreement convicts an algorithm that elects nobody.
func elections(e *evidence) Finding {
	l := e.leaders
	n := l.Elected()
	if n == 0 {
		return inconclusive("no election was completed")
	}
	var lines []string
	same := 0 // crashes after which all took the same one for the leader again
	next := 0 // election that was not over before a crash
	for i, lost := range l.Lost {
		until, what := l.End, "the run ended"
		if i+1 < len(l.Lost) {
			until, what = l.Lost[i+1].At, name(l.Lost[i+1].Node)+" crashed, which led"
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
			lines = append(lines, fmt.Sprintf("%s crashed at %v and led; %s%s", name(lost.Node), e.since(lost.At),
				e.back(lost, until), then))
		}
	}
	if len(lines) > 0 {
		why := fmt.Sprintf("it may take %v in which nothing else goes wrong", about(e.Patience()))
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
