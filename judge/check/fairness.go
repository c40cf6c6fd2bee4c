package check

import (
	"fmt"
	"math"
	"time"

	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// A Promise is the bound on overtaking that an algorithm promises, and how a run is judged by it. The zero
// value promises nothing.
type Promise struct {
	Made   bool          // the algorithm promises a bound
	Bypass int           // entries of others allowed after a request is known to all that must see it
	Times  int           // a run breaks the promise with more than Times*Bypass such entries
	Known  time.Duration // how long messages take to make a request known
	Slack  time.Duration // how much longer they may take in real runs before the history has a Lagged event
	Chance bool          // the next client to enter is random: see algorithm.Exclusion
}

// PromiseOf returns the promise of an algorithm on a network whose messages take at most longest.
//
// A request is passed on at most N-1 times until it is known, and so are the requests before it. That takes
// no longer than 2N messages one after another: docs/measures.md says why.
func PromiseOf(spec *algorithm.Algorithm, c nodes.Config, longest time.Duration) Promise {
	hops := time.Duration(2 * c.N)
	longest = min(max(1, longest), chance.Longest/hops) // so that no time overflows
	p := Promise{Times: 1, Known: hops * longest, Chance: spec.Exclusion().Chance}
	p.Bypass, p.Made = spec.Exclusion().Promised(c)
	return p
}

// starving is how many entries per other client the window must have before a client without an entry counts
// as starved.
const starving = 10

// A fairFold counts how many entries of others pass over each request. It observes the fold of the sections.
type fairFold struct {
	promise  Promise
	sections *section.Fold
	away     away
	unknown  []unknown // requests that may not be known yet, the oldest first
	known    int       // how many of these, from the first on, are known by now
	lines    []*served // entries of each resource, by its instance

	judged  uint64       // requests that were still open when they became known
	most    passedOver   // of these, the one in the window that was passed over most often
	broken  uint64       // requests that break the promise
	suspect []passedOver // three of these: the first, the one passed over most often, and the last
	starved []passedOver // requests that were open during the whole window
}

// An unknown is a request, and the time at which it becomes known to all nodes that must see it.
type unknown struct {
	at       int64
	node     nodes.ID
	entry    uint32
	instance uint16
}

// A served counts the entries of one resource so far.
type served struct {
	passing  uint64 // entries, except while all nodes were away
	inWindow uint64
	clients  []client
}

// A client is the open request of a node.
type client struct {
	entry uint32
	known bool
	away  bool   // its node is away
	since uint64 // served.passing when the request became known, plus entries while the node was away
	left  uint64 // served.passing when the node went away or the request became known, whichever was later
}

// open makes a client wait for the entry with this number; 0: the client waits for no entry.
func (c *client) open(entry uint32) { c.entry, c.known = entry, false }

// passed returns how many entries have passed over a request that is known.
func (c *client) passed(passing uint64) uint64 {
	if c.away {
		passing = c.left
	}
	return passing - c.since
}

// A passedOver is a request, and how many entries of others passed over it.
type passedOver struct {
	section.Section
	times uint64
}

func newFairFold(s *section.Fold, p Promise, asked []Fault) *fairFold {
	return &fairFold{promise: p, sections: s, away: awayBy(asked)}
}

func (f *fairFold) line(r *section.Resource) *served {
	f.lines = grown(f.lines, int(r.Instance)+1)
	if f.lines[r.Instance] == nil {
		f.lines[r.Instance] = &served{}
	}
	return f.lines[r.Instance]
}

// client returns the client of a node. Nodes that the resource has not seen before may be away already.
func (f *fairFold) client(l *served, id nodes.ID) *client {
	for int(id) >= len(l.clients) {
		away := f.away.has(nodes.ID(len(l.clients)))
		l.clients = append(l.clients, client{away: away, left: l.passing})
	}
	return &l.clients[id]
}

// add takes an event. While a node is away, entries do not pass over its request.
func (f *fairFold) add(e *history.Event) {
	one, changed := f.away.add(e)
	if !changed {
		return
	}
	for _, l := range f.lines {
		switch {
		case l == nil:
		case one == nodes.None:
			for id := range l.clients {
				f.turn(l, nodes.ID(id))
			}
		case one >= 0 && int(one) < len(l.clients):
			f.turn(l, one)
		}
	}
}

// turn notes whether a node is away.
func (f *fairFold) turn(l *served, id nodes.ID) {
	c, away := &l.clients[id], f.away.has(id)
	switch {
	case away && !c.away:
		c.left = l.passing
	case c.away && !away:
		c.since += l.passing - c.left
	}
	c.away = away
}

func (f *fairFold) asked(s *section.Section) {
	l := f.line(s.Resource)
	f.client(l, s.Node).open(s.Entry)
	if f.known > len(f.unknown)/2 {
		f.unknown, f.known = append(f.unknown[:0], f.unknown[f.known:]...), 0
	}
	f.unknown = append(f.unknown, unknown{s.Asked + int64(f.promise.Known+f.promise.Slack), s.Node, s.Entry,
		s.Resource.Instance})
}

// entered counts an entry. It passes over every request that is known, unless that request's node is away.
func (f *fairFold) entered(s *section.Section) {
	f.until(s.Entered)
	l := f.line(s.Resource)
	f.over(l, s, s.Entered)
	if !f.away.all() {
		l.passing++
	}
	if f.sections.Window.Has(s.Entered) {
		l.inWindow++
	}
}

// ended takes a request that was never entered.
func (f *fairFold) ended(s *section.Section) {
	if s.State == section.Unserved || s.State == section.Abandoned || s.State == section.GaveUp {
		f.until(s.Ended)
		f.over(f.line(s.Resource), s, s.Ended)
	}
}

// until marks the requests that became known before a time.
func (f *fairFold) until(at int64) {
	for ; f.known < len(f.unknown) && f.unknown[f.known].at < at; f.known++ {
		u := &f.unknown[f.known]
		l := f.lines[u.instance]
		if c := &l.clients[u.node]; c.entry == u.entry {
			c.known, c.since, c.left = true, l.passing, l.passing
		}
	}
}

// quiet marks all requests as known.
func (f *fairFold) quiet() { f.until(math.MaxInt64) }

// over judges a request whose wait is over.
func (f *fairFold) over(l *served, s *section.Section, at int64) {
	known, times := false, uint64(0)
	if int(s.Node) < len(l.clients) { // otherwise its client never made a request
		c := &l.clients[s.Node]
		if known = c.known; known {
			times = c.passed(l.passing)
		}
		c.open(0)
	}
	w := f.sections.Window
	if known {
		f.judged++
		if w.Touches(s.Asked, at) && (f.most.Resource == nil || times > f.most.times) {
			f.most = passedOver{*s, times}
		}
		if times > uint64(f.promise.tolerated()) && f.promise.Made {
			f.breaks(passedOver{*s, times})
		}
	}
	others := max(1, len(l.clients)-1)
	if s.Asked <= w.From && at >= w.To && w.Length() > int64(f.promise.Known+f.promise.Slack) &&
		l.inWindow > uint64(max(starving*others, f.promise.tolerated())) {
		f.starved = append(f.starved, passedOver{*s, l.inWindow})
	}
}

// breaks notes a request that breaks the promise.
func (f *fairFold) breaks(p passedOver) {
	if f.broken++; f.broken == 1 {
		f.suspect = []passedOver{p, p, p}
		return
	}
	if f.suspect[2] = p; p.times > f.suspect[1].times {
		f.suspect[1] = p
	}
}

// fairness: no request is passed over more often than the algorithm promises, while its assumptions hold and
// no process stands still or waits for a processor.
func fairness(e *evidence) Finding {
	f, p := e.fair, e.Promise
	known := (p.Known + p.Slack).Round(time.Microsecond)
	broken, is := e.unfair()
	switch {
	case is && broken.Outcome != Valid:
		return broken
	case len(f.starved) > 0 && p.Chance:
		return valid("%s: the next client to enter is a matter of chance here", f.starvedText())
	case len(f.starved) > 0:
		return inconclusive("%s", f.starvedText()).with(fewOf(f.starvedLines(), len(f.starved))...)
	case e.Lacks.Delay:
		return notJudged("not judged: how long a message may take is unknown")
	case is:
		return broken
	case f.judged == 0 && !p.Made:
		return valid("nothing to judge: every request was served within %v, the time that it may take to reach "+
			"all nodes; the algorithm promises no bound on overtaking", known)
	case f.judged == 0:
		return valid("nothing to judge: every request was served within %v, the time that it may take to reach "+
			"all nodes", known)
	case !p.Made && f.most.times == 0:
		return valid("no client starved; the algorithm promises no bound on overtaking")
	case !p.Made:
		return valid("%s was passed over %s once its request %d was known to all; this algorithm promises no bound",
			name(f.most.Node), english.Count(f.most.times, "time", "times"), f.most.Entry)
	}
	return valid("once known to all, no request was passed over more than %s, and %s",
		english.Count(f.most.times, "time", "times"), p.text())
}

// unfair judges the requests that break the promise, and reports whether the run has any. It returns the
// worst finding; on a tie the request that was passed over most often wins. A finding is valid if only an
// assumption in Setting.Fair was broken.
func (e *evidence) unfair() (f Finding, is bool) {
	if e.fair.broken == 0 {
		return f, false
	}
	for _, at := range []int{1, 0, 2} { // the request that was passed over most often comes first
		if one := e.passedOver(&e.fair.suspect[at]); !is || one.Outcome > f.Outcome {
			f, is = one, true
		}
	}
	return f, true
}

// passedOver judges a request that breaks the promise.
func (e *evidence) passedOver(w *passedOver) Finding {
	says := fmt.Sprintf("%s was passed over: others entered %s after its request %d was known to all, and %s",
		name(w.Node), english.Count(w.times, "time", "times"), w.Entry, e.Promise.text())
	lines := []string{w.text()}
	if e.fair.broken > 1 {
		lines = append(lines, fmt.Sprintf("so were %d requests in all", e.fair.broken))
	}
	if f, slowed := e.slowed(inconclusive("%s", says).with(lines...), w); slowed {
		return f
	}
	open := span{w.Asked, w.over(), int64(e.Grace), nil}
	known, late := w.Asked+int64(e.Promise.Known+e.Promise.Slack), e.sections.LateIn(w.Asked, w.over())
	inTime := float64(w.over()-known-int64(late)) / float64(w.over()-known) // share of the time without lateness
	switch {
	case late > 0 && float64(w.times)*max(0, inTime) <= float64(e.Promise.tolerated()):
		return inconclusive("%s, but meanwhile processes were late by %v: they waited for processors", says,
			late.Round(time.Millisecond)).with(lines...)
	case e.brokenIn(open, e.Fair) != 0:
		return valid("%s as long as nothing goes wrong%s", says, e.cause(open, e.brokenIn(open, e.Fair)))
	case !e.balanced():
		return inconclusive("the counts disagree, but by them %s", says).with(lines...)
	case !e.audit.clean(): // a lost message may have carried the request
		return inconclusive("%s, but %s", says, e.audit.text()).with(lines...)
	}
	return violated("%s", says).with(lines...)
}

// mostPassedOver returns the measured request that was passed over most often, among requests that were open
// for long enough to be known to all; nil: no such request.
func (e *evidence) mostPassedOver() *PassedOver {
	m := &e.fair.most
	if m.Resource == nil || e.Lacks.Delay {
		return nil
	}
	return &PassedOver{Node: m.Node, Request: m.Entry, Times: m.times, Open: !m.Served()}
}

// slowed marks a finding about a request that was passed over as outside the model, if an assumption of the
// algorithm was broken, or pauses or delays slowed the run down while the request was open. Afterwards the
// request takes its usual time to become known. The span is widened, since pauses are recorded a little late.
func (e *evidence) slowed(f Finding, w *passedOver) (Finding, bool) {
	slack := int64(e.slack(w.Asked, w.over(), 2))
	slow := span{w.Asked - slack, later(w.over(), slack), int64(e.Promise.Known+e.Promise.Slack) + slack, nil}
	if e.brokenBy(w.over(), e.Safe|e.Live) != 0 {
		return e.outsideIf(f, e.at(w.over()), e.Safe|e.Live), true
	}
	if e.Replayed { // a schedule observes that the request is known
		return f, false
	}
	f = e.outsideIf(f, slow, nodes.NoPause|nodes.Timing)
	return f, f.OutsideModel
}

// tolerated is how many entries may pass over a request.
func (p Promise) tolerated() int { return p.Times * p.Bypass }

// text states the promise.
func (p Promise) text() string {
	if p.Times > 1 {
		return fmt.Sprintf("the algorithm promises at most %d (up to %d are tolerated)", p.Bypass, p.tolerated())
	}
	return fmt.Sprintf("the algorithm promises at most %d", p.Bypass)
}

// starvedText says how many requests waited for the whole window.
func (f *fairFold) starvedText() string {
	w, more := f.starved[0], ""
	if others := len(f.starved) - 1; others > 0 {
		more = fmt.Sprintf(" and %d more", others)
	}
	return fmt.Sprintf("%s%s had asked before the window and got nothing in it, while others entered %s",
		name(w.Node), more, english.Count(w.times, "time", "times"))
}

func (f *fairFold) starvedLines() (lines []string) {
	for _, s := range f.starved {
		lines = append(lines, s.text())
	}
	return lines
}

// over returns when the wait was over.
func (p passedOver) over() int64 {
	if p.Served() {
		return p.Entered
	}
	return p.Ended
}

// text tells how long the request waited.
func (p passedOver) text() string {
	line := fmt.Sprintf("%s waited for its entry %d for %v", name(p.Node), p.Entry,
		time.Duration(p.over()-p.Asked).Round(time.Microsecond))
	if !p.Served() {
		line += ", and never entered"
	}
	return line
}
