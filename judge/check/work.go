package check

import "turnstile/nodes/workload"

// work: nobody else has spoilt what clients did inside. This is the harm that shows, of what exclusion is to
// prevent.
func work(e *evidence) Finding {
	var sum uint64
	for r := range e.resources() {
		done, spoilt := r.Worked(e.Work)
		if spoilt > 0 {
			return e.excuse(violated("%s", e.Work.Says(done, spoilt)), e.sharedAt(r), e.Safe)
		}
		sum += done
	}
	return valid("%s", e.Work.Says(sum, 0))
}

// works reports whether clients do more inside than to write the account, of which there is a check.
func works(e *evidence) bool { return e.Work != workload.Account }
