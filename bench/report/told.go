package report

import (
	"fmt"

	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/results"
)

// told says what became of clients that had lost their lock, where there is something to say.
func (p *Report) told(t table) {
	of := func(column results.Column) uint64 { n, _ := t.sum(column).Value(); return uint64(n) }
	in := func(entries uint64) string { return "in " + english.Count(entries, "entry", "entries") }
	name := "lost locks"
	say := func(entries uint64, text string, args ...any) {
		if entries > 0 {
			p.line(name, "%s %s", in(entries), fmt.Sprintf(text, args...))
			name = ""
		}
	}
	stayed := of(results.ToldStayed)
	say(stayed, "the client went on for up to %s after it was told that the lock was lost",
		format.Micros(t.of(results.ToldInsideUSMax).most))
	say(of(results.EntriesTold)-stayed, "the client left as soon as it was told that the lock was lost")
	if untold := of(results.OverlappedUntold); of(results.EntriesTold) > 0 {
		say(untold, "another client entered before the client was told that the lock was lost, "+
			"if it was told at all")
	} else if untold > 0 {
		p.line("overlapped", "%s another client entered, and no client was told that it had lost the lock",
			in(untold))
	}
	say(of(results.ToldForNothing),
		"the client went on after it was told that the lock was lost, and no other was "+
			"inside while it was")
	if tries := of(results.RefusedTries); tries > 0 {
		p.line("tries", "the lock refused %s, %s of them while no client was inside",
			english.Count(tries, "try", "tries"), format.Whole(t.sum(results.RefusedFree)))
	}
	p.guarded(t)
}

// guarded says how many of the entries that overlapped a resource keeps apart that demands fence numbers.
func (p *Report) guarded(t table) {
	var overlapped, accepted float64
	least := ""
	for i := range t {
		if beside, known := t[i].ViolationsFenced.Value(); known {
			n, _ := t[i].Violations.Value()
			overlapped, accepted = overlapped+n, accepted+beside
			if t[i].ViolationsFenced.IsBound() {
				least = "at least "
			}
		}
	}
	many := english.Count(uint64(overlapped), "entry", "entries")
	switch {
	case overlapped == 0:
	case accepted == 0:
		p.line("fences", "%s overlapped; a resource that demands fence numbers keeps them apart", many)
	default:
		p.line("fences", "%s overlapped; a resource that demands fence numbers does not keep %s%s of them apart",
			many, least, english.Thousands(accepted))
	}
}
