package check

import (
	"fmt"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
)

// A Fault is one that was asked for.
type Fault struct {
	Text    string
	OfLinks bool // it hits messages; otherwise it hits nodes, or servers of a service
	ForGood bool // it is not healed
	Waits   bool // it waits for a moment, or for whom it hits
	// ByChance says that chance decides which of the messages that it is for it hits.
	ByChance bool
	Breaks   nodes.Assumption
	// Separates reports whether it lets no message pass between two nodes, neither way, if it hit a victim that
	// came out in the run, or None; nil: it cuts nothing.
	Separates func(a, b, victim nodes.ID) bool
	// Part returns in which part of the nodes one is, if it hit such a victim: those of a part reach each other,
	// and the same others; nil: that is not known.
	Part func(id, victim nodes.ID) int
	// Blocks reports whether messages from one node to another are lost, all of them, if it hit such a victim;
	// nil: it cuts nothing.
	Blocks func(from, to, victim nodes.ID) bool
	// CutsOff reports whether messages from a node or to it are lost or held on some links, if it hit such a
	// victim; nil: it cuts nobody off.
	CutsOff func(id, victim nodes.ID) bool
	// Kills reports whether a fault that kills nodes kills one of them, if it hit such a victim; nil: any.
	Kills func(id, victim nodes.ID) bool
	// Sets reports whether a fault of clocks sets that of a node, if it hit such a victim; nil: it sets none.
	Sets func(id, victim nodes.ID) bool
	// Stops reports whether a fault that has processes stand still stops a node, if it hit such a victim; nil:
	// it stops none.
	Stops  func(id, victim nodes.ID) bool
	Leaves time.Duration // for how long after it what it did may last: messages that come late, timers
}

// faults: what was to go wrong did go wrong and was healed, and somebody entered while it lasted, if the
// algorithm promises that and the fault lasted long enough, or after it. A run without that does not show
// what the algorithm does about it. It is judged by the faults that hit something: of the others it shows
// nothing, which Verdict.Misses says.
func faults(e *evidence) Finding {
	if len(e.Faults) == 0 {
		return valid("no fault was asked for")
	}
	var told, lines, wrong []string // of all that took place, and of those that hit
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
		told = append(told, e.faultText(asked, f))
		if e.missedBy(asked, f) == "" {
			lines = append(lines, e.faultText(asked, f))
		}
	}
	for _, p := range e.sections.Pauses {
		if e.rested() && p.To >= e.sections.End {
			wrong = append(wrong, processName(p.Process)+" still stands still at the end")
		}
	}
	misses := e.misses()
	if len(lines) == 0 { // nothing of what was asked for is shown
		wrong = append(wrong, misses...)
	}
	if len(wrong) > 0 {
		story := append(fewOf(wrong, len(wrong)), fewOf(told, len(told))...)
		unclear := inconclusive("%s", wrong[0]).with(story...)
		unclear.Idle = idle
		return unclear
	}
	says := lines[0]
	if more := len(lines) - 1; more > 0 {
		says += "; and " + english.Count(more, "more fault", "more faults")
	}
	if len(misses) > 0 {
		says += fmt.Sprintf("; of %s that hit nothing it shows nothing",
			english.Count(len(misses), "fault", "faults"))
	}
	return valid("%s", says).with(fewOf(lines, len(lines))...)
}

// missedBy says why a fault that took place hit nothing; empty: it hit something. How many messages one of
// links hit is known when it is healed, which each is at the end of a run that neither stalls nor is cut
// short.
func (m *model) missedBy(asked *Fault, f *section.Fault) string {
	if of := m.timeless(asked, f); of != "" {
		return asked.Text + ": it hit nothing: " + of
	}
	switch {
	case asked.Breaks != 0 && asked.OfLinks && f.Healed && f.Hits == 0 && asked.ByChance:
		return asked.Text + ": it hit no message, since chance drew none of those that it is for, if any came"
	case asked.Breaks != 0 && asked.OfLinks && f.Healed && f.Hits == 0:
		return asked.Text + ": it hit no message, since none came that it is for"
	case !asked.OfLinks && f.Nodes == 0 && len(f.Servers) == 0:
		if asked.Breaks&nodes.ServersUp != 0 {
			return asked.Text + ": it hit no server that was up"
		}
		return asked.Text + ": it hit no node"
	}
	return ""
}

// misses says of each fault that was asked for and hit nothing why that is so.
func (e *evidence) misses() (all []string) {
	began := map[uint32]bool{}
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		began[f.Number] = true
		if says := e.missedBy(e.asked(f), f); says != "" {
			all = append(all, says+e.spared(f))
		}
	}
	for i := range e.Faults {
		if !began[uint32(i+1)] {
			all = append(all, e.Faults[i].Text+": it did not take place")
		}
	}
	return all
}

// spared says of a cut that hit no message who led, if the cut leaves that one alone, and what to do about
// it: only leaders send where nothing goes wrong. Empty: that is not why.
func (e *evidence) spared(f *section.Fault) string {
	asked := e.asked(f)
	if e.leaders == nil || asked.CutsOff == nil || asked.Separates == nil {
		return ""
	}
	leader := nodes.None
	for _, b := range e.leaders.Beliefs {
		if b.Leads() && b.From <= f.From && f.To <= b.To {
			leader = b.Node
		}
	}
	if leader == nodes.None || asked.CutsOff(leader, nodes.None) {
		return ""
	}
	return fmt.Sprintf("; %s led, of which it cuts no link: cut one of these, or take another --seed",
		name(leader))
}

// faultText says what a fault hit, and who entered meanwhile.
func (e *evidence) faultText(asked *Fault, f *section.Fault) string {
	hit := english.Count(f.Hits, "message", "messages")
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

// hitText says how many nodes a fault hit, and which servers of a service.
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

// lacks says why a fault shows nothing, if it does not.
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

// entriesAround says who entered while a fault lasted and after it, and whether that is too few to show
// anything.
func (e *evidence) entriesAround(asked *Fault, f *section.Fault) (says, lacks string) {
	says = english.Count(f.Entries, "entry", "entries")
	if asked.ForGood {
		says += " after it"
	} else {
		says += fmt.Sprintf(" while it lasted (%v), %s after it",
			time.Duration(f.To-f.From).Round(time.Millisecond), english.Thousands(float64(f.After)))
	}
	switch idle := e.idle(f); {
	case idle > 0 && f.Entries > 0:
		lacks = fmt.Sprintf("nobody entered for %v while it lasted, though it leaves all that the algorithm "+
			"rests on", time.Duration(idle).Round(time.Millisecond))
	case f.Entries > 0 && (asked.ForGood || e.promises(f)):
	case idle > 0:
		lacks = "nobody entered while it lasted, though it leaves all that the algorithm rests on"
	case asked.ForGood && f.After == 0:
		lacks = "nobody entered since it began"
	case f.After == 0:
		lacks = "nobody entered after it was healed"
	}
	return says, lacks
}

// promises reports whether the algorithm promises entries while a fault lasts: if it rests on nothing that
// the fault breaks. If nodes stand still, or messages do not come, an algorithm without timeouts waits all
// the same.
func (e *evidence) promises(f *section.Fault) bool {
	const loose = nodes.NoDuplication | nodes.FIFO | nodes.Timing
	return f.Breaks&(e.Safe|e.Live) == 0 && (f.Breaks&^loose == 0 || e.Grace > 0)
}

// enoughEntries is how many entries a fault must last for, at the rate of before, for it to be expected that
// somebody enters meanwhile.
const enoughEntries = 20
