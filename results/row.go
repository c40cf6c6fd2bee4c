package results

import "reflect"

// A Row is what runs.csv says of one trial: what was asked for and what came of it. docs/measures.md explains
// each column. Columns are in the order of the fields; a new one may go anywhere, since files are read by
// their header.
type Row struct {
	Run     string `csv:"run,outside"`
	Trial   int    `csv:"trial"` // from 1
	Version string `csv:"version"`
	Seed    uint64 `csv:"seed"`
	Asked

	HoldUS    Figure `csv:"hold_us"` // the means of what was asked for
	ThinkUS   Figure `csv:"think_us"`
	LatencyUS Figure `csv:"latency_injected_us"`

	WarmupTookS     Figure `csv:"warmup_took_s"`
	Clients         Figure `csv:"clients"`          // that requested
	DurationS       Figure `csv:"duration_s"`       // of the window that was measured
	Entries         Figure `csv:"entries"`          // of the whole run
	EntriesAccepted Figure `csv:"entries_accepted"` // of these: those whose write the resource has not refused
	EntriesRefused  Figure `csv:"entries_refused"`  // and those whose write it has
	// EntriesInMinority are the entries of the whole run by clients that could reach no majority then.
	EntriesInMinority Figure `csv:"entries_in_minority"`
	EntriesInWindow   Figure `csv:"entries_in_window"` // entered while measuring
	// AcceptedInWindow counts the accepted entries of the window. All rates and shares are of accepted entries.
	AcceptedInWindow Figure `csv:"accepted_in_window"`
	EntriesPerS      Figure `csv:"entries_per_s" since:"entries_refused"`

	Messages          Figure `csv:"messages"` // deliveries asked for in the whole run
	Publishes         Figure `csv:"publishes"`
	MessagesPerEntry  Figure `csv:"messages_per_entry" since:"entries_refused"`
	PublishedMin      Figure `csv:"published_min"` // messages per entry, as published
	PublishedMax      Figure `csv:"published_max"`
	PublishesPerEntry Figure `csv:"publishes_per_entry" since:"entries_refused"`
	BytesPerEntry     Figure `csv:"bytes_per_entry" since:"entries_refused"`
	Heartbeats        Figure `csv:"heartbeats"`             // of the failure detector, which no other column has
	OneEntryMin       Figure `csv:"one_entry_messages_min"` // of single requests, one at a time
	OneEntryMean      Figure `csv:"one_entry_messages_mean"`
	OneEntryMax       Figure `csv:"one_entry_messages_max"`

	WaitUSP50                 Figure `csv:"wait_us_p50"` // due to enter
	WaitUSP90                 Figure `csv:"wait_us_p90"`
	WaitUSP99                 Figure `csv:"wait_us_p99"`
	WaitUSP999                Figure `csv:"wait_us_p999"`
	WaitUSMax                 Figure `csv:"wait_us_max"`
	QueueUSP50                Figure `csv:"queue_us_p50"` // due to requested
	QueueUSP99                Figure `csv:"queue_us_p99"`
	ProtocolUSP50             Figure `csv:"protocol_us_p50"` // requested to enter
	ProtocolUSP99             Figure `csv:"protocol_us_p99"`
	HoldUSP50                 Figure `csv:"hold_us_p50"` // enter to exit
	HoldUSP99                 Figure `csv:"hold_us_p99"`
	ClientDelayP50            Figure `csv:"client_delay_us_p50"` // the wait when all else is at rest
	UncontendedP50            Figure `csv:"uncontended_us_p50"`  // requested to enter when nobody held or waited
	SynchronizationDelayUSP50 Figure `csv:"sync_delay_us_p50"`   // exit to the next enter, if asked for before
	SynchronizationDelayUSP99 Figure `csv:"sync_delay_us_p99"`

	Utilisation          Figure `csv:"utilisation" since:"entries_refused"`
	UtilisationPredicted Figure `csv:"utilisation_predicted"`
	EntriesPerSPredicted Figure `csv:"entries_per_s_predicted"`

	JainIndex      Figure `csv:"jain_index"`
	EntriesNodeMin Figure `csv:"entries_node_min"`
	EntriesNodeMax Figure `csv:"entries_node_max"`
	OvertakenMax   Figure `csv:"overtaken_max" since:"passed_over_max" where:"warmup_took_s"`
	OvertakenMean  Figure `csv:"overtaken_mean" since:"passed_over_max" where:"warmup_took_s"`

	// PassedOverMax is how many entries of others passed over one request at most, once it was known to all.
	PassedOverMax Figure `csv:"passed_over_max"`

	Suspicions      Figure `csv:"suspicions"`
	SuspicionsWrong Figure `csv:"suspicions_wrong"`       // of nodes that were up
	WrongPerHour    Figure `csv:"suspicions_wrong_per_h"` // of the whole run
	DetectionUSMean Figure `csv:"detection_us_mean"`      // from a crash until another node suspects
	DetectionUSMax  Figure `csv:"detection_us_max"`

	// Of elections: those that elected somebody; those after which the leader of before led; until those who
	// have to followed the next leader, in parts; all of them since agreement of all is a figure of its own.
	Elections             Figure `csv:"elections" since:"all_agreed_us_p50" where:"duration_s"`
	Rejoins               Figure `csv:"rejoins" since:"all_agreed_us_p50" where:"duration_s"`
	ElectionsPerCrash     Figure `csv:"elections_per_crash" since:"all_agreed_us_p50" where:"duration_s"`
	ElectUSP50            Figure `csv:"elect_us_p50" since:"all_agreed_us_p50" where:"duration_s"`
	ElectUSP99            Figure `csv:"elect_us_p99" since:"all_agreed_us_p50" where:"duration_s"`
	ElectUSMax            Figure `csv:"elect_us_max" since:"all_agreed_us_p50" where:"duration_s"`
	ElectDetectionUSP50   Figure `csv:"elect_detection_us_p50" since:"all_agreed_us_p50" where:"duration_s"`
	ElectDeclarationUSP50 Figure `csv:"elect_declaration_us_p50" since:"all_agreed_us_p50" where:"duration_s"`
	ElectAgreementUSP50   Figure `csv:"elect_agreement_us_p50" since:"all_agreed_us_p50" where:"duration_s"`
	ElectServingUSP50     Figure `csv:"elect_serving_us_p50" since:"all_agreed_us_p50" where:"duration_s"`
	TakeoverUSP50         Figure `csv:"takeover_us_p50" since:"all_agreed_us_p50" where:"duration_s"`
	// Until all agreed, whatever cut them off.
	AllAgreedUSP50 Figure `csv:"all_agreed_us_p50"`
	AllAgreedUSP99 Figure `csv:"all_agreed_us_p99"`
	AllAgreedUSMax Figure `csv:"all_agreed_us_max"`
	// In the time in which nothing happened by which another may come to lead, and how long that was.
	LeaderChangesPerS   Figure `csv:"leader_changes_per_s"`
	SteadyS             Figure `csv:"steady_s"`
	LeaderlessUS        Figure `csv:"leaderless_us"`
	TwoLeadersUS        Figure `csv:"two_leaders_us"`
	TwoLeadersInTermUS  Figure `csv:"two_leaders_in_term_us"`
	TwoLeadersStoppedUS Figure `csv:"two_leaders_stopped_us"` // one of them stood still
	Flaps               Figure `csv:"flaps"`
	Takeovers           Figure `csv:"takeovers"`
	TermsBackwards      Figure `csv:"terms_backwards"`
	MessagesPerElection Figure `csv:"messages_per_election" since:"all_agreed_us_p50" where:"duration_s"`

	Violations  Figure `csv:"violations"`
	OverlapUS   Figure `csv:"overlap_us"`
	Unfinished  Figure `csv:"unfinished"`
	IssuedShare Figure `csv:"issued_share"`
	Lost        Figure `csv:"lost_unintended"`
	// LostWithBroker are the messages that were lost with connections to the broker; empty: none was lost.
	LostWithBroker Figure `csv:"lost_with_broker"`
	// LostToDeaths are those that went to nodes that were down, or died with a process; empty: none did.
	LostToDeaths Figure `csv:"lost_to_deaths"`

	TimerLateUSP50 Figure `csv:"timer_late_us_p50"`
	TimerLateUSP99 Figure `csv:"timer_late_us_p99"`
	TimerLateUSMax Figure `csv:"timer_late_us_max"`
	CPUBusy        Figure `csv:"cpu_busy"`     // share of the machine or of the run's quota, 0 to 1
	OwnCPU         Figure `csv:"own_cpu"`      // of it: by nodes and orchestrator
	BrokerShare    Figure `csv:"broker_share"` // by the broker
	OthersCPU      Figure `csv:"others_cpu"`   // by others, of the machine
	BrokerCPU      Figure `csv:"broker_cpu"`   // share of one CPU
	NodeRSSMB      Figure `csv:"node_rss_mb_max"`
	ReadyMS        Figure `csv:"ready_ms"`
	PauseSMax      Figure `csv:"pause_s_max"` // the longest that a process stood still
	// FaultsMissed is how many of the faults that were asked for hit nothing, and show nothing; empty: none was
	// asked for.
	FaultsMissed Figure `csv:"faults_missed"`

	Verdict string `csv:"verdict"`
	Reason  string `csv:"reason,outside"`
}

// Asked is what a run was asked to be. Trials that agree in it, and in the version, are repetitions of one
// experiment.
type Asked struct {
	Kind      string            `csv:"kind"` // bench or simulate
	Algorithm string            `csv:"algorithm"`
	Nodes     int               `csv:"nodes"` // clients
	Options   map[string]string `csv:"*"`     // of the algorithm: a column each
	Hosts     int               `csv:"hosts"`
	Units     int               `csv:"units"` // of each resource
	Resources int               `csv:"resources"`

	Load string `csv:"load"`
	// Initiators are who campaigns when a run about leaders begins.
	Initiators string `csv:"initiators"`
	// CampaignEveryS is how long after each campaign they campaign again; empty: they do so once.
	CampaignEveryS Figure `csv:"campaign_every_s"`
	Whole          Figure `csv:"whole"` // share of requests for all units
	Hold           string `csv:"hold"`  // distributions, as in flags
	Think          string `csv:"think"`
	RatePerS       Figure `csv:"rate_per_s"` // of each node
	Arrivals       string `csv:"arrivals"`

	Latency   string `csv:"latency"`
	Regions   string `csv:"regions"`
	Multicast bool   `csv:"multicast"`
	Plan      string `csv:"plan"`           // of the faults, by its name
	Faults    string `csv:"faults,outside"` // in words
	Detector  string `csv:"detector"`       // beside the algorithm, with its options
	Elect     string `csv:"elect"`          // the elector beside the algorithm, whose leader it follows
	Fenced    bool   `csv:"fenced"`         // the resource demands fence numbers
	NATS      string `csv:"nats"`
	Brokers   Figure `csv:"brokers"` // of the run's own
	Proxies   bool   `csv:"proxies"` // messages run through them

	WarmupS        Figure `csv:"warmup_s"`
	WarmupLimitS   Figure `csv:"warmup_limit_s"`
	DurationAskedS Figure `csv:"duration_asked_s"`
	EntriesAsked   Figure `csv:"entries_asked"`
	PatienceS      Figure `csv:"patience_s"`
}

// Medians returns a row of the medians of the rows' figures: of each among the rows that measured it. Its
// other cells are empty.
func Medians(rows []Row) (medians Row) {
	for _, c := range columnsOf(reflect.TypeFor[Row](), nil) {
		if !c.isFigure(reflect.TypeFor[Row]()) {
			continue
		}
		var known []Figure
		for i := range rows {
			if f := c.of(reflect.ValueOf(rows[i])).(Figure); f.Known() {
				known = append(known, f)
			}
		}
		reflect.ValueOf(&medians).Elem().FieldByIndex(c.field).Set(reflect.ValueOf(MedianFigure(known)))
	}
	return medians
}

// A MessageRow is what messages.csv says of one kind of message in one phase of a trial.
type MessageRow struct {
	Run               string `csv:"run,outside"`
	Trial             int    `csv:"trial"`
	Phase             string `csv:"phase"`
	Kind              string `csv:"kind"`
	Sent              Figure `csv:"sent"` // deliveries asked for
	Publishes         Figure `csv:"publishes"`
	Delivered         Figure `csv:"delivered"`
	Bytes             Figure `csv:"bytes"`
	Refused           Figure `csv:"entries_refused"` // as in runs.csv
	PerEntry          Figure `csv:"per_entry" since:"entries_refused"`
	PublishesPerEntry Figure `csv:"publishes_per_entry" since:"entries_refused"`
}

// The phases of a trial.
const (
	WholeRun = "run"    // all of it, warm-up included
	Steady   = "steady" // from the first to the last entry while measuring
)
