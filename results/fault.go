package results

// A FaultRow is what faults.csv says of one fault in one trial: what happened before it began, while it
// lasted and after it was healed. docs/measures.md explains each column.
type FaultRow struct {
	Run    string `csv:"run,outside"`
	Trial  int    `csv:"trial"`
	Number int    `csv:"number"`        // of the fault among those that were asked for, from 1
	Fault  string `csv:"fault,outside"` // in words
	FromS  Figure `csv:"from_s"`        // from the beginning of the window
	ToS    Figure `csv:"to_s"`
	Healed bool   `csv:"healed"`

	EntriesBefore Figure `csv:"entries_before"`
	EntriesDuring Figure `csv:"entries_during"`
	EntriesAfter  Figure `csv:"entries_after"`
	// Of these, those whose write the resource has accepted, and those whose write it has refused. The rates,
	// OldRateS and SilenceS are of accepted entries.
	AcceptedBefore Figure `csv:"accepted_before"`
	AcceptedDuring Figure `csv:"accepted_during"`
	AcceptedAfter  Figure `csv:"accepted_after"`
	RefusedBefore  Figure `csv:"refused_before"`
	RefusedDuring  Figure `csv:"refused_during"`
	RefusedAfter   Figure `csv:"refused_after"`
	EntriesRefused Figure `csv:"entries_refused"` // in the whole run, as in runs.csv
	PerSBefore     Figure `csv:"entries_before_per_s" since:"entries_refused"`
	PerSDuring     Figure `csv:"entries_during_per_s" since:"entries_refused"`
	PerSAfter      Figure `csv:"entries_after_per_s" since:"entries_refused"`

	WaitBeforeUSP50 Figure `csv:"wait_before_us_p50"` // due to enter
	WaitBeforeUSP99 Figure `csv:"wait_before_us_p99"`
	WaitBeforeUSMax Figure `csv:"wait_before_us_max"`
	WaitDuringUSP50 Figure `csv:"wait_during_us_p50"`
	WaitDuringUSP99 Figure `csv:"wait_during_us_p99"`
	WaitDuringUSMax Figure `csv:"wait_during_us_max"`
	WaitAfterUSP50  Figure `csv:"wait_after_us_p50"`
	WaitAfterUSP99  Figure `csv:"wait_after_us_p99"`
	WaitAfterUSMax  Figure `csv:"wait_after_us_max"`

	MessagesBefore Figure `csv:"messages_before"` // deliveries asked for
	MessagesDuring Figure `csv:"messages_during"`
	MessagesAfter  Figure `csv:"messages_after"`
	DroppedBefore  Figure `csv:"dropped_before"`
	DroppedDuring  Figure `csv:"dropped_during"`
	DroppedAfter   Figure `csv:"dropped_after"`

	NextEntryS       Figure `csv:"next_entry_s"`                       // since it began
	HealedNextEntryS Figure `csv:"healed_next_entry_s"`                // since it was healed
	OldRateS         Figure `csv:"old_rate_s" since:"entries_refused"` // since it was healed

	OverlapDuringUS Figure `csv:"overlap_during_us"`
	OverlapAfterUS  Figure `csv:"overlap_after_us"`
	Unfinished      Figure `csv:"unfinished"`      // open at the heal, and never over
	Lost            Figure `csv:"lost_unintended"` // in the whole run

	EpochBefore Figure `csv:"epoch_before"` // the highest in which anybody has entered
	EpochAfter  Figure `csv:"epoch_after"`  // the same, until the next fault began
	EpochsNew   Figure `csv:"epochs_new"`   // how many went by in between
	// SilenceS is the longest time without an accepted entry until the next fault began.
	SilenceS Figure `csv:"silence_s" since:"entries_refused"`
	// SilenceTextbookS is after which silence a textbook takes what lets in for lost.
	SilenceTextbookS Figure `csv:"silence_textbook_s"`

	// Of a run with leaders. Elections are those that elected somebody, until those followed who have to.
	ElectionsBefore    Figure `csv:"elections_before" since:"leader_changes_before" where:"to_s"`
	ElectionsDuring    Figure `csv:"elections_during" since:"leader_changes_before" where:"to_s"`
	ElectionsAfter     Figure `csv:"elections_after" since:"leader_changes_before" where:"to_s"`
	ElectBeforeUSP50   Figure `csv:"elect_before_us_p50" since:"leader_changes_before" where:"to_s"`
	ElectBeforeUSMax   Figure `csv:"elect_before_us_max" since:"leader_changes_before" where:"to_s"`
	ElectDuringUSP50   Figure `csv:"elect_during_us_p50" since:"leader_changes_before" where:"to_s"`
	ElectDuringUSMax   Figure `csv:"elect_during_us_max" since:"leader_changes_before" where:"to_s"`
	ElectAfterUSP50    Figure `csv:"elect_after_us_p50" since:"leader_changes_before" where:"to_s"`
	ElectAfterUSMax    Figure `csv:"elect_after_us_max" since:"leader_changes_before" where:"to_s"`
	LeaderlessBeforeUS Figure `csv:"leaderless_before_us"`
	LeaderlessDuringUS Figure `csv:"leaderless_during_us"`
	LeaderlessAfterUS  Figure `csv:"leaderless_after_us"`
	TwoLeadersBeforeUS Figure `csv:"two_leaders_before_us"`
	TwoLeadersDuringUS Figure `csv:"two_leaders_during_us"`
	TwoLeadersAfterUS  Figure `csv:"two_leaders_after_us"`
	FlapsBefore        Figure `csv:"flaps_before"`
	FlapsDuring        Figure `csv:"flaps_during"`
	FlapsAfter         Figure `csv:"flaps_after"`
	ChangesBefore      Figure `csv:"leader_changes_before"` // nodes that came to lead
	ChangesDuring      Figure `csv:"leader_changes_during"`
	ChangesAfter       Figure `csv:"leader_changes_after"`
	HealedAgreedS      Figure `csv:"healed_agreed_s"` // since it was healed, until all agree on a leader
}

// An IntervalRow is what timeline.csv says of one of the equal intervals of a trial with faults.
type IntervalRow struct {
	Run     string `csv:"run,outside"`
	Trial   int    `csv:"trial"`
	FromS   Figure `csv:"from_s"` // from the beginning of the window
	ToS     Figure `csv:"to_s"`
	Entries Figure `csv:"entries"`
	Refused Figure `csv:"refused"` // of these, by the resource
}
