package check

import "fmt"

// exclusion: no two Enter-Exit intervals overlap. When stamps say that they do and the register denies
// it, the stamps are wrong, since the register goes up before the Enter and down after the Exit.
func exclusion(e *evidence) Finding {
	var doubtful uint64
	for _, s := range e.sites.all {
		switch {
		case s.violations == 0:
			doubtful += s.doubtful
		case s.deepest.Count <= 1:
			return inconclusive("by their stamps %s overlapped, by up to %s, but the register never exceeded 1: "+
				"the harness itself is wrong", plural(s.violations, "entry", "entries"), us(s.closest)).
				with(e.story(s.first)...)
		default:
			f := violated("%s overlapped: nodes %d and %d were inside together for %s",
				plural(s.violations, "entry", "entries"), s.first.a.enter.Node, s.first.b.enter.Node,
				us(s.first.spell.to-s.first.spell.from)).with(e.story(s.first)...)
			return e.excuse(f, s.first.spell.from, e.Safe)
		}
	}
	if doubtful > 0 {
		// No pass by this witness alone; the register, which is exact, settles it.
		if f := register(e); f.Outcome != Valid {
			return inconclusive("%s overlapped by no more than the stamps may err, %s",
				plural(doubtful, "pair of entries", "pairs of entries"), us(e.sites.stampError))
		}
		return valid("no two were inside together: of %s that the stamps cannot tell apart, the register can",
			plural(doubtful, "pair", "pairs"))
	}
	return valid("no two were inside together in %s", plural(e.requests.entries, "entry", "entries"))
}

// register: the occupancy register never exceeds 1. It is one word that all nodes change atomically, so
// there is no doubt about what it says.
func register(e *evidence) Finding {
	for _, s := range e.sites.all {
		if d := s.deepest; d.Count > 1 {
			f := violated("the register counted %d inside when node %d entered", d.Count, d.Node).
				with(fmt.Sprintf("node %d, its entry %d, at %s", d.Node, d.Entry, us(d.At)))
			return e.excuse(f, d.At, e.Safe)
		}
	}
	if e.requests.unregistered > 0 {
		return inconclusive("%s did not raise the register",
			plural(e.requests.unregistered, "entry", "entries"))
	}
	return valid("the register never counted more than 1 inside")
}

// account: every exit adds one to the shared account, without which two must have held it at once.
func account(e *evidence) Finding {
	for _, s := range e.sites.all {
		if lost := s.lost(); lost > 0 {
			return e.excuse(violated("the account lost %s: it stands at %d after %s",
				plural(lost, "update", "updates"), s.final, plural(s.exits, "exit", "exits")), e.end, e.Safe)
		}
	}
	return valid("the account lost no update")
}

// agreement: money lost implies that two overlapped, and that implies that the register exceeded 1. If
// not, the harness is wrong, and none of its witnesses is to be believed.
func agreement(e *evidence) Finding {
	for _, s := range e.sites.all {
		exceeded := s.deepest.Count > 1
		switch {
		case s.violations > 0 && !exceeded:
			return inconclusive("the witnesses disagree: entries overlapped by %s, "+
				"which the stamps cannot err, but the register never exceeded 1", us(s.closest))
		case s.lost() > 0 && !exceeded:
			return inconclusive("the witnesses disagree: %s lost, but the register never exceeded 1",
				plural(s.lost(), "update was", "updates were"))
		case s.lost() > 0 && s.closest < -s.stampError:
			return inconclusive("the witnesses disagree: %s lost, but no two entries came close",
				plural(s.lost(), "update was", "updates were"))
		}
	}
	return valid("intervals, register and account agree")
}
