// Package measure folds the history of a run into figures. It uses only the history and the load, so real,
// simulated and stored runs are measured alike.
//
// A [Fold] observes the sections of a history, and has [Measures] once it is closed. A [FaultFold] measures
// the phases before, during and after each fault, and [Leaders] the elections of a fold of package
// leadership. Each takes a history event by event, with bounded memory.
//
// The results are [Figures], [OfMessages], [OfPhase] and [OfInterval]: structs whose fields are columns, by
// their tags. docs/columns.md defines each. A figure that was not measured is unknown, which is not zero. If
// a duration never ended, it counts as a lower bound.
//
// It judges nothing, and knows neither files nor algorithms.
package measure

import (
	"reflect"
	"slices"
	"strings"

	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Measures are the measures of one trial: its figures, and the data behind them. If something could not be
// measured, because the run ended early or nothing of the kind happened, its figure is unknown or its latency
// empty. docs/measures.md defines each.
type Measures struct {
	// Figures lack the figures that depend on the verdict and the options of the run.
	Figures
	// Window is the measured time. A wait that overlaps it counts with its whole length; an entry and its hold
	// count if the entry is in it.
	Window   section.Window
	Unserved uint64 // requests of the whole run that never entered
	Unissued uint64 // arrivals of the whole run that never became requests

	Kinds  [nodes.MaxKinds]history.KindTotals // totals of the whole run, by the number of the message kind
	Resent uint64                             // messages that were retries
	// Circulates means that messages circulate even without requests. Then the cost of an entry is counted from
	// the first to the last entry of the window, since messages before and after belong to no entry.
	Circulates   bool
	KindPerEntry []figure.Figure // messages per entry, by the number of the message kind; nil: unknown

	Leaders   *Leaders // nil: the run is not about leaders
	Detection section.Detection

	Wait                 Latency // from when a request is due until it enters
	Queue                Latency // from when a request is due until it is made
	Protocol             Latency // from a request until its entry
	Hold                 Latency // from an entry until its exit
	SynchronizationDelay Latency // from an exit to the next entry, which had been requested before that exit
	Uncontended          Latency // from a request to its entry, if no client held or awaited the resource

	divided divided
}

// AddLeaders adds the measures of a run about leaders, given its closed fold. only means that the run is
// about nothing else: it has no requests.
func (m *Measures) AddLeaders(f *leadership.Fold, only bool) {
	m.Leaders = NewLeaders(f)
	m.Leaders.Only = only
	m.Leaders.fill(&m.Figures)
	if messages, known := m.Messages.Value(); known && only {
		m.MessagesPerElection = figure.Ratio(messages, float64(f.Elected()))
	}
}

var quantiles = map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1}

// Columns returns all figures: Figures and the quantiles of latencies. Finding the quantiles can take longer
// than a short run. The column of a quantile is named by the tag of its latency, _us_ and the quantile.
func (m *Measures) Columns() Figures {
	m.UncontendedP50 = m.Uncontended.MicrosAt(0.5)
	columns := reflect.ValueOf(&m.Figures).Elem()
	for i := range columns.NumField() {
		if tag, q, is := QuantileIn(columns.Type().Field(i).Tag.Get("csv")); is {
			kind := LatencyNamed(tag)
			columns.Field(i).Set(reflect.ValueOf(kind.in(m).MicrosAt(q)))
		}
	}
	return m.Figures
}

// QuantileIn returns the quantile in a column of runs.csv, and the tag of its latency. The last result
// reports whether the column has a quantile.
func QuantileIn(column string) (tag string, q float64, is bool) {
	tag, quantile, _ := strings.Cut(column, "_us_")
	q, is = quantiles[quantile]
	return tag, q, is && slices.ContainsFunc(Latencies, func(l LatencyKind) bool { return l.Tag == tag })
}

// OfMessages returns the figures of each kind of message that codec names, in each phase.
func (m *Measures) OfMessages(codec *nodes.Codec) []OfMessages {
	var whole, steady []OfMessages
	for kind := range codec.Kinds() {
		k := m.Kinds[kind]
		row := OfMessages{
			Phase:     WholeRun,
			Refused:   m.EntriesRefused,
			Kind:      codec.Name(kind),
			Sent:      figure.Count(k.Sent),
			Publishes: figure.Count(k.Publishes),
			Delivered: figure.Count(k.Delivered),
		}
		if k.Bytes > 0 || k.Sent == 0 {
			row.Bytes = figure.Count(k.Bytes)
		}
		var perEntry figure.Figure
		if m.KindPerEntry != nil {
			perEntry = m.KindPerEntry[kind]
		}
		if m.Circulates {
			steady = append(steady,
				OfMessages{Phase: Steady, Kind: row.Kind, Refused: row.Refused, PerEntry: perEntry})
		} else if perEntry.Known() {
			row.PerEntry = perEntry
			accepted, _ := m.EntriesAccepted.Value()
			row.PublishesPerEntry = figure.Ratio(float64(k.Publishes), accepted)
		}
		whole = append(whole, row)
	}
	return append(whole, steady...)
}

// OpenSuffix ends the tag of a histogram of latencies that never ended. The histogram without the suffix also
// has them, with their age.
const OpenSuffix = "_open"

// A Tagged is a histogram in nanoseconds, with its tag in latency.hlog.
type Tagged struct {
	Tag  string
	Hist *Histogram
}

// Histograms returns the histograms of the trial that are not empty.
func (m *Measures) Histograms() (tagged []Tagged) {
	for _, l := range Latencies {
		of := l.in(m)
		if of.Hist != nil {
			tagged = append(tagged, Tagged{Tag: l.Tag, Hist: of.Hist})
		}
		if of.open != nil {
			tagged = append(tagged, Tagged{Tag: l.Tag + OpenSuffix, Hist: of.open})
		}
	}
	return tagged
}
