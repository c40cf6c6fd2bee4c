package check

import (
	"fmt"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// exclusion: sections never overlap (see section.Resource). If they overlap by the stamps but not by the
// register, the stamps are wrong: the register is raised before the Enter and lowered after the Exit.
func exclusion(e *evidence) Finding {
	if s := e.observed[history.Unfenced]; s != nil {
		return e.outsideIf(violated("%s enters without a fence number of its own, which the resource demands",
			name(s.Node)), e.at(s.At), e.Safe)
	}
	var doubtful uint64
	kept, figure := "no two were inside together", (*Finding)(nil)
	for r := range e.resources() {
		if r.Capacity > 1 {
			kept = "no capacity was exceeded"
		}
		switch {
		case e.fenced(r) && e.Lacks.Account && r.Violations > 0:
			return inconclusive("%s overlapped, and the history has no account: it does not say which writes the "+
				"resource refused by their fence numbers", english.Count(r.Violations, "entry", "entries")).
				with(e.story(r.First)...)
		case e.fenced(r) && !e.Lacks.Account && (r.Violations == 0 || !e.denies(r)):
			f := e.effective(r)
			if f.Outcome != Valid {
				return f
			}
			if r.Violations > 0 {
				figure = &f
			}
		case r.Violations == 0:
			if doubtful += r.UncertainOverlaps; e.Lacks.Register {
				doubtful += r.Unordered
			}
		case e.denies(r):
			return inconclusive("by their stamps %s overlapped, by up to %s, but the register never "+
				"exceeded %d: the harness itself is wrong", english.Count(r.Violations, "entry", "entries"),
				us(r.Closest), r.Capacity).with(e.story(r.First)...)
		default:
			least := r.Overlaps.Least(e.outside)
			first := &least.What
			all := "" // in all, clients may be inside together for much longer than this pair
			if r.Overlap > first.To-first.From {
				all = fmt.Sprintf(", for %v in all", time.Duration(r.Overlap).Round(time.Microsecond))
			}
			long := "for " + us(first.To-first.From)
			if first.To == first.From {
				long = "at one stamp, by the order of the events"
			}
			f := violated("%s overlapped%s: nodes %d and %d were inside together%s %s",
				english.Count(r.Violations, "entry", "entries"), all, first.A.Node, first.B.Node, beyond(r),
				long).with(e.story(first)...)
			return e.outsideIf(f.overlapping(least), e.beside(least.From, least.At, least.Spared), e.Safe)
		}
	}
	if doubtful > 0 {
		// The stamps cannot tell. The register can, since it is exact.
		if f := register(e); f.Outcome != Valid || f.NotJudged {
			return inconclusive("%s may have overlapped others, by no more than the time stamps may err%s",
				english.Count(doubtful, "entry", "entries"), e.err())
		}
		return valid("%s: %s too close for the time stamps to order, but the register shows no violation", kept,
			english.Count(doubtful, "entry was", "entries were"))
	}
	if figure != nil {
		return *figure
	}
	return valid("%s in %s", kept, english.Count(e.sections.Entries, "entry", "entries"))
}

// overlapping notes how long two were inside together, if a violation is about that. The cause lies in the
// time since the first of them entered.
func (f Finding) overlapping(at *section.Hook[section.Overlap]) Finding {
	if at != nil {
		f.Lasts = &Lasting{at.What.To - at.What.From, at.From, at.What.To,
			[]nodes.ID{at.What.A.Node, at.What.B.Node}}
	}
	return f
}

// uncontended describes resources that were never contended, in words that follow the verdict, or returns "".
// No two clients had or wanted such a resource at once, so an algorithm that lets everybody in passes as
// well. A played schedule is not judged by this.
func (e *evidence) uncontended() string {
	all := max(1, e.Resources)
	idle := all
	for r := range e.resources() {
		if r.Contended > 0 {
			idle--
		}
	}
	switch {
	case idle == 0, e.Replayed:
		return ""
	case idle == all:
		return "not contended"
	}
	return fmt.Sprintf("%d of %d resources not contended", idle, all)
}

// err describes how much stamps may err.
func (e *evidence) err() string {
	if e.sections.Jumped() {
		return ", and " + jumped
	}
	return " (" + us(e.sections.StampError()) + ")"
}

// beyond names the exceeded capacity, if it is more than 1.
func beyond(r *section.Resource) string {
	if r.Capacity == 1 {
		return ""
	}
	return fmt.Sprintf(", beyond the capacity of %d", r.Capacity)
}

// register: the occupancy register never exceeds the capacity. It is one word that all nodes change
// atomically, so it is exact.
func register(e *evidence) Finding {
	if e.Lacks.Register {
		return notJudged("not judged: the history has no register")
	}
	most, figure := uint32(1), ""
	for r := range e.resources() {
		if over := r.Exceeded.Least(e.outside); over != nil && e.fenced(r) {
			figure = fmt.Sprintf("the register counted %d inside when node %d entered; that is no violation, "+
				"since the resource checks fence numbers", r.Deepest.Count, r.Deepest.Node)
		} else if over != nil {
			d := over.What
			f := violated("the register counted %d inside when node %d entered%s", d.Count, d.Node,
				beyond(r)).with(fmt.Sprintf("node %d, its entry %d, at %s", d.Node, d.Entry, us(d.At)))
			return e.outsideIf(f.overlapping(r.Overlaps.Least(e.outside)),
				e.beside(over.From, over.At, over.Spared), e.Safe)
		}
		most = max(most, r.Capacity)
	}
	for r := range e.resources() {
		if r.Uncertain > 0 && !e.fenced(r) {
			i := r.FirstUncertain
			return inconclusive("the register counted %d inside when node %d entered, and %s beyond the "+
				"capacity, but it may still count a node that died in the middle of an update",
				i.Count, i.Node, english.Count(r.Uncertain, "entry was", "entries were"))
		}
	}
	if e.sections.Unregistered > 0 {
		return inconclusive("%s did not raise the register",
			english.Count(e.sections.Unregistered, "entry", "entries"))
	}
	if figure != "" {
		return valid("%s", figure)
	}
	return valid("the register never counted more than %d inside", most)
}

// account: every exit adds one to the shared account. If an update is missing, two clients used it at the
// same time.
func account(e *evidence) Finding {
	if e.Lacks.Account {
		return notJudged("not judged: the history has no account")
	}
	for r := range e.resources() {
		if lost := r.Lost(); lost > 0 {
			f := violated("the account lost %s: it held at most %d, and there were %s",
				english.Count(lost, "update", "updates"), r.Account, english.Count(r.Exits, "exit", "exits"))
			return e.outsideIf(f.overlapping(r.Overlaps.Least(e.outside)), e.sharedAt(r), e.Safe)
		}
	}
	return valid("the account lost no update")
}

// denies reports whether the register shows that the capacity was never exceeded.
func (e *evidence) denies(r *section.Resource) bool { return !e.Lacks.Register && r.Denies() }

// lost returns how many updates the account lost; 0 if the history has no account.
func (e *evidence) lost(r *section.Resource) uint64 {
	if e.Lacks.Account {
		return 0
	}
	return r.Lost()
}

// sharedAt returns a span in which clients shared a resource by the stamps or else by the register: one
// inside the model if possible.
func (e *evidence) sharedAt(r *section.Resource) span {
	if o := r.Overlaps.Least(e.outside); o != nil {
		return e.beside(o.From, o.At, o.Spared)
	}
	if over := r.Exceeded.Least(e.outside); over != nil {
		return e.beside(over.From, over.At, over.Spared)
	}
	return e.at(e.sections.End)
}

// witnesses: a lost update implies that sections overlapped, and an overlap implies that the register
// exceeded the capacity. If an entry is alone by the register, the value that it reads must have been written
// earlier by the stamps. Otherwise the harness is wrong, and no witness can be trusted. If nodes ask a
// process for the resource, two sections that overlapped there need not overlap by their stamps, because its
// answers take time.
func witnesses(e *evidence) Finding {
	if e.Lacks.Register || e.Lacks.Account {
		return notJudged("not judged: the history does not have all witnesses")
	}
	for r := range e.resources() {
		done, spoilt := r.Worked(e.Work)
		switch denied := r.Denies(); {
		case r.Violations > 0 && denied:
			return inconclusive("the witnesses disagree: entries overlapped by %s, more than the error of the time "+
				"stamps, but the register never exceeded %d", us(r.Closest), r.Capacity)
		case r.Lost() > 0 && denied:
			return inconclusive("the witnesses disagree: %s lost, but the register never exceeded 1",
				english.Count(r.Lost(), "update was", "updates were"))
		case spoilt > 0 && denied:
			return inconclusive("the witnesses disagree: %s, but the register never exceeded 1",
				e.Work.Says(done, spoilt))
		case r.Lost() > 0 && !e.Asked && r.Closest < -e.sections.StampError():
			return inconclusive("the witnesses disagree: %s lost, but no two entries came close",
				english.Count(r.Lost(), "update was", "updates were"))
		case r.Baseless != nil && e.fenced(r):
			s := r.Baseless
			return inconclusive("the witnesses disagree: the resource refused what %s wrote under the fence "+
				"number %d, and nobody had entered under a higher one", name(s.Node), s.Fence)
		case r.Early != nil && denied:
			return inconclusive("the witnesses disagree: by the time stamps, %s read %d from the account at %s, "+
				"before anybody had written it", name(r.Early.Node), r.Early.Read, us(r.Early.At))
		}
	}
	return valid("intervals, register and account agree")
}

// works reports whether clients do more inside than to write the account, which has its own check.
func works(e *evidence) bool { return e.Work != workload.Account }

// work: no other client has spoilt the work that a client did inside. That is the harm that exclusion should
// prevent.
func work(e *evidence) Finding {
	var sum uint64
	for r := range e.resources() {
		done, spoilt := r.Worked(e.Work)
		if spoilt > 0 {
			f := violated("%s", e.Work.Says(done, spoilt)).overlapping(r.Overlaps.Least(e.outside))
			return e.outsideIf(f, e.sharedAt(r), e.Safe)
		}
		sum += done
	}
	return valid("%s", e.Work.Says(sum, 0))
}

// fenced reports whether the exclusion of a resource is judged by fence numbers: the resource demands them,
// and each entry had one.
func (e *evidence) fenced(r *section.Resource) bool {
	return e.Fenced && r.Capacity == 1 && r.Unfenced == 0
}

// effective: the resource accepts no write under a lower fence number than the highest that has entered. Then
// two clients inside together are no violation, since the resource refuses the writes of the earlier one. If
// a process may stand still for any time, no algorithm that lets others go on can prevent such overlaps.
func (e *evidence) effective(r *section.Resource) Finding {
	if stale := r.Stale.Least(e.outside); stale != nil {
		s, by := stale.What.A, stale.What.B
		f := violated("the resource accepted what %s wrote under the fence number %d, "+
			"after %s had entered under %d", name(s.Node), s.Fence, name(by.Node), by.Fence)
		return e.outsideIf(f.with(enteredUnder(s), enteredUnder(by),
			fmt.Sprintf("%s wrote %d at %s", name(s.Node), s.Written, us(s.Ended))),
			e.beside(stale.From, stale.At, stale.Spared), e.Safe)
	}
	f := valid("the resource accepted no write under an old fence number, though %s, for %v in all; it refused "+
		"%s", english.Count(r.Violations, "entry overlapped", "entries overlapped"),
		time.Duration(r.Overlap).Round(time.Microsecond), english.Count(r.Refusals, "write", "writes"))
	if r.First != nil {
		f.Witness = e.story(r.First)
	}
	return f
}

// enteredUnder describes an entry under a fence number.
func enteredUnder(s *section.Section) string {
	return fmt.Sprintf("%s entered under %d at %s: the account held %d", name(s.Node), s.Fence, us(s.Entered),
		s.Read)
}

// capacity: all units of a resource with several were taken at some time. An algorithm that never hands out
// the last unit breaks its promise only if the load demands all of them (Setting.Fills).
func capacity(e *evidence) Finding {
	for r := range e.resources() {
		if r.Capacity == 1 {
			continue
		}
		most := r.Deepest.Count
		if most >= r.Capacity {
			continue
		}
		says := fmt.Sprintf("no more than %d of %d units were taken at once", most, r.Capacity)
		enough := e.sections.Entries >= uint64(2*e.Config.N)
		if !e.Fills || e.faulty() || !enough || e.seen(history.Interrupted) {
			return notJudged("%s: the load does not demand all of them", says)
		}
		return violated("%s in %s, though the clients demanded all units all the time, and the hold exceeds the "+
			"time to pass a unit on", says, english.Count(e.sections.Entries, "entry", "entries"))
	}
	return valid("all units were taken at some time")
}

// several reports whether some resource of the run has several units.
func several(e *evidence) bool {
	for r := range e.resources() {
		if r.Capacity > 1 {
			return true
		}
	}
	return false
}
