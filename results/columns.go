package results

import (
	"cmp"
	"embed"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"turnstile/internal/figure"
	"turnstile/internal/yamlfile"
	"turnstile/judge/measure"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A Column names a column of a table of results.
type Column string

// The columns that code refers to. Package option has the columns of the options of runs.
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
	HeartbeatsPerEntry   Column = "heartbeats_per_entry"
	AllMessagesPerEntry  Column = "all_messages_per_entry"
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
	WrongStill           Column = "suspicions_wrong_still"
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
	ViolationsFenced     Column = "violations_fenced"
	OverlapUS            Column = "overlap_us"
	WorkDone             Column = "work_done"
	WorkSpoilt           Column = "work_spoilt"
	SharesUndone         Column = "shares_undone"
	EntriesTold          Column = "entries_told"
	ToldStayed           Column = "told_stayed"
	ToldInsideUSMax      Column = "told_inside_us_max"
	OverlappedUntold     Column = "overlapped_untold"
	ToldAfterUSMax       Column = "told_after_us_max"
	ToldForNothing       Column = "told_for_nothing"
	RefusedTries         Column = "refused_tries"
	RefusedFree          Column = "refused_free"
	GivenUp              Column = "given_up"
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

// rowColumns has the columns of a Row by their headers, except the columns of options of algorithms.
var rowColumns = sync.OnceValue(func() map[string]*column {
	byHeader := map[string]*column{}
	for _, c := range columnsOf(reflect.TypeFor[Row]()) {
		if !c.options {
			byHeader[c.header] = &c
		}
	}
	return byHeader
})

// AskedColumns returns the headers of the columns of runs.csv that hold parameters of a run, including the
// given options.
func AskedColumns(options ...string) []string { return headersOf(reflect.TypeFor[Asked](), options) }

// FigureColumns returns the headers of the columns of runs.csv that hold figures of a trial.
func FigureColumns() []string { return headersOf(reflect.TypeFor[measure.Figures](), nil) }

// phaseColumns has the columns of figures of a PhaseRow by their headers.
var phaseColumns = sync.OnceValue(func() map[string]*column {
	byHeader := map[string]*column{}
	for _, c := range columnsOf(reflect.TypeFor[PhaseRow]()) {
		if c.figures {
			byHeader[c.header] = &c
		}
	}
	return byHeader
})

// FaultColumns returns the headers of the columns of figures that faults.csv has and runs.csv has not.
func FaultColumns() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(phaseColumns())), IsColumn)
}

// Figure returns the figure in a column; unknown if the column has no figures.
func (r *PhaseRow) Figure(column Column) figure.Figure {
	if c := phaseColumns()[string(column)]; c != nil {
		return c.of(reflect.ValueOf(r).Elem()).(figure.Figure)
	}
	return figure.Figure{}
}

// IsColumn reports whether runs.csv has a column of that name, apart from options of algorithms.
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

// Text returns the cell of a column, as in runs.csv; "" if the column is unknown or does not concern the row.
// The column of an option may be named with or without the algorithm.
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

// Figure returns the figure in a column; unknown if the column has no figures, or does not concern the row.
func (r *Row) Figure(column Column) figure.Figure {
	c := rowColumns()[string(column)]
	if c == nil || !c.figures || c.audience != "" && !r.concerns(c.audience) {
		return figure.Figure{}
	}
	return c.of(reflect.ValueOf(r).Elem()).(figure.Figure)
}

// TimeUnit returns the unit of time of a column of runs.csv or faults.csv; 0: the column holds no times.
func TimeUnit(column Column) time.Duration { return timesOf()[column] }

// timesOf has the units of the columns of runs.csv and faults.csv that hold times.
var timesOf = sync.OnceValue(func() map[Column]time.Duration {
	units := map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second}
	of := map[Column]time.Duration{}
	for _, d := range slices.Concat(described()[FaultsFile], described()[RowsFile]) {
		of[Column(d.Name)] = units[d.Unit]
	}
	return of
})

// CPUBoundAbove is the share of the available CPU time above which a run counts as CPU-bound: its times then
// compare the CPU cost of algorithms.
const CPUBoundAbove = 0.9

// CPUBound reports whether the trial was CPU-bound.
func (r *Row) CPUBound() bool {
	busy, _ := r.CPUBusy.Value()
	return busy > CPUBoundAbove
}

// OthersAbove is the share of the machine that other processes may take before a trial counts as disturbed.
const OthersAbove = 0.05

// Disturbed reports whether other processes took more than OthersAbove of the machine during the trial.
func (r *Row) Disturbed() bool {
	others, _ := r.OthersCPU.Value()
	return others > OthersAbove
}

// A Description describes a column.
type Description struct {
	Name  string
	Unit  string // such as us, share or name
	Is    string
	Empty string // what an empty cell means; "" if no cell is empty
}

// notMeasured says what an empty cell means by default.
const notMeasured = "not measured: the run ended before, or nothing of the kind happened"

//go:embed columns.yaml
var columnsFile embed.FS

// described has the descriptions of the columns of each table, by the name of its file.
var described = sync.OnceValue(func() map[string][]Description {
	text, err := columnsFile.ReadFile("columns.yaml")
	var tables map[string][][]*string
	if err == nil {
		err = yamlfile.Decode(text, &tables)
	}
	if err != nil {
		panic(err) // the file is embedded in the program
	}
	all := map[string][]Description{}
	for _, file := range Tables() { // runs.csv comes first
		for _, l := range tables[file] {
			if len(l) == 1 {
				at := slices.IndexFunc(all[RowsFile], func(d Description) bool { return d.Name == *l[0] })
				all[file] = append(all[file], all[RowsFile][at])
				continue
			}
			d := Description{Name: *l[0], Unit: *l[1], Is: *l[2]}
			if len(l) > 3 && l[3] == nil {
				d.Empty = notMeasured
			} else if len(l) > 3 {
				d.Empty = *l[3]
			}
			all[file] = append(all[file], d)
		}
		if file == RowsFile {
			all[file] = withAsked(all[file])
		}
	}
	return all
})

// withAsked inserts descriptions of the options of runs after the column nodes. If the list all describes an
// option already, that description is moved there.
func withAsked(all []Description) []Description {
	at := 1 + slices.IndexFunc(all, func(d Description) bool { return d.Name == "nodes" })
	for _, c := range option.Columns() {
		d := Description{c.Name, c.Unit, c.Is, c.Empty}
		if i := slices.IndexFunc(all, func(d Description) bool { return d.Name == c.Name }); i >= 0 {
			d = all[i]
			all = slices.Delete(all, i, i+1)
		}
		all = slices.Insert(all, at, d)
		at++
	}
	return all
}

// Tables returns the names of the files whose columns have descriptions, in the order of docs/columns.md.
func Tables() []string {
	return slices.Concat(SetTables, StudyTables)
}

// Descriptions returns the descriptions of the columns of a table, given the name of its file.
func Descriptions(file string) []Description { return slices.Clone(described()[file]) }

// audiences are the kinds of runs that a column may concern. The struct tag "of" of a column's field names
// its kind. A table has the columns that concern any of its rows.
var audiences = []string{measure.OfExclusion, measure.OfLeaders}

// demands maps each load to the audience of its runs: exclusion or leaders.
var demands = sync.OnceValue(func() map[string]string {
	all := map[string]string{string(workload.Campaign): measure.OfLeaders}
	for _, load := range workload.Loads() {
		all[string(load)] = measure.OfExclusion
	}
	return all
})

// A concerned row knows to which audiences it belongs. Any other row belongs to an audience if it has a
// figure in a column of that audience.
type concerned interface{ concerns(audience string) bool }

// concerns reports whether a row belongs to an audience. It belongs to the audience of its load and, if
// clients follow a leader, also to OfLeaders. If this version does not know its load, it belongs to all
// audiences.
func (r *Row) concerns(audience string) bool {
	of, known := demands()[r.Asked.Cell(option.LoadColumn)]
	return !known || of == audience || audience == measure.OfLeaders && r.Elections.Known()
}

// concerns reports whether a row belongs to an audience, given all columns. The value row must be
// addressable.
func concerns(row reflect.Value, audience string, columns []column) bool {
	if r, is := row.Addr().Interface().(concerned); is {
		return r.concerns(audience)
	}
	return slices.ContainsFunc(columns, func(c column) bool {
		return c.audience == audience && c.figures && c.of(row).(figure.Figure).Known()
	})
}

// foreignTo returns the audiences to which a row does not belong.
func foreignTo(row reflect.Value, columns []column) (others []string) {
	for _, audience := range audiences {
		if !concerns(row, audience, columns) {
			others = append(others, audience)
		}
	}
	return others
}

// columnsFor returns the columns that concern any of the rows, or all columns if the rows belong to no
// audience.
func columnsFor[T any](rows []T) []column {
	all := withOptionsOf(rows)
	others := slices.Clone(audiences)
	for i := range rows {
		foreign := foreignTo(reflect.ValueOf(&rows[i]).Elem(), all)
		others = slices.DeleteFunc(others, func(a string) bool { return !slices.Contains(foreign, a) })
	}
	if len(others) < len(audiences) {
		foreign := func(c column) bool { return slices.Contains(others, c.audience) }
		all = slices.DeleteFunc(slices.Clone(all), foreign)
	}
	return withBounds(all)
}

// OptionColumn returns the name of an option in conditions and groups, the same for all algorithms that have
// the option. In older files columns have these names.
func OptionColumn(option string) string { return strings.ReplaceAll(option, "-", "_") }

// OptionColumnOf returns the header of the column of an option of an algorithm in files.
func OptionColumnOf(algorithm, option string) string { return OptionColumn(algorithm + "_" + option) }

// optionIn returns the option of an algorithm whose column has the given header, or "". The header is the
// result of OptionColumnOf or, for an option in the list plain, of OptionColumn.
func optionIn(header, algorithm string, plain []string) string {
	if name, is := strings.CutPrefix(header, OptionColumn(algorithm)+"_"); is && name != "" && algorithm != "" {
		return oneLine.Replace(strings.ReplaceAll(name, "_", "-"))
	}
	at := slices.IndexFunc(plain, func(o string) bool { return OptionColumn(o) == header })
	if at < 0 {
		return ""
	}
	return plain[at]
}

// named returns a copy of the column of options with a header.
func (c column) named(header string) *column {
	c.header = header
	return &c
}

// option returns the option that the column holds for the algorithm of a row, or "". The header of an option
// in the list plain may lack the algorithm.
func (c *column) option(row reflect.Value, plain []string) string {
	return optionIn(c.header, row.FieldByIndex(c.owner).String(), plain)
}

// setOption sets an option of a row, if the column holds an option of its algorithm.
func (c *column) setOption(row reflect.Value, text string, plain []string) {
	name := c.option(row, plain)
	if text == "" || name == "" {
		return
	}
	v := c.in(row)
	if v.IsNil() {
		v.Set(reflect.ValueOf(map[string]string{}))
	}
	v.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(oneLine.Replace(text)))
}

// withOptions replaces the column of options by a column for each option that any of the rows has.
func withOptions(columns []column, rows ...reflect.Value) []column {
	at := slices.IndexFunc(columns, func(c column) bool { return c.options })
	if at < 0 {
		return columns
	}
	headers := map[string]bool{}
	var all []column
	for _, row := range rows {
		algorithm := row.FieldByIndex(columns[at].owner).String()
		for option := range columns[at].in(row).Interface().(map[string]string) {
			if h := OptionColumnOf(algorithm, option); !headers[h] {
				headers[h] = true
				all = append(all, *columns[at].named(h))
			}
		}
	}
	slices.SortFunc(all, func(a, b column) int { return cmp.Compare(a.header, b.header) })
	return slices.Concat(columns[:at], all, columns[at+1:])
}

// withOptionsOf returns the columns of rows, including a column for each option that any of them has.
func withOptionsOf[T any](rows []T) []column {
	values := make([]reflect.Value, len(rows))
	for i := range rows {
		values[i] = reflect.ValueOf(&rows[i]).Elem()
	}
	return withOptions(columnsOf(reflect.TypeFor[T]()), values...)
}
