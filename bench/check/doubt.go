package check

import (
	"slices"

	"turnstile/nodes"
)

// restsOnSafety are the checks of what must hold as long as what the algorithm's safety rests on does. All
// others are of its progress too.
var restsOnSafety = []string{"exclusion", "register", "account", "terms", "leaders"}

// doubt takes back what findings convict of where the evidence is not sound: the witnesses of exclusion
// disagree, the transport has changed what the algorithm rests on though no fault did, or, of runs about
// leaders, whose declarations have no second witness, counters and events disagree.
func (e *Fold) doubt(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if f.Outcome != Violated {
			continue
		}
		if but := e.but(f.Check, findings); but != "" {
			f.Outcome, f.Says = Inconclusive, f.Says+", but "+but
		}
	}
}

// but says why the conviction by a check is in doubt; empty: it is not.
func (e *Fold) but(check string, findings []Finding) string {
	needs := e.Safe
	if !slices.Contains(restsOnSafety, check) {
		needs |= e.Live
	}
	switch {
	case e.Kind == MutualExclusion && !witnessesAgree(findings):
		return "the witnesses disagree"
	case e.Kind == Election && !e.balanced():
		return "the counts disagree"
	case needs&e.audit.breaks() != 0:
		return e.audit.says()
	}
	return ""
}

// witnessesAgree reports whether the witnesses of exclusion do.
func witnessesAgree(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Check == "agreement" && f.Outcome == Valid
	})
}

// breaks returns what of the assumptions on links the transport broke. Messages that nobody has sent are
// repeats of others, as far as can be told.
func (a *audit) breaks() (broken nodes.Assumption) {
	if a.lost > 0 {
		broken |= nodes.NoLoss
	}
	if a.repeats > 0 || !a.clean() && a.lost == 0 {
		broken |= nodes.NoDuplication | nodes.FIFO
	}
	return broken
}
