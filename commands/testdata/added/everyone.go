package check

// everyone: each client has entered.
func everyone(e *evidence) Finding {
	if e.sections.Entries < uint64(e.Config.N) {
		return violated("%d entries by %d clients", e.sections.Entries, e.Config.N)
	}
	return valid("there were as many entries as clients")
}
