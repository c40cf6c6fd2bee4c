package measure

import "turnstile/internal/figure"

// A number is one figure.
type number = figure.Figure

// Values of the struct tag "of": columns of runs with critical sections, and of runs about leaders. A column
// without the tag concerns all runs.
const (
	OfExclusion = "exclusion"
	OfLeaders   = "leaders"
)

// Figures are the figures of a trial: the columns of runs.csv, in their order, named by their tags.
// docs/measures.md explains each.
type Figures struct {
	WarmupTookS     number `csv:"warmup_took_s"`
	Clients         number `csv:"clients" of:"exclusion"`          // clients that requested
	DurationS       number `csv:"duration_s"`                      // length of the measured window
	Entries         number `csv:"entries" of:"exclusion"`          // entries of the whole run
	EntriesAccepted number `csv:"entries_accepted" of:"exclusion"` // entries whose write was not refused
	EntriesRefused  number `csv:"entries_refused" of:"exclusion"`  // entries with a refused write
	// EntriesInMinority counts the entries of the whole run by clients that could reach no majority.
	EntriesInMinority number `csv:"entries_in_minority" of:"exclusion"`
	EntriesInWindow   number `csv:"entries_in_window" of:"exclusion"` // entries in the window
	// AcceptedInWindow counts the accepted entries of the window. All rates and shares are of accepted entries.
	AcceptedInWindow number `csv:"accepted_in_window" of:"exclusion"`
	EntriesPerS      number `csv:"entries_per_s" of:"exclusion"`

	Messages          number `csv:"messages"` // messages sent in the whole run, counted for each receiver
	Publishes         number `csv:"publishes"`
	MessagesPerEntry  number `csv:"messages_per_entry" of:"exclusion"`
	PublishedMin      number `csv:"published_min" of:"exclusion"` // messages per entry, as published
	PublishedMax      number `csv:"published_max" of:"exclusion"`
	PublishesPerEntry number `csv:"publishes_per_entry" of:"exclusion"`
	BytesPerEntry     number `csv:"bytes_per_entry" of:"exclusion"`
	// ServerBytesPerEntry counts the bytes that clients and servers of a service exchange, both ways.
	ServerBytesPerEntry number `csv:"server_bytes_per_entry" of:"exclusion"`
	Heartbeats          number `csv:"heartbeats"` // messages of failure detectors, and heartbeats of electors
	HeartbeatsPerEntry  number `csv:"heartbeats_per_entry" of:"exclusion"`
	// AllMessagesPerEntry is MessagesPerEntry and HeartbeatsPerEntry together.
	AllMessagesPerEntry number `csv:"all_messages_per_entry" of:"exclusion"`
	// No other column counts the questions of nodes to a resource process.
	ResourceRoundTripsPerEntry number `csv:"resource_round_trips_per_entry" of:"exclusion"`
	ResourceUSMean             number `csv:"resource_us_mean" of:"exclusion"` // duration of a round trip
	// Messages of a single request, if requests are made one at a time.
	OneEntryMin  number `csv:"one_entry_messages_min" of:"exclusion"`
	OneEntryMean number `csv:"one_entry_messages_mean" of:"exclusion"`
	OneEntryMax  number `csv:"one_entry_messages_max" of:"exclusion"`

	WaitUSP50     number `csv:"wait_us_p50" of:"exclusion"` // from when a request is due until it enters
	WaitUSP90     number `csv:"wait_us_p90" of:"exclusion"`
	WaitUSP99     number `csv:"wait_us_p99" of:"exclusion"`
	WaitUSP999    number `csv:"wait_us_p999" of:"exclusion"`
	WaitUSMax     number `csv:"wait_us_max" of:"exclusion"`
	QueueUSP50    number `csv:"queue_us_p50" of:"exclusion"` // from when a request is due until it is made
	QueueUSP99    number `csv:"queue_us_p99" of:"exclusion"`
	ProtocolUSP50 number `csv:"protocol_us_p50" of:"exclusion"` // from a request until its entry
	ProtocolUSP99 number `csv:"protocol_us_p99" of:"exclusion"`
	HoldUSP50     number `csv:"hold_us_p50" of:"exclusion"` // from an entry until its exit
	HoldUSP99     number `csv:"hold_us_p99" of:"exclusion"`
	// The wait when no other client wants the resource.
	ClientDelayP50            number `csv:"client_delay_us_p50" of:"exclusion"`
	UncontendedP50            number `csv:"uncontended_us_p50" of:"exclusion"` // wait for an unused resource
	SynchronizationDelayUSP50 number `csv:"sync_delay_us_p50" of:"exclusion"`  // from an exit to the next entry
	SynchronizationDelayUSP99 number `csv:"sync_delay_us_p99" of:"exclusion"`

	Utilisation          number `csv:"utilisation" of:"exclusion"`
	UtilisationMean      number `csv:"utilisation_mean" of:"exclusion"` // mean over several resources
	UnitsTakenMax        number `csv:"units_taken_max" of:"exclusion"`  // units taken at once, by the register
	UnitsTakenMean       number `csv:"units_taken_mean" of:"exclusion"` // mean over the window
	UtilisationPredicted number `csv:"utilisation_predicted" of:"exclusion"`
	EntriesPerSPredicted number `csv:"entries_per_s_predicted" of:"exclusion"`

	// Contended counts the requests of the whole run for which units were missing: fewer were free than the
	// request and all waiting requests take together. 0 means that no two ever wanted the resource at once.
	Contended      number `csv:"contended" of:"exclusion"`
	JainIndex      number `csv:"jain_index" of:"exclusion"`
	EntriesNodeMin number `csv:"entries_node_min" of:"exclusion"`
	EntriesNodeMax number `csv:"entries_node_max" of:"exclusion"`
	WithoutEntry   number `csv:"clients_without_entry" of:"exclusion"` // requested, but no entry in the window
	OvertakenMax   number `csv:"overtaken_max" of:"exclusion"`
	OvertakenMean  number `csv:"overtaken_mean" of:"exclusion"`

	// PassedOverMax is how many entries of others passed over one request at most, once it was known to all.
	PassedOverMax number `csv:"passed_over_max" of:"exclusion"`
	// OrderInversions is how often one entry came before another whose request had happened before the request
	// of the first, in a run that records all messages.
	OrderInversions number `csv:"order_inversions" of:"exclusion"`

	Suspicions      number `csv:"suspicions"`
	SuspicionsWrong number `csv:"suspicions_wrong"`       // suspicions of nodes that were up
	WrongPerHour    number `csv:"suspicions_wrong_per_h"` // wrong suspicions per hour of the whole run
	WrongStill      number `csv:"suspicions_wrong_still"` // wrong suspicions of nodes that stood still
	DetectionUSMean number `csv:"detection_us_mean"`      // from a crash until another node suspects it
	DetectionUSMax  number `csv:"detection_us_max"`

	// Elections elect a new leader; after a rejoin, the old one leads again. The Elect columns have the time
	// until enough nodes follow the leader, by the rule of the scheme, and the parts of that time.
	Elections          number `csv:"elections" of:"leaders"`
	Rejoins            number `csv:"rejoins" of:"leaders"`
	ElectionsPerCrash  number `csv:"elections_per_crash" of:"leaders"`
	ElectUSP50         number `csv:"elect_us_p50" of:"leaders"`
	ElectUSP99         number `csv:"elect_us_p99" of:"leaders"`
	ElectUSMax         number `csv:"elect_us_max" of:"leaders"`
	ElectDetectedUSP50 number `csv:"elect_detection_us_p50" of:"leaders"`
	ElectDeclaredUSP50 number `csv:"elect_declaration_us_p50" of:"leaders"`
	ElectAgreedUSP50   number `csv:"elect_agreement_us_p50" of:"leaders"`
	ElectServingUSP50  number `csv:"elect_serving_us_p50" of:"leaders"`
	TakeoverUSP50      number `csv:"takeover_us_p50" of:"leaders"`
	// From the loss of the leader, or the start, until all running nodes agreed, even nodes that are cut off.
	AllAgreedUSP50 number `csv:"all_agreed_us_p50" of:"leaders"`
	AllAgreedUSP99 number `csv:"all_agreed_us_p99" of:"leaders"`
	AllAgreedUSMax number `csv:"all_agreed_us_max" of:"leaders"`
	// Changes of leader while nothing happened that may change the leader, and the length of that time.
	LeaderChangesPerS   number `csv:"leader_changes_per_s" of:"leaders"`
	SteadyS             number `csv:"steady_s" of:"leaders"`
	LeaderlessUS        number `csv:"leaderless_us" of:"leaders"`
	TwoLeadersUS        number `csv:"two_leaders_us" of:"leaders"`
	TwoLeadersInTermUS  number `csv:"two_leaders_in_term_us" of:"leaders"`
	TwoLeadersStoppedUS number `csv:"two_leaders_stopped_us" of:"leaders"` // while one of the two stood still
	Flaps               number `csv:"flaps" of:"leaders"`
	Takeovers           number `csv:"takeovers" of:"leaders"`
	TermsBackwards      number `csv:"terms_backwards" of:"leaders"`
	MessagesPerElection number `csv:"messages_per_election" of:"leaders"`

	Violations number `csv:"violations" of:"exclusion"`
	// ViolationsFenced counts overlapping entries that fence numbers would not have prevented.
	ViolationsFenced number `csv:"violations_fenced" of:"exclusion"`
	OverlapUS        number `csv:"overlap_us" of:"exclusion"`
	// WorkDone counts the work of clients inside, and WorkSpoilt how much of it others have spoilt, both in
	// steps of that work. SharesUndone counts shares of a job that clients took and never did, since they died.
	WorkDone     number `csv:"work_done" of:"exclusion"`
	WorkSpoilt   number `csv:"work_spoilt" of:"exclusion"`
	SharesUndone number `csv:"shares_undone" of:"exclusion"`
	// EntriesTold counts entries whose client was told that it had lost the lock. ToldStayed counts the clients
	// of these that went on, for ToldInsideUS in all and ToldInsideUSMax at most.
	EntriesTold     number `csv:"entries_told" of:"exclusion"`
	ToldStayed      number `csv:"told_stayed" of:"exclusion"`
	ToldInsideUS    number `csv:"told_inside_us" of:"exclusion"`
	ToldInsideUSMax number `csv:"told_inside_us_max" of:"exclusion"`
	// OverlappedUntold counts entries that another entry overlapped before their client was told, if ever.
	OverlappedUntold number `csv:"overlapped_untold" of:"exclusion"`
	// ToldAfterUSMax is how long after that other entry the client was told, at most.
	ToldAfterUSMax number `csv:"told_after_us_max" of:"exclusion"`
	// ToldForNothing counts clients that were told, went on, and were alone inside all the time.
	ToldForNothing number `csv:"told_for_nothing" of:"exclusion"`
	RefusedTries   number `csv:"refused_tries" of:"exclusion"` // tries that the lock refused
	RefusedFree    number `csv:"refused_free" of:"exclusion"`  // refused tries while no client was inside
	GivenUp        number `csv:"given_up" of:"exclusion"`

	Unfinished  number `csv:"unfinished" of:"exclusion"`
	IssuedShare number `csv:"issued_share" of:"exclusion"`
	ServedShare number `csv:"served_share" of:"exclusion"`
	Lost        number `csv:"lost_unintended"`
	// LostWithBroker counts messages that were lost with connections to the broker; empty: 0.
	LostWithBroker number `csv:"lost_with_broker"`
	// LostToDeaths counts messages that were lost because their sender or receiver was killed or down; empty:
	// 0.
	LostToDeaths number `csv:"lost_to_deaths"`

	TimerLateUSP50 number `csv:"timer_late_us_p50"`
	TimerLateUSP99 number `csv:"timer_late_us_p99"`
	TimerLateUSMax number `csv:"timer_late_us_max"`
	// ClockErrorUS bounds how far the clocks of two nodes may be apart.
	ClockErrorUS number `csv:"clock_error_us"`
	CPUBusy      number `csv:"cpu_busy"`     // used share of the machine or of the run's quota, 0 to 1
	OwnCPU       number `csv:"own_cpu"`      // the part of CPUBusy that nodes and orchestrator use
	BrokerShare  number `csv:"broker_share"` // the part of CPUBusy that the broker uses
	OthersCPU    number `csv:"others_cpu"`   // share of the machine that other processes use
	BrokerCPU    number `csv:"broker_cpu"`   // share of one CPU that the broker uses
	NodeRSSMB    number `csv:"node_rss_mb_max"`
	ReadyMS      number `csv:"ready_ms"`
	PauseSMax    number `csv:"pause_s_max"` // the longest that a process stood still
	// FaultsMissed is how many planned faults hit nothing, and so show nothing; empty: no fault was planned.
	FaultsMissed number `csv:"faults_missed"`
}

// OfMessages are the figures of one kind of message in one phase of a trial: the columns of messages.csv.
type OfMessages struct {
	Phase             string `csv:"phase"`
	Kind              string `csv:"kind"`
	Sent              number `csv:"sent"` // messages sent, counted for each receiver
	Publishes         number `csv:"publishes"`
	Delivered         number `csv:"delivered"`
	Bytes             number `csv:"bytes"`
	Refused           number `csv:"entries_refused"` // entries with a refused write, as in runs.csv
	PerEntry          number `csv:"per_entry"`
	PublishesPerEntry number `csv:"publishes_per_entry"`
}

// The phases of a trial.
const (
	WholeRun = "run"    // the whole trial, warm-up included
	Steady   = "steady" // from the first to the last entry while measuring
)

// The phases of a fault, as indices of ByPhase.
const (
	Before = iota // from the latest heal or the beginning of the window until the fault began
	During
	After // from the heal of the fault until another fault began or the window ended
)

// Phases are the names of the phases of a fault.
var Phases = ByPhase[string]{"before", "during", "after"}

// ByPhase has one value for each phase of a fault. In the tag of such a field, * stands for before, during or
// after. If T is a struct, the tags of its fields follow.
type ByPhase[T any] [3]T

// OfFault are the figures of one fault. Their tags name them in reports; ByPhases returns the columns of
// faults.csv.
type OfFault struct {
	Number int    `csv:"number"`        // number of the planned fault, from 1
	Fault  string `csv:"fault,outside"` // description of the fault
	FromS  number `csv:"from_s"`        // when the fault began, from the beginning of the window
	ToS    number `csv:"to_s"`
	Healed bool   `csv:"healed"`
	// BeforeFromS is when the phase Before began, EndS when the phase During ended, if the fault was not
	// healed, and AfterToS when the phase After ended. Empty: the fault has no such phase, or it had no length.
	BeforeFromS, EndS, AfterToS number

	Entries ByPhase[number] `csv:"entries_*"`
	// Entries whose write the resource accepted, and refused. The rates, OldRateS and SilenceS are of accepted
	// entries.
	Accepted ByPhase[number]  `csv:"accepted_*"`
	Refused  ByPhase[number]  `csv:"refused_*"`
	PerS     ByPhase[number]  `csv:"entries_*_per_s"`
	WaitUS   ByPhase[OfWaits] `csv:"wait_*_us_"`
	Messages ByPhase[number]  `csv:"messages_*"` // messages sent, counted for each receiver
	Dropped  ByPhase[number]  `csv:"dropped_*"`

	NextEntryS       number `csv:"next_entry_s"`        // from the beginning of the fault to the next entry
	HealedNextEntryS number `csv:"healed_next_entry_s"` // from the heal to the next entry
	OldRateS         number `csv:"old_rate_s"`          // from the heal until the old rate was back

	OverlapUS  ByPhase[number] `csv:"overlap_*_us" phases:"during after"`
	Unfinished number          `csv:"unfinished"` // requests that were open at the heal and never finished

	EpochBefore number `csv:"epoch_before"` // the highest epoch of an entry before the fault
	EpochAfter  number `csv:"epoch_after"`  // the highest epoch of an entry before the next fault
	EpochsNew   number `csv:"epochs_new"`   // how many epochs with entries began in between
	// SilenceS is the longest time without an accepted entry until the next fault began.
	SilenceS number `csv:"silence_s"`
	// SilenceTextbookS is how long, according to a textbook, the silence lasts before the token counts as lost.
	SilenceTextbookS number `csv:"silence_textbook_s"`

	// For runs with leaders. Elections leave out rejoins.
	Elections     ByPhase[number]      `csv:"elections_*"`
	ElectUS       ByPhase[OfElections] `csv:"elect_*_us_"`
	LeaderlessUS  ByPhase[number]      `csv:"leaderless_*_us"`
	TwoLeadersUS  ByPhase[number]      `csv:"two_leaders_*_us"`
	Flaps         ByPhase[number]      `csv:"flaps_*"`
	Changes       ByPhase[number]      `csv:"leader_changes_*"` // how often a node came to lead
	HealedAgreedS number               `csv:"healed_agreed_s"`  // from the heal until all agree on a leader
}

// OfWaits are quantiles of the waits of a phase, from when a request is due until it enters.
type OfWaits struct {
	P50 number `csv:"p50"`
	P99 number `csv:"p99"`
	Max number `csv:"max"`
}

// OfElections are quantiles of how long the elections of a phase took.
type OfElections struct {
	P50 number `csv:"p50"`
	Max number `csv:"max"`
}

// OfInterval are the figures of one of the equal intervals of a trial with faults: the columns of
// timeline.csv.
type OfInterval struct {
	FromS   number `csv:"from_s"` // when the interval began, from the beginning of the window
	ToS     number `csv:"to_s"`
	Entries number `csv:"entries"`
	Refused number `csv:"refused"` // entries whose write the resource refused

	WaitUSMax number `csv:"wait_us_max"` // of the entries
}

// Complete sets the figures that follow from others, and that older tables lack.
func (f *Figures) Complete() {
	if !f.MessagesPerEntry.Known() {
		return
	}
	perEntry, _ := f.MessagesPerEntry.Value()
	heartbeats, counted := f.Heartbeats.Value()
	entries, _ := f.EntriesAccepted.Value()
	if counted {
		f.HeartbeatsPerEntry = figure.Ratio(heartbeats, entries)
		each, _ := f.HeartbeatsPerEntry.Value()
		perEntry += each
	}
	f.AllMessagesPerEntry = figure.Number(perEntry)
}
