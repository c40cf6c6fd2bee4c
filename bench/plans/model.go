package plans

import (
	"fmt"

	"turnstile/bench"
	"turnstile/judge/check"
	"turnstile/nodes"
)

// Inside reports whether a run ended inside the model of its algorithm: no assumption is broken at its end,
// and no failure is due to an assumption that was broken before.
func Inside(v *check.Verdict) bool { return v.Broken == 0 && !v.OutsideModel }

// mayBeInconclusive reports whether a finding of a run inside its model may be inconclusive. It may for one
// of these reasons: a fault found no victim; no client requested; fairness alone was not judged, since one
// node was slower; a fault ended so late that the nodes need not agree on a leader yet; every node that was
// to campaign was down; or leaders crashed too often for another to be elected.
func mayBeInconclusive(f *check.Finding) bool {
	return f.ShowsLittle() || f.About() == check.AboutFairness && f.OutsideModel || f.ByRun
}

// GivesUpOrder reports whether options of a run withdraw the algorithm's promise of an order of service: then
// a client may wait for ever.
func GivesUpOrder(j *bench.Job) bool {
	_, usual := j.Spec.Exclusion().Promised(j.Spec.Explicit(nodes.Config{N: j.Options.Config.N}))
	_, promised := j.Spec.Exclusion().Promised(j.Options.Config)
	return usual && !promised
}

// Wrong returns how the verdict on a run differs from what the model of its algorithm promises, or "". It
// expects nothing of a flawed algorithm.
func Wrong(j *bench.Job, v *check.Verdict) string {
	switch {
	case j.Spec.Flaw != nil:
		return ""
	case v.Outcome == check.Violated && !v.OutsideModel:
		return "VIOLATED inside its model: " + v.Reason
	case !Inside(v):
		return ""
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.About() == check.AboutFairness && GivesUpOrder(j) {
			continue
		}
		if f.Outcome != check.Valid && !mayBeInconclusive(f) {
			return fmt.Sprintf("not valid inside its model: %s: %s", f.Check, f.Says)
		}
	}
	return ""
}
