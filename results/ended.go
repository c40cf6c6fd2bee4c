package results

// The words for a run, or a trial, that did not come to its end. Whoever tells of one uses these.
const (
	// Unfinished is a run whose end is not on record.
	Unfinished = "unfinished"
	// OrchestratorGone is why.
	OrchestratorGone = "the orchestrator ended before the run did, or is still running"
	// Interrupted is the reason of the verdict of a trial that the user ended.
	Interrupted = "interrupted"
)

// UnfinishedSays is what is said of a run that is unfinished.
const UnfinishedSays = Unfinished + ": " + OrchestratorGone

// VerdictText returns the verdict of a trial, with a word if the user has ended it.
func (r *Row) VerdictText() string {
	if r.Reason == Interrupted {
		return r.Verdict + " (" + Interrupted + ")"
	}
	return r.Verdict
}
