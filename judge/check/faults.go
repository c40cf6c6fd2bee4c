package check

import (
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Fault is a planned fault. Its functions take the victim that the run determined, or None.
type Fault struct {
	Text    string
	OfLinks bool // it hits messages; otherwise it hits nodes, or servers of a service
	ForGood bool // it is not healed
	Waits   bool // it has no fixed time: it waits for an event, or for its victim
	Again   bool // it repeats the fault before it
	// ByChance means that it hits a random part of the messages.
	ByChance bool
	// Unbounded means that messages may wait for as long as it lasts.
	Unbounded bool
	Breaks    nodes.Assumption
	// Separates reports whether no message passes between two nodes either way; nil: it cuts nothing.
	Separates func(a, b, victim nodes.ID) bool
	// Part returns a number for the part of a node: nodes of one part reach each other and the same others;
	// nil: unknown.
	Part func(id, victim nodes.ID) int
	// Blocks reports whether all messages from one node to another are lost; nil: it cuts nothing.
	Blocks func(from, to, victim nodes.ID) bool
	// Hits reports whether it hits a node; nil: it may hit any. The next fields say what it does to such nodes.
	Hits   func(id, victim nodes.ID) bool
	Cuts   bool // messages from or to them are lost or held on some links
	Stops  bool // their processes stand still
	Slows  bool // their timers or messages are late
	Sets   bool // their clocks are wrong
	Spares bool // nothing else is hit: no server of a service, and no other client
	// Freezes means that servers stand still while their connections stay open. When clients and other servers
	// give such a connection up is not published.
	Freezes bool
	Leaves  time.Duration // how long it may have consequences after its heal: late messages, timers
}

func (f *Fault) hits(id, victim nodes.ID) bool { return f.Hits == nil || f.Hits(id, victim) }

// faults: every planned fault took place and was healed, and a client entered while it lasted (if the
// algorithm promises that and the fault lasted long enough) or after it. Otherwise the run does not show how
// the algorithm copes with it. Only faults that hit something are judged: Verdict.Misses lists the others.
func faults(e *evidence) Finding {
	if len(e.Faults) == 0 {
		return valid("no fault was asked for")
	}
	var all, lines, wrong []string // all describes the faults that took place, lines the ones that hit something
	idle := false
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		if int(f.Number) < 1 || int(f.Number) > len(e.Faults) {
			return inconclusive("there is a fault %d in the history, which was not asked for", f.Number)
		}
		asked := &e.Faults[f.Number-1]
		if says := e.lacks(asked, f); says != "" {
			wrong = append(wrong, says)
		}
		idle = idle || e.missedBy(asked, f) == "" && e.Problem.around != nil && e.idle(f) > 0
		all = append(all, e.faultText(asked, f))
		if e.missedBy(asked, f) == "" {
			lines = append(lines, e.faultText(asked, f))
		}
	}
	for _, p := range e.sections.Pauses {
		if e.rested() && p.To >= e.sections.End {
			wrong = append(wrong, processName(p.Process)+" is still paused at the end of the run")
		}
	}
	misses := e.misses()
	if len(lines) == 0 { // the run shows nothing about its faults
		wrong = append(wrong, misses...)
	}
	if len(wrong) > 0 {
		story := append(fewOf(wrong, len(wrong)), fewOf(all, len(all))...)
		unclear := inconclusive("%s", wrong[0]).with(story...)
		unclear.Idle = idle
		return unclear
	}
	says := lines[0]
	if more := len(lines) - 1; more > 0 {
		says += "; and " + english.Count(more, "more fault", "more faults")
	}
	if len(misses) > 0 {
		says += fmt.Sprintf("; %s hit nothing, and the run shows nothing about that",
			english.Count(len(misses), "fault", "faults"))
	}
	return valid("%s", says).with(fewOf(lines, len(lines))...)
}

// missedBy returns why a fault that took place hit nothing, or "". How many messages a fault of links hit is
// known when it is healed: at the latest at the end of a run, unless the run stalls or is cut short.
func (m *model) missedBy(asked *Fault, f *section.Fault) string {
	if of := m.timeless(asked, f); of != "" {
		return asked.Text + ": it hit nothing: " + of
	}
	switch {
	case asked.Breaks != 0 && asked.OfLinks && f.Healed && f.Hits == 0 && asked.ByChance:
		return asked.Text + ": it hit no message: chance picked no matching message, if any came"
	case asked.Breaks != 0 && asked.OfLinks && f.Healed && f.Hits == 0:
		return asked.Text + ": it hit no message: no matching message came"
	case !asked.OfLinks && f.Nodes == 0 && len(f.Servers) == 0:
		if asked.Breaks&nodes.ServersUp != 0 {
			return asked.Text + ": it hit no server that was up"
		}
		return asked.Text + ": it hit no node"
	}
	return ""
}

// misses says why planned faults hit nothing. A repeated fault has hit something if one of its repetitions
// did.
func (e *evidence) misses() (all []string) {
	why := make([]string, len(e.Faults)) // by planned fault; empty: it hit something
	for i := range e.Faults {
		why[i] = e.Faults[i].Text + ": it did not take place"
	}
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		if at := int(f.Number) - 1; at >= 0 && at < len(why) {
			if why[at] = e.missedBy(e.asked(f), f); why[at] != "" {
				why[at] += e.spared(f)
			}
		}
	}
	for from, to := 0, 0; from < len(why); from = to {
		for to = from + 1; to < len(why) && e.Faults[to].Again; to++ {
		}
		if !slices.Contains(why[from:to], "") {
			all = append(all, why[from])
		}
	}
	return all
}

// spared explains why a cut hit no message, if it cut no link of the leader: while nothing goes wrong, only
// the leader sends. It returns "" if that is not the reason.
func (e *evidence) spared(f *section.Fault) string {
	asked := e.asked(f)
	if e.leaders == nil || !asked.Cuts || asked.Separates == nil {
		return ""
	}
	leader := nodes.None
	for _, b := range e.leaders.Beliefs {
		if b.Leads() && b.From <= f.From && f.To <= b.To {
			leader = b.Node
		}
	}
	if leader == nodes.None || asked.hits(leader, nodes.None) {
		return ""
	}
	return fmt.Sprintf("; the cut touched no link of the leader, %s: cut a link of the leader, or take another "+
		"--seed", name(leader))
}

// faultText describes what a fault hit, and how many clients entered meanwhile.
func (e *evidence) faultText(asked *Fault, f *section.Fault) string {
	hit := english.Count(f.Hits, "message", "messages")
	if at := e.hitAt(f); at != "" && f.Hits > 1 {
		hit += ", the first" + at
	} else {
		hit += at
	}
	switch {
	case e.timeless(asked, f) != "":
		hit = "nothing"
	case f.Victim >= 0:
		hit = name(f.Victim)
	case !asked.OfLinks:
		hit = hitText(f)
	}
	says := fmt.Sprintf("%s: it hit %s", asked.Text, hit)
	if around := e.Problem.around; around != nil {
		done, _ := around(e, asked, f)
		says += "; " + done
	}
	return says
}

// hitAt says when a fault hit its first message, counted like the times of plans from the beginning of the
// measurement, or returns "".
func (e *evidence) hitAt(f *section.Fault) string {
	measuring := e.sections.Marks[history.Measuring]
	if f.HitAt == 0 || !measuring.Seen {
		return ""
	}
	return fmt.Sprintf(" at %v", time.Duration(f.HitAt-measuring.At).Round(time.Microsecond))
}

// hitText describes how many nodes a fault hit, and which servers of a service.
func hitText(f *section.Fault) string {
	text := english.Count(f.Nodes, "node", "nodes")
	if len(f.Servers) == 0 {
		return text
	}
	var servers []string
	for _, i := range f.Servers {
		servers = append(servers, fmt.Sprintf("server %d", i))
	}
	if f.Nodes == 0 {
		return english.List(servers)
	}
	return text + " at " + english.List(servers)
}

// lacks returns why a fault that took place shows nothing, or "".
func (e *evidence) lacks(asked *Fault, f *section.Fault) string {
	around := e.Problem.around
	switch {
	case !asked.ForGood && !f.Healed:
		return asked.Text + ": it was not healed"
	case around == nil, e.missedBy(asked, f) != "":
		return ""
	}
	if _, lacks := around(e, asked, f); lacks != "" {
		return asked.Text + ": " + lacks
	}
	return ""
}

// entriesAround describes the entries while a fault lasted and after it, and why these are too few to show
// anything, or "".
func (e *evidence) entriesAround(asked *Fault, f *section.Fault) (says, lacks string) {
	_, entries := e.during(f)
	says = english.Count(entries, "entry", "entries")
	if asked.ForGood {
		says += " after it"
	} else {
		says += fmt.Sprintf(" while it lasted (%v), %s after it",
			time.Duration(f.To-f.From).Round(time.Millisecond), english.Thousands(float64(f.After)))
	}
	switch idle := e.idle(f); {
	case e.overdue(f) > 0: // a finding of progress
	case idle > 0 && entries > 0:
		lacks = fmt.Sprintf("nobody entered for %v while it lasted, though it breaks no assumption of the "+
			"algorithm", time.Duration(idle).Round(time.Millisecond))
	case entries > 0 && (asked.ForGood || e.promises(f)):
	case idle > 0:
		lacks = "nobody entered while it lasted, though it breaks no assumption of the algorithm"
	case asked.ForGood:
		lacks = "nobody entered since it began"
	case f.After == 0:
		lacks = "nobody entered after it was healed"
	}
	return says, lacks
}

// during returns until when a fault lasts, and how many clients entered meanwhile. What is permanent, as the
// loss of one message, lasts to the end.
func (m *model) during(f *section.Fault) (to int64, entries uint64) {
	if m.asked(f).ForGood {
		return math.MaxInt64, f.Entries + f.After
	}
	return f.To, f.Entries
}

// promises reports whether the algorithm promises entries while a fault lasts: the fault breaks none of its
// assumptions. If nodes stand still or messages are missing, it must also have timeouts, or it just waits.
func (e *evidence) promises(f *section.Fault) bool {
	const loose = nodes.NoDuplication | nodes.FIFO | nodes.Timing
	return f.Breaks&(e.Safe|e.Live) == 0 && (f.Breaks&^loose == 0 || e.Grace > 0)
}

// enoughEntries is how many entries must fit into a fault, at the rate before it. In a shorter fault no entry
// is expected.
const enoughEntries = 20

// gaps finds, for each fault, the longest stretch in which no client entered, though a client waited that the
// fault did not hit.
type gaps struct {
	*model
	last int64 // the time of the last entry
	left int64 // the time at which a client was last known to leave
	// longest has the longest gap of each fault, in the order of section.Fold.Faults. In it a client still waits
	// if it gives up and soon asks again. requests has the longest gap in which a single request waited.
	longest, requests []gap
	// gaveUp has the clients that have given up since they last entered.
	gaveUp map[asker]tries
}

// tries are requests of a client that has given up: when it asked first and last, and when it last gave up.
type tries struct{ first, last, gaveUp int64 }

type asker struct {
	node nodes.ID
	of   *section.Resource
}

// A gap is a stretch of time without an entry. Clients that entered before it may be inside until the time
// left.
type gap struct{ from, to, left int64 }

func (g gap) length() int64 { return g.to - g.from }

// empty returns for how long nobody was inside.
func (g gap) empty() int64 { return g.to - max(g.from, g.left) }

func (g *gaps) entered(s *section.Section) {
	g.wait(s, s.Entered)
	g.last = s.Entered
	delete(g.gaveUp, asker{s.Node, s.Resource})
}

func (g *gaps) ended(s *section.Section) {
	switch s.State {
	case section.Unserved, section.Abandoned, section.GaveUp:
		g.wait(s, min(s.Ended, g.sections.Window.To))
		g.giveUp(s)
	case section.Exited, section.Revoked, section.Crashed:
		g.left = max(g.left, s.Ended)
	}
}

// giveUp notes that a client has given up, or that it waits no more.
func (g *gaps) giveUp(s *section.Section) {
	c, first := asker{s.Node, s.Resource}, g.waitsSince(s)
	if delete(g.gaveUp, c); s.State != section.GaveUp {
		return
	}
	if g.gaveUp == nil {
		g.gaveUp = map[asker]tries{}
	}
	g.gaveUp[c] = tries{first, s.Asked, s.Ended}
}

// waitsSince returns since when the client of a section has waited. A client that has given up waits on if it
// asks again within as long as it had waited.
func (g *gaps) waitsSince(s *section.Section) int64 {
	if x, is := g.gaveUp[asker{s.Node, s.Resource}]; is && s.Asked-x.gaveUp <= x.gaveUp-x.last {
		return x.first
	}
	return s.Asked
}

// wait takes the wait of a section, up to a time.
func (g *gaps) wait(s *section.Section, until int64) {
	first := g.waitsSince(s)
	for i := range g.sections.Faults {
		f := &g.sections.Faults[i]
		g.longest, g.requests = grown(g.longest, i+1), grown(g.requests, i+1)
		to, _ := g.during(f)
		keep := func(longest *gap, asked int64) {
			in := gap{max(g.last, asked, f.From), min(until, to), g.left}
			if in.length() > longest.length() && !g.hits(f, s.Node, in) {
				*longest = in
			}
		}
		keep(&g.longest[i], s.Asked)
		keep(&g.longest[i], first)
		keep(&g.requests[i], s.Asked)
	}
}

// hits reports whether a fault cuts a node off, or the node stood still or was down in a stretch.
func (g *gaps) hits(f *section.Fault, id nodes.ID, in gap) bool {
	asked := g.asked(f)
	return asked.Cuts && asked.hits(id, f.Victim) ||
		slices.ContainsFunc(g.sections.Pauses, func(p section.Pause) bool {
			return p.Process == uint32(id) && p.From <= in.to && p.To >= in.from
		}) || slices.ContainsFunc(g.sections.Deaths, func(d section.Death) bool {
		return d.Node == id && d.From <= in.to && d.Back >= in.from
	})
}

// of returns the longest stretch without an entry while a fault lasted.
func (g *gaps) of(f *section.Fault) gap { return g.in(g.longest, f) }

// in returns the gap of a fault.
func (g *gaps) in(gaps []gap, f *section.Fault) (of gap) {
	for i := range gaps {
		if &g.sections.Faults[i] == f {
			of = gaps[i]
		}
	}
	return of
}

// idle returns for how long no client entered while a fault lasted, though the algorithm promises entries; 0:
// it promises none, or clients entered. The result is the length of the whole fault, or of its longest
// stretch without an entry if nothing else was wrong then. Processes may be late.
func (e *evidence) idle(f *section.Fault) int64 {
	to, entries := e.during(f)
	lasted := min(to, e.sections.Window.To) - f.From
	takes, is := e.takes(f)
	switch g := e.gaps.of(f); {
	case !is:
		return 0
	case entries == 0 && lasted >= takes:
		return lasted
	case g.length() >= later(takes, e.lateOver(g)) && e.alone(f, g) && !e.stands(f, g):
		return g.length()
	}
	return 0
}

// takes returns how long it may take until clients enter again while a fault lasts: as long as twenty entries
// took before it, plus the grace, plus the delay that the fault adds to the messages of a request. promised
// is false if the algorithm promises no entries, or their rate is unknown.
func (e *evidence) takes(f *section.Fault) (takes int64, promised bool) {
	if !e.promises(f) || f.Before < 2 { // one entry gives no rate
		return 0, false
	}
	takes = e.usual(f)
	if len(f.Servers) > 0 && e.Recovers > 0 { // only the servers have to recover
		whole := gap{from: f.From, to: min(f.To, e.sections.Window.To)}
		return later(takes, int64(e.Recovers)), e.alone(f, whole)
	}
	hops, leaves := 2*int64(e.Config.N), int64(e.asked(f).Leaves)
	if e.asked(f).Unbounded || leaves > math.MaxInt64/hops {
		return 0, false
	}
	return later(later(takes, int64(e.Grace)), hops*leaves), true
}

// usual returns how long twenty entries took before a fault. There must have been at least two entries.
func (e *evidence) usual(f *section.Fault) int64 {
	return enoughEntries * ((f.From - e.sections.Window.From) / int64(f.Before))
}

// overdue returns for how long nobody entered or was inside while a fault lasted, if a client waited for
// longer than the algorithm promises. 0: no promise was broken.
func (e *evidence) overdue(f *section.Fault) int64 {
	// Not every algorithm treats nodes that are cut off or stand still as crashed: all may wait for them.
	asked := e.asked(f)
	waited := len(f.Servers) == 0 && (asked.Cuts || asked.Stops)
	if asked.Freezes || waited || e.missedBy(asked, f) != "" || e.Problem.around == nil {
		return 0
	}
	g := e.gaps.in(e.gaps.requests, f)
	within, is := e.within(f, g)
	held := slices.ContainsFunc(e.inside, func(s section.Section) bool { return s.Entered < g.to })
	if !is || held || g.empty() <= within || !e.alone(f, g) || e.stands(f, g) {
		return 0
	}
	return g.empty()
}

// within returns the time within which somebody enters while a fault lasts, by the promise of the algorithm
// or service.
func (e *evidence) within(f *section.Fault, g gap) (time int64, promised bool) {
	time, promised = e.takes(f)
	if e.Timed && e.Grace == 0 { // it waits for random times, and promises no time to recover
		return 0, false
	}
	if len(f.Servers) > 0 { // takes has Recovers instead of the grace
		time = later(time, max(0, int64(e.Grace-e.Recovers)))
	}
	return later(time, e.lateOver(g)), promised
}

// lateOver returns how much longer than promised an entry may take in a stretch, since processes were late.
// The messages of a request are handled one after another.
func (e *evidence) lateOver(g gap) int64 { return int64(e.slack(g.from, g.to, 2*e.Config.N)) }

// silences says of each fault of servers for how long nobody entered while it lasted, though most servers
// were up, which is enough for the service. A silence has to be longer than twenty entries took before, and
// than processes may be late.
func (e *evidence) silences() (all []string) {
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		serves := len(f.Servers) > 0 && e.Live&nodes.ServerMajority != 0 && f.Breaks&e.Live == 0
		g, asked := e.gaps.of(f), e.asked(f)
		if !serves || f.Before < 2 || g.empty() <= later(e.usual(f), e.lateOver(g)) ||
			e.missedBy(asked, f) != "" || e.besideOther(f, g) || e.stands(f, g) {
			continue
		}
		all = append(all, fmt.Sprintf("%s: nobody entered for %v though a majority of servers was up",
			asked.Text, time.Duration(g.empty()).Round(time.Millisecond)))
	}
	return all
}

// alone reports whether nothing but a fault was wrong in a stretch, or shortly before.
func (e *evidence) alone(f *section.Fault, g gap) bool {
	return !e.besideOther(f, g) && e.brokenIn(span{g.from, g.to, int64(e.Grace), nil}, e.Safe|e.Live) == 0
}

// besideOther reports whether another fault was in force in a stretch, or shortly before.
func (e *evidence) besideOther(f *section.Fault, g gap) bool {
	in := span{g.from, g.to, int64(e.Grace), nil}
	for i := range e.sections.Faults {
		other := &e.sections.Faults[i]
		if from, to, leaves := e.acts(e.asked(other), other); other != f && in.covers(from, to, leaves) {
			return true
		}
	}
	return false
}

// stands reports whether a process stood still in a stretch, though the fault stops no process.
func (e *evidence) stands(f *section.Fault, g gap) bool {
	in := span{g.from, g.to, int64(e.Grace), nil}
	for _, p := range e.sections.Pauses {
		if f.Breaks&nodes.NoPause == 0 && in.covers(p.From, p.To, 0) {
			return true
		}
	}
	return false
}
