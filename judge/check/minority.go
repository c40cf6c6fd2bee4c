package check

import (
	"slices"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// minorityEntries gathers the entries of clients that could reach no majority when they entered.
type minorityEntries struct {
	sides
	entries uint64
	broken  []minorityEntry               // the first entries that the algorithm rules out
	entered map[nodes.ID]map[uint64]int64 // when a client last entered in an epoch, by client and epoch
}

// A minorityEntry is an entry, and since when its client had reached no majority.
type minorityEntry struct {
	section.Section
	since int64
}

// mostMinorityEntries bounds minorityEntries.broken.
const mostMinorityEntries = 1000

// add takes an entry.
func (e *minorityEntries) add(s *section.Section) {
	faulty := len(e.sections.Faults)+len(e.sections.Deaths) > 0
	if s.Node < 0 || int(s.Node) >= e.Config.N {
		return
	}
	if faulty && 2*e.when(s.Entered).side(s.Node) <= e.Config.N {
		e.entries++
		if e.Minority > 0 && s.Resource.Instance == 0 {
			e.judgeEntry(s)
		}
	}
	if e.Keeps && s.Resource.Instance == 0 {
		e.noteEpoch(s)
	}
}

// judgeEntry keeps an entry in a minority if the algorithm rules it out.
func (e *minorityEntries) judgeEntry(s *section.Section) {
	since := e.minoritySince(s.Node, s.Entered, e.sections.Marks[history.Began].At)
	if s.Entered-since <= int64(e.Minority) || e.Keeps && !e.begun(s, since) {
		return
	}
	if len(e.broken) < mostMinorityEntries {
		e.broken = append(e.broken, minorityEntry{*s, since})
	}
}

// noteEpoch notes when a client last entered in an epoch.
func (e *minorityEntries) noteEpoch(s *section.Section) {
	if e.entered == nil {
		e.entered = map[nodes.ID]map[uint64]int64{}
	}
	of := e.entered[s.Node]
	if of == nil {
		of = map[uint64]int64{}
		e.entered[s.Node] = of
	}
	of[e.Epoch(s.Fence)] = s.Entered
}

// begun reports whether the epoch of an entry certainly began after a time. An epoch begins when more than
// half of the clients have promised to enter in no lower one. So it had not begun at that time if half of the
// clients entered in a lower epoch more than Settles later, when all older messages had arrived.
func (e *minorityEntries) begun(s *section.Section, since int64) bool {
	epoch, later := e.Epoch(s.Fence), 0
	for _, of := range e.entered {
		for lower, at := range of {
			if lower < epoch && at > since+int64(e.Settles) {
				later++
				break
			}
		}
	}
	return 2*later >= e.Config.N
}

// minority: a client that can reach no majority, because of cuts or crashes, enters no more once its failure
// detector knows, if its algorithm promises that. If Keeps is set, the client may still enter, but in no
// epoch that began since.
func minority(e *evidence) Finding {
	if s := e.observed[history.Secluded]; s != nil {
		return violated("%s enters, suspects half of the clients, and has heard from no majority", name(s.Node))
	}
	few := english.Count(e.minority.entries, "entry was", "entries were")
	if e.Minority == 0 {
		return notJudged("%s made in a minority; the algorithm promises nothing about that", few)
	}
	allowed := func(s *minorityEntry) time.Duration {
		return e.Minority + e.slack(s.since, s.Entered, 2, s.Node)
	}
	late := slices.DeleteFunc(slices.Clone(e.minority.broken), func(s minorityEntry) bool {
		return time.Duration(s.Entered-s.since) <= allowed(&s)
	})
	if len(late) == 0 {
		return valid("%s made in a minority, each within the time or epoch that the algorithm allows", few)
	}
	needs := e.Safe | nodes.NoPause | nodes.Timing // assumptions of exclusion, and of punctual timers
	within := func(s *minorityEntry) span { return span{s.since, s.Entered, int64(e.Grace), nil} }
	s, what := &late[0], ""
	for i := range late {
		if e.brokenIn(within(&late[i]), needs) == 0 {
			s = &late[i]
			break
		}
	}
	if e.Keeps {
		what = " in an epoch that began meanwhile"
	}
	f := violated("%s, without a majority for %v, entered%s; it should stop entering within %v", name(s.Node),
		time.Duration(s.Entered-s.since).Round(time.Millisecond), what, allowed(s)).
		lasting(s.since+int64(e.Minority), s.Entered, s.Node)
	if s.Fence > 0 {
		f = f.with(enteredUnder(&s.Section))
	}
	return e.outsideIf(f, within(s), needs)
}
