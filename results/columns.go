package results

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
)

// A Column names a column of a table of results.
type Column string

// Columns that code names. Those of options of runs are in package option.
const (
	WarmupTookS          Column = "warmup_took_s"
	DurationS            Column = "duration_s"
	Entries              Column = "entries"
	EntriesAccepted      Column = "entries_accepted"
	EntriesRefused       Column = "entries_refused"
	EntriesInMinority    Column = "entries_in_minority"
	EntriesInWindow      Column = "entries_in_window"
	AcceptedInWindow     Column = "accepted_in_window"
	EntriesPerS          Column = "entries_per_s"
	Messages             Column = "messages"
	Publishes            Column = "publishes"
	MessagesPerEntry     Column = "messages_per_entry"
	PublishesPerEntry    Column = "publishes_per_entry"
	ServerBytesPerEntry  Column = "server_bytes_per_entry"
	Heartbeats           Column = "heartbeats"
	OneEntryMin          Column = "one_entry_messages_min"
	OneEntryMean         Column = "one_entry_messages_mean"
	OneEntryMax          Column = "one_entry_messages_max"
	WaitUSP50            Column = "wait_us_p50"
	WaitUSP90            Column = "wait_us_p90"
	WaitUSP99            Column = "wait_us_p99"
	WaitUSP999           Column = "wait_us_p999"
	WaitUSMax            Column = "wait_us_max"
	ClientDelayP50       Column = "client_delay_us_p50"
	SyncDelayUSP50       Column = "sync_delay_us_p50"
	Utilisation          Column = "utilisation"
	UtilisationMean      Column = "utilisation_mean"
	UnitsTakenMax        Column = "units_taken_max"
	UnitsTakenMean       Column = "units_taken_mean"
	UtilisationPredicted Column = "utilisation_predicted"
	EntriesPerSPredicted Column = "entries_per_s_predicted"
	JainIndex            Column = "jain_index"
	EntriesNodeMin       Column = "entries_node_min"
	EntriesNodeMax       Column = "entries_node_max"
	OvertakenMax         Column = "overtaken_max"
	OvertakenMean        Column = "overtaken_mean"
	Suspicions           Column = "suspicions"
	SuspicionsWrong      Column = "suspicions_wrong"
	WrongPerHour         Column = "suspicions_wrong_per_h"
	DetectionUSMean      Column = "detection_us_mean"
	DetectionUSMax       Column = "detection_us_max"
	Elections            Column = "elections"
	Rejoins              Column = "rejoins"
	ElectionsPerCrash    Column = "elections_per_crash"
	ElectUSP50           Column = "elect_us_p50"
	ElectUSMax           Column = "elect_us_max"
	ElectDeclaredUSP50   Column = "elect_declaration_us_p50"
	ElectAgreedUSP50     Column = "elect_agreement_us_p50"
	TakeoverUSP50        Column = "takeover_us_p50"
	AllAgreedUSP50       Column = "all_agreed_us_p50"
	LeaderChangesPerS    Column = "leader_changes_per_s"
	SteadyS              Column = "steady_s"
	LeaderlessUS         Column = "leaderless_us"
	TwoLeadersUS         Column = "two_leaders_us"
	TwoLeadersInTermUS   Column = "two_leaders_in_term_us"
	TwoLeadersStoppedUS  Column = "two_leaders_stopped_us"
	Flaps                Column = "flaps"
	Takeovers            Column = "takeovers"
	MessagesPerElection  Column = "messages_per_election"
	Violations           Column = "violations"
	OverlapUS            Column = "overlap_us"
	WorkDone             Column = "work_done"
	WorkSpoilt           Column = "work_spoilt"
	SharesUndone         Column = "shares_undone"
	EntriesTold          Column = "entries_told"
	ToldStayed           Column = "told_stayed"
	ToldInsideUSMax      Column = "told_inside_us_max"
	OverlappedUntold     Column = "overlapped_untold"
	ToldForNothing       Column = "told_for_nothing"
	RefusedTries         Column = "refused_tries"
	RefusedFree          Column = "refused_free"
	UnfinishedRequests   Column = "unfinished"
	IssuedShare          Column = "issued_share"
	ServedShare          Column = "served_share"
	Lost                 Column = "lost_unintended"
	TimerLateUSP50       Column = "timer_late_us_p50"
	TimerLateUSP99       Column = "timer_late_us_p99"
	TimerLateUSMax       Column = "timer_late_us_max"
	ClockErrorUS         Column = "clock_error_us"
	CPUBusy              Column = "cpu_busy"
	OwnCPU               Column = "own_cpu"
	BrokerShare          Column = "broker_share"
	OthersCPU            Column = "others_cpu"
	NodeRSSMB            Column = "node_rss_mb_max"
	ReadyMS              Column = "ready_ms"
	NextEntryS           Column = "next_entry_s"
	HealedNextEntryS     Column = "healed_next_entry_s"
	OldRateS             Column = "old_rate_s"
	EpochsNew            Column = "epochs_new"
	SilenceS             Column = "silence_s"
	HealedAgreedS        Column = "healed_agreed_s"
	RefusedDuring        Column = "refused_during"
	RefusedAfter         Column = "refused_after"
	EntriesBeforePerS    Column = "entries_before_per_s"
	EntriesDuringPerS    Column = "entries_during_per_s"
	EntriesAfterPerS     Column = "entries_after_per_s"
	ElectionsDuring      Column = "elections_during"
)

// rowColumns has the columns of a Row by their headers, options left aside.
var rowColumns = sync.OnceValue(func() map[string]*column {
	byHeader := map[string]*column{}
	for _, c := range columnsOf(reflect.TypeFor[Row]()) {
		if !c.options {
			byHeader[c.header] = &c
		}
	}
	return byHeader
})

// AskedColumns names the columns of runs.csv that say what a run was asked to be, some options among them.
func AskedColumns(options ...string) []string { return headersOf(reflect.TypeFor[Asked](), options) }

// FigureColumns names the columns of runs.csv that say what a trial has measured.
func FigureColumns() []string { return headersOf(reflect.TypeFor[measure.Figures](), nil) }

// IsColumn reports whether runs.csv has a column of that name, options left aside.
func IsColumn(name string) bool { return rowColumns()[name] != nil }

func headersOf(t reflect.Type, options []string) (headers []string) {
	for _, c := range columnsOf(t) {
		if !c.options {
			headers = append(headers, c.header)
			continue
		}
		for _, o := range options {
			headers = append(headers, OptionColumn(o))
		}
	}
	return headers
}

// Text returns the cell of a column, as runs.csv has it; nothing if there is no such column, or it does not
// concern the row. The column of an option is named with its algorithm or without.
func (r *Row) Text(column string) string {
	c := rowColumns()[column]
	switch {
	case c == nil:
		if text, has := r.Options[optionIn(column, r.Algorithm, nil)]; has {
			return text
		}
		return r.Options[strings.ReplaceAll(column, "_", "-")]
	case c.audience != "" && !r.concerns(c.audience):
		return ""
	}
	return cell(c.of(reflect.ValueOf(r).Elem()))
}

// Figure returns the figure of a column; none if it has no figures, or does not concern the row.
func (r *Row) Figure(column Column) figure.Figure {
	c := rowColumns()[string(column)]
	if c == nil || !c.figures || c.audience != "" && !r.concerns(c.audience) {
		return figure.Figure{}
	}
	return c.of(reflect.ValueOf(r).Elem()).(figure.Figure)
}

// TimeUnit returns the unit of the times that a column of runs.csv has; 0: it has none.
func TimeUnit(column Column) time.Duration { return timesOf()[column] }

// timesOf has the units of the columns of runs.csv that have times.
var timesOf = sync.OnceValue(func() map[Column]time.Duration {
	units := map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second}
	of := map[Column]time.Duration{}
	for _, d := range described()[RowsFile] {
		of[Column(d.Name)] = units[d.Unit]
	}
	return of
})

// CPUBoundAbove is the share of the CPU time that a run could use above which it is bound by that: its times
// rank what algorithms cost the processors.
const CPUBoundAbove = 0.9

// CPUBound reports whether the trial was bound by the CPU time that it could use.
func (r *Row) CPUBound() bool {
	busy, _ := r.CPUBusy.Value()
	return busy > CPUBoundAbove
}

// OthersAbove is the share of the machine that other processes may take before a trial counts as disturbed.
const OthersAbove = 0.05

// Disturbed reports whether others took more of the machine than that while the trial went on.
func (r *Row) Disturbed() bool {
	others, _ := r.OthersCPU.Value()
	return others > OthersAbove
}
