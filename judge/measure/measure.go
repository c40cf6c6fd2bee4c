package measure

import (
	"turnstile/internal/figure"
	"turnstile/judge/section"
	"turnstile/nodes/history"
)

// Measures are what was measured in one trial. What could not be measured, because the run ended
// early or because nothing of the kind happened, is an unknown figure or an empty latency.
// docs/measures.md defines each.
type Measures struct {
	// What was measured. Waits count if they went on at any moment of it, with their whole length; entries and
	// what follows them count by when they began.
	Window  section.Window
	WarmupS figure.Figure // from the first request to the window
	Clients uint64        // that requested, in the whole run

	Entries          uint64 // of the whole run
	Refused          uint64 // entries that the resource refused
	EntriesInWindow  figure.Figure
	AcceptedInWindow figure.Figure // accepted entries in the window
	EntriesPerS      figure.Figure // of these
	DurationS        figure.Figure
	Unfinished       uint64        // requests of the whole run that never entered
	Unissued         uint64        // arrivals of the whole run that never became requests
	IssuedShare      figure.Figure // open load: of the arrivals due in the window

	Messages Messages

	Leaders *Leaders // nil: the run is not about leaders

	Detects   bool // a failure detector runs beside the algorithm
	Detection section.Detection
	// Wrong suspicions per hour, in the whole run.
	WrongPerHour figure.Figure

	Wait                 Latency // due to entered
	Queue                Latency // due to requested
	Protocol             Latency // requested to entered
	Hold                 Latency // entered to exited
	SynchronizationDelay Latency // exited to the next entered, which had been requested before that exit
	Uncontended          Latency // requested to entered, of requests made when nobody held or waited
	ClientDelay          Latency // sequential load: the wait, all else being at rest

	Utilisation    figure.Figure // share of the window with somebody inside
	OverlapUS      figure.Figure // time with two or more inside, in the whole run
	Jain           figure.Figure // of entries in the window, over the clients that asked
	EntriesNodeMin figure.Figure
	EntriesNodeMax figure.Figure
	OvertakenMax   figure.Figure // per request, entries of others that were requested later
	OvertakenMean  figure.Figure

	TimerLateUS TimerLate
	CPUBusy     figure.Figure // share of the machine, 0 to 1
	BrokerCPU   figure.Figure // share of one CPU
	OwnCPU      figure.Figure // shares of what the run could use at most: nodes and orchestrator
	BrokerShare figure.Figure
	OthersCPU   figure.Figure
	NodeRSSMB   figure.Figure // of the largest node
	ReadyMS     figure.Figure
	PauseS      figure.Figure // the longest that a process stood still
	Gaps        uint64        // messages missing from their streams that no fault dropped
}

// TimerLate is how late the timers of all nodes ran out, in microseconds.
type TimerLate struct{ P50, P99, Max figure.Figure }

// timerLate merges the lateness of the timers of all nodes. Like a latency, it reports the upper end of the
// bucket that a quantile lies in.
func timerLate(logs []*history.NodeLog) TimerLate {
	late := history.LatenessIn(logs)
	quantile := func(q float64) figure.Figure {
		ns, known := late.Quantile(q)
		if !known {
			return figure.Figure{}
		}
		return figure.Number(float64(ns) / 1e3)
	}
	return TimerLate{quantile(0.5), quantile(0.99), quantile(1)}
}
