package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/internal/chance"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// agreed: all nodes that are up follow the same leader, which is up, when the run is told to stop, and at any
// time before if nothing has gone wrong for long enough.
func agreed(e *evidence) Finding {
	l := e.leaders
	if f, is := e.undecided(); is {
		return f
	}
	if f, is := e.unreplaced(); is {
		return f
	}
	switch {
	case !e.seen(history.Stopped):
		return inconclusive("the run ended early")
	case l.Apart == nil && len(l.Agreements) == 0:
		return inconclusive("nothing happened")
	case l.Apart != nil && !l.Asked() && e.Config.N == 1:
		return inconclusive("the only node was down at the end, and no other can lead: take more nodes").
			byRun()
	case l.Apart != nil && !l.Asked() && !e.saw(history.Endless):
		return inconclusive("no node that was up at the end had been told to campaign or had declared a leader: " +
			"choose other --initiators, and keep one of them up").byRun()
	case l.Apart == nil:
		last := l.Agreements[len(l.Agreements)-1]
		return valid("all agreed on %s at the end", name(last.Leader))
	}
	const none = "the nodes do not agree on a leader at the end"
	calm, had := e.calmAtEnd(), e.quiet()
	needs := e.patience(l.End-int64(had), l.End)
	switch {
	case e.unlimited() && !e.saw(history.Endless):
		return inconclusive(none + ", and it is unknown how long that may take").byRun().with(e.beliefs()...)
	case had < needs && !e.saw(history.Endless):
		after := "anything went wrong"
		switch {
		case had < time.Duration(calm.Length()):
			after = l.Apart.Cause.What.String()
		case calm.From == l.Begun:
			after = "the run began"
		case slices.ContainsFunc(l.Unasked, func(s leadership.Span) bool { return s.To == calm.From }):
			after = "somebody began to campaign"
		case slices.ContainsFunc(e.campaigns, func(c campaign) bool { return c.at == calm.From }):
			after = "somebody campaigned again"
		}
		f := inconclusive(none+", %v after %s; it may take %v", had.Round(time.Millisecond), after,
			about(needs)).byRun()
		if !e.leadOn() && e.brokenIn(calm.span(), e.Live)&^nodes.Transient == 0 { // more time may still help
			f.Says += ": let the run go on for longer"
		}
		if lasts := e.lasting(); lasts != "" {
			f.Says = fmt.Sprintf(none+", and %s lasted until then; it may take %v after it: "+
				"let it end sooner, or the run last longer",
				lasts, about(needs))
		}
		return e.outsideIf(f.with(e.beliefs()...), span{calm.From, l.End, 0, nil}, e.Live)
	case e.brokenIn(calm.span(), e.Live) != 0:
		return e.expect(inconclusive(none).with(e.beliefs()...), calm.span(), e.Live)
	}
	if e.Replayed {
		return violated(none + ", and nothing is left that could change it").with(e.beliefs()...)
	}
	return violated(none+", though nothing had gone wrong for %v", had.Round(time.Millisecond)).
		with(e.beliefs()...).lasting(l.End-int64(had), l.End)
}

// about rounds a time up for people: to milliseconds, or to microseconds below a second.
func about(d time.Duration) time.Duration {
	unit := time.Microsecond
	if d >= time.Second {
		unit = time.Millisecond
	}
	return (d + unit - 1).Truncate(unit)
}

// undisturbed says that nothing had gone wrong before a time, or that the algorithm had had time to recover.
func (e *elected) undisturbed(at int64) string {
	s := e.sections
	before := func(from int64) bool { return from < at }
	if slices.ContainsFunc(s.Faults, func(f section.Fault) bool { return before(f.From) }) ||
		slices.ContainsFunc(s.Deaths, func(d section.Death) bool { return before(d.At) }) ||
		slices.ContainsFunc(s.Pauses, func(p section.Pause) bool { return before(p.From) }) {
		return ", though the algorithm had had its time to recover from what had gone wrong"
	}
	return ", though nothing had gone wrong"
}

// lasting returns the text of the first fault that lasted to the end and is not permanent (ForGood), or "".
func (e *elected) lasting() string {
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		over := f.From > e.leaders.End || f.Healed && f.To < e.leaders.End
		if asked := e.asked(f); !asked.ForGood && !over && e.missedBy(asked, f) == "" {
			return asked.Text
		}
	}
	return ""
}

// quiet returns for how long nothing had gone wrong at the end of the run. If processes may be late, it
// counts from when the first node came to doubt the leader.
func (e *elected) quiet() time.Duration {
	l, from := e.leaders, e.calmAtEnd().From
	if l.Apart != nil && e.late() {
		from = max(from, l.Apart.Begun)
	}
	return time.Duration(l.End - from)
}

// undecided finds the first time before the end at which all should have agreed on a leader and did not:
// nothing had gone wrong, and no node had begun to doubt the leader, for the grace period. An algorithm
// without timeouts has no grace period, and promises a leader only at the end.
func (e *elected) undecided() (f Finding, is bool) {
	l := e.leaders
	if e.Grace == 0 {
		return f, false
	}
	all := l.Agreements
	if l.Apart != nil {
		open := *l.Apart
		open.Agreed = math.MaxInt64
		all = append(slices.Clip(all), open)
	}
	first := 0 // index of the first agreement that was not reached before the stretch
	for _, calm := range e.calms() {
		for first < len(all) && all[first].Agreed < calm.From {
			first++
		}
		for i := first; i < len(all) && all[i].Begun <= calm.To; i++ {
			had := stretch{leadership.Span{From: max(calm.From, all[i].Begun), To: min(calm.To, all[i].Agreed)}}
			if all[i].Agreed > l.End && calm.To == l.End || had.Length() < int64(e.patience(had.From, had.To)) ||
				e.brokenIn(had.span(), e.Live) != 0 {
				continue
			}
			return violated("from %v on, the nodes did not agree on a leader for %v%s", e.since(had.From),
				time.Duration(had.Length()).Round(time.Millisecond), e.undisturbed(had.From)).
				lasting(had.From, had.To), true
		}
	}
	return f, false
}

// rounds is how many rounds of messages an election takes at most. Rings need N or N lg N messages;
// randomized rings need more than 32 rounds in one run of a million.
const rounds = 32

// patience returns the longest time that an election takes without faults, between two times, if processes
// are as late as the run measured.
func (e *elected) patience(from, to int64) time.Duration {
	patience, steps := e.Patience(), rounds
	if e.Grace == 0 {
		steps *= 2 * e.Config.N
	}
	if patience == chance.Longest || !e.Measured {
		return patience
	}
	return patience + e.slack(from, to, steps) - e.Slack
}

// Patience returns the longest time that an election takes without faults, if no process is late. With
// timeouts it is the grace period. An algorithm without timeouts only waits for messages: some rounds, each
// of length Promise.Known, or for ever if it is unknown how long a message may take.
func (s *Setting) Patience() time.Duration {
	switch known := s.Promise.Known; {
	case s.Grace > 0:
		return s.Grace + s.Slack
	case s.unlimited() || known > chance.Longest/rounds:
		return chance.Longest
	default:
		return rounds*known + s.Slack
	}
}

// unlimited reports whether it is unknown how long an election may take.
func (s *Setting) unlimited() bool { return s.Grace == 0 && s.Lacks.Delay }

// A stretch is a part of the run, both ends included, in which nothing went wrong.
type stretch struct{ leadership.Span }

// span returns the stretch as the time of a failure, such as no leader. An assumption that was broken just
// when the stretch begins does not count.
func (s stretch) span() span { return span{min(s.From+1, s.To), s.To, 0, nil} }

// calms returns the stretches of the run in which nothing went wrong and no node was told to campaign, in
// order.
func (e *elected) calms() []stretch { return e.stretches(e.troubles(nil)) }

// stretches returns the stretches of the run outside troubles, in order.
func (e *elected) stretches(troubles []leadership.Span) (all []stretch) {
	slices.SortFunc(troubles, func(a, b leadership.Span) int { return cmp.Compare(a.From, b.From) })
	at := e.leaders.Begun
	for _, t := range troubles {
		if until := min(t.From, e.leaders.End); until >= at {
			all = append(all, stretch{leadership.Span{From: at, To: until}})
		}
		at = max(at, t.To)
	}
	if at <= e.leaders.End {
		all = append(all, stretch{leadership.Span{From: at, To: e.leaders.End}})
	}
	return all
}

// calmAtEnd returns the stretch at the end of the run in which nothing went wrong. It may have no length.
func (e *elected) calmAtEnd() stretch {
	all, end := e.calms(), e.leaders.End
	if last := len(all) - 1; last >= 0 && all[last].To == end {
		return all[last]
	}
	return stretch{leadership.Span{From: end, To: end}}
}

// atOnce reports whether a fault counts only when it begins: a permanent fault, a crash (its restart counts
// by itself), or the loss of one message that breaks an assumption of the election for good.
func (e *elected) atOnce(asked *Fault, f *section.Fault) bool {
	return asked.Breaks&nodes.NoCrash != 0 || asked.ForGood && (!f.Healed ||
		asked.OfLinks && asked.Breaks&e.Live&^nodes.Transient != 0)
}

// troubles returns the times in which an assumption was broken, a node was told to campaign, or no node that
// had been told to campaign was up. If the parameter but is set, it leaves out the causes of that absence.
func (e *elected) troubles(but *absence) []leadership.Span {
	all := append(e.disturbances(but), e.leaders.Unasked...)
	for _, c := range e.campaigns {
		all = append(all, leadership.Span{From: c.at, To: c.at})
	}
	return all
}

// disturbances returns the times in which an assumption was broken. If the parameter but is set, it
// leaves out the causes of that absence. A fault that hit nothing disturbs nothing.
func (e *elected) disturbances(but *absence) (all []leadership.Span) {
	s := e.sections
	add := func(from, to int64) { all = append(all, leadership.Span{From: from, To: to}) }
	for i := range s.Faults {
		f := &s.Faults[i]
		asked := e.asked(f)
		from, to, leaves := e.acts(asked, f)
		switch {
		case but != nil && but.of(asked, f), e.missedBy(asked, f) != "":
		case e.atOnce(asked, f):
			add(from, later(from, int64(asked.Leaves)))
		default:
			add(from, later(to, int64(leaves)))
		}
	}
	for _, p := range s.Pauses {
		if but == nil || p.Process != uint32(but.leader) {
			add(p.From, p.To)
		}
	}
	for _, w := range s.Wrongs {
		add(w.From, w.To)
	}
	for lag := range s.Lags() {
		if !e.covered(time.Duration(lag.To - lag.From)) {
			add(lag.From, lag.To)
		}
	}
	for _, o := range e.offline {
		add(o.from, o.to)
	}
	for _, d := range s.Deaths {
		add(d.From, d.At)
		if d.Back < math.MaxInt64 {
			add(d.Back, d.Back)
		}
	}
	return all
}

// An absence is a time in which a leader stood still, or was cut off from all others.
type absence struct {
	leadership.Span
	leader nodes.ID
	says   string
	of     func(*Fault, *section.Fault) bool // reports whether a fault caused it
	spares nodes.Assumption                  // assumptions that the absence breaks and a crash does not
}

// absences returns the absences that the algorithm must treat like a crash of the leader: it has a grace, its
// detector reports more than crashes, and it needs neither NoCrash nor the broken NoPause or NoLoss.
func (e *elected) absences() (all []absence) {
	s, needs := e.sections, e.Safe|e.Live
	if e.Grace == 0 || e.Replayed || e.Oracle || needs&nodes.NoCrash != 0 {
		return nil
	}
	add := func(from, to int64, leader nodes.ID, a absence) {
		if a.Span = (leadership.Span{From: from, To: min(to, e.leaders.End)}); a.Length() > int64(e.Grace) {
			a.leader = leader
			all = append(all, a)
		}
	}
	for _, p := range s.Pauses {
		id := nodes.ID(p.Process)
		if needs&nodes.NoPause == 0 && int(p.Process) < e.Config.N && e.led(id, p.From) {
			add(p.From, p.To, id, absence{says: "stood still", spares: nodes.NoPause | nodes.Timing,
				of: func(asked *Fault, f *section.Fault) bool {
					return asked.Stops && asked.hits(id, f.Victim)
				}})
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		for id := range nodes.ID(e.Config.N) {
			if needs&nodes.NoLoss == 0 && e.cutsOff(f, id) && e.led(id, f.From) {
				add(f.From, f.To, id, absence{says: "was cut off", spares: nodes.NoLoss,
					of: func(_ *Fault, other *section.Fault) bool { return other == f }})
			}
		}
	}
	return all
}

// led reports whether a node led at a time.
func (e *elected) led(id nodes.ID, at int64) bool {
	for i := range e.leaders.Beliefs {
		if b := &e.leaders.Beliefs[i]; b.Node == id && b.Leads() && b.From <= at && at <= b.To {
			return true
		}
	}
	return false
}

// cutsOff reports whether a fault cuts a node off from all others, and cuts nothing else.
func (e *elected) cutsOff(f *section.Fault, id nodes.ID) bool {
	cut := e.asked(f).Separates
	for a := range nodes.ID(e.Config.N) {
		for b := range a {
			if cut == nil || cut(a, b, f.Victim) != (a == id || b == id) {
				return false
			}
		}
	}
	return cut != nil
}

// unreplaced finds a leader that was absent for longer than the replacement of a crashed leader may take,
// while nothing else went wrong and the others followed no other leader.
func (e *elected) unreplaced() (f Finding, is bool) {
	for _, a := range e.absences() {
		for _, calm := range e.stretches(e.troubles(&a)) {
			for _, lack := range e.leaders.Forsaken {
				had := stretch{leadership.Span{From: max(a.From, calm.From, lack.From),
					To: min(a.To, calm.To, lack.To)}}
				if had.Length() < int64(e.patience(had.From, had.To)) || !e.enoughBut(a.leader, had.From) ||
					e.brokenIn(had.span(), e.Live&^a.spares) != 0 {
					continue
				}
				return violated("%s led and %s from %v on; for %v not all others followed a new leader, but they "+
					"should within %v, as after a crash", name(a.leader), a.says, rounded(e.since(a.From)),
					rounded(time.Duration(had.Length())), rounded(e.patience(had.From, had.To))).
					lasting(had.From, had.To), true
			}
		}
	}
	return f, false
}

// enoughBut reports whether enough nodes are up at a time to elect a leader without one of them.
func (e *elected) enoughBut(leader nodes.ID, at int64) bool {
	up := 0
	for id := range nodes.ID(e.Config.N) {
		if id != leader && e.wasUp(id, at) {
			up++
		}
	}
	return e.Live&nodes.Majority == 0 || 2*up > e.Config.N
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
