package check

// everyone: somebody has entered.
func everyone(e *evidence) Finding {
	if e.sections.Entries == 0 {
		return Finding{Outcome: Inconclusive, Says: "nobody has entered"}
	}
	return valid("somebody has entered")
}
