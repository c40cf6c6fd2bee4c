package check

import (
	"fmt"
	"time"

	"turnstile/bench/leadership"
	"turnstile/bench/section"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// leaderObserver gives the fold of leaders what the fold of sections is given.
type leaderObserver struct{ *leadership.Fold }

func (leaderObserver) Asked(*section.Section)   {}
func (leaderObserver) Entered(*section.Section) {}
func (leaderObserver) Ended(*section.Section)   {}

// Leaders returns who led in the run; nil if it elects nobody.
func (e *Fold) Leaders() *leadership.Fold { return e.leaders }

// terms: no term has two leaders, over all incarnations, and no node goes back to a lower term.
func terms(e *Fold) Finding {
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

func (e *Fold) rank(id nodes.ID) uint32 { return e.Leads.RankOf(e.Config, id) }

// since returns how long after the run began a time was, for people.
func (e *Fold) since(at int64) time.Duration {
	return time.Duration(at - e.leaders.Begun).Round(time.Microsecond)
}

// leaders: without terms, no two nodes that run lead at once for longer than the row says that a take-over
// takes. With terms, two may: who hears of the higher term last is the older leader.
func leaders(e *Fold) Finding {
	l := e.leaders
	both := time.Duration(l.TwoLeaders).Round(time.Microsecond)
	if e.Leads.Terms {
		if l.TwoLeaders == 0 {
			return valid("never were there two leaders at once")
		}
		return valid("for %v there were two leaders or more, each of a term of its own", both).
			with(e.overlaps(0)...)
	}
	bound := e.takeover()
	var worst *leadership.Overlap
	inside := false // the model
	for i := range l.Overlaps {
		o := &l.Overlaps[i]
		if time.Duration(o.Length()) <= bound {
			continue
		}
		is := e.brokenIn(span{o.From, o.To, int64(e.Grace)}, e.Safe) == 0
		if worst == nil || is && !inside || is == inside && o.Length() > worst.Length() {
			worst, inside = o, is
		}
	}
	if worst == nil {
		if l.TwoLeaders == 0 {
			return valid("never were there two leaders at once")
		}
		return valid("for %v there were two leaders, and never for longer than the %v that a take-over may take",
			both, bound)
	}
	f := violated("two leaders: %s for %v", english.List(names(worst.Leaders)),
		time.Duration(worst.Length()).Round(time.Microsecond))
	return e.excuse(f.with(e.overlaps(bound)...), span{worst.From, worst.To, int64(e.Grace)}, e.Safe)
}

// takeover returns for how long, without terms, two may lead at once.
func (e *Fold) takeover() time.Duration { return e.Overlap + e.Slack }

func names(all []nodes.ID) (words []string) {
	for _, id := range all {
		words = append(words, name(id))
	}
	return words
}

// overlaps tells of stretches with several leaders that were longer than a bound.
func (e *Fold) overlaps(bound time.Duration) []string {
	var lines []string
	for i := range e.leaders.Overlaps {
		if o := &e.leaders.Overlaps[i]; time.Duration(o.Length()) > bound {
			lines = append(lines, fmt.Sprintf("from %v for %v: %s", e.since(o.From),
				time.Duration(o.Length()).Round(time.Microsecond), english.List(names(o.Leaders))))
		}
	}
	return fewOf(lines, len(lines))
}

// agreement: when the run was told to stop, all nodes that were up took the same one of them for the leader,
// if what went wrong was over for long enough.
func agreed(e *Fold) Finding {
	l := e.leaders
	switch {
	case !e.seen(history.Stopped):
		return inconclusive("the run was ended before its end")
	case l.Open == nil && len(l.Elections) == 0:
		return inconclusive("nothing happened")
	case l.Open == nil:
		last := l.Elections[len(l.Elections)-1]
		return valid("all agreed on %s at the end", name(last.Leader))
	}
	beliefs := e.beliefs()
	calm, had, needs := e.quiet()
	if had < needs {
		f := inconclusive("no leader that all agree on at the end, %v after anything went wrong; it may take "+
			"%v: let the run go on for longer", had.Round(time.Millisecond), needs).with(beliefs...)
		return e.excuse(f, span{calm, l.End, 0}, e.Live)
	}
	over := span{calm + 1, l.End, 0} // what lasted until then has had its time
	if e.brokenIn(over, e.Live) != 0 {
		return e.excuse(inconclusive("no leader that all agree on at the end").with(beliefs...), over, e.Live)
	}
	return violated("no leader that all agree on at the end, though nothing had gone wrong for %v",
		had.Round(time.Millisecond)).with(beliefs...)
}

// quiet returns since when nothing has gone wrong, for how long that is, and how long all may take to agree.
func (e *Fold) quiet() (calm int64, had, needs time.Duration) {
	calm = max(e.leaders.Begun, e.calm())
	return calm, time.Duration(e.leaders.End - calm), e.Grace + e.Slack
}

// calm returns when the last thing went wrong, or was healed.
func (e *Fold) calm() (at int64) {
	s := e.sections
	for i := range s.Faults {
		if f := &s.Faults[i]; e.asked(f).ForGood && !f.Healed {
			at = max(at, f.From)
		} else {
			at = max(at, f.To+int64(e.asked(f).Leaves))
		}
	}
	for i := range s.Pauses {
		at = max(at, s.Pauses[i].To)
	}
	for _, w := range s.Wrongs {
		at = max(at, w.To)
	}
	for i := range s.Deaths {
		d := &s.Deaths[i]
		if at = max(at, d.At); d.Back <= s.End {
			at = max(at, d.Back)
		}
	}
	return at
}

// beliefs tells whom each node took for the leader when the run was told to stop.
func (e *Fold) beliefs() []string {
	last := map[nodes.ID]string{}
	for i := range e.leaders.Beliefs {
		if b := &e.leaders.Beliefs[i]; b.From <= e.leaders.End && b.To >= e.leaders.End {
			last[b.Node] = b.Says()
		}
	}
	var lines []string
	for id := range nodes.ID(e.Config.N) {
		says := last[id]
		if says == "" {
			says = "knows of no leader"
		}
		lines = append(lines, name(id)+" "+says)
	}
	return fewOf(lines, len(lines))
}

// winner: of the nodes that were up throughout an election, the one was elected that the row says.
func winner(e *Fold) Finding {
	if e.Leads.Wins == nodes.AnyWins {
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
		if e.Leads.Wins == nodes.LowestWins {
			should = x.Lowest
		}
		if should == nodes.None || e.rank(x.Leader) == e.rank(should) ||
			e.Leads.Wins == nodes.HighestWins && e.rank(x.Leader) > e.rank(should) ||
			e.Leads.Wins == nodes.LowestWins && e.rank(x.Leader) < e.rank(should) {
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

// elections: somebody was elected, so that the other checks had evidence.
func elections(e *Fold) Finding {
	n := e.leaders.Elected()
	if n == 0 {
		return inconclusive("no election was completed")
	}
	return valid("%s completed", english.Count(n, "election was", "elections were"))
}
