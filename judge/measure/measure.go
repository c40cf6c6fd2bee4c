// Package measure folds the history of a run into figures. It uses nothing but the history and the load, so
// real, simulated and stored runs are measured alike.
//
// A [Fold] observes the sections of a history and gives [Measures] once it is closed; a [FaultFold] measures
// what happened before, during and after each fault, and [Leaders] the elections of a fold of package
// leadership. Each takes a history event by event, with bounded memory.
//
// [Figures], [OfMessages], [OfPhase] and [OfInterval] are what becomes of that: structs whose fields are
// columns, by their tags. docs/columns.md defines each. What was not measured stays unknown, which is not
// zero, and what never ended is a lower bound.
//
// It judges nothing, and knows neither files nor algorithms.
package measure

import (
	"reflect"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Measures are what was measured in one trial: its figures, and what they are made from. What could not be
// measured, because the run ended early or because nothing of the kind happened, is an unknown figure or an
// empty latency. docs/measures.md defines each.
type Measures struct {
	// Figures lack what the verdict and the options of the run say.
	Figures
	// Window is what was measured. Waits count if they went on at any moment of it, with their whole length;
	// entries and what follows them count by when they began.
	Window   section.Window
	Unserved uint64 // requests of the whole run that never entered
	Unissued uint64 // arrivals of the whole run that never became requests

	Kinds  [nodes.MaxKinds]history.KindTotals // of the whole run, by the number of the kind
	Resent uint64                             // of the messages, the retries
	// Circulates says that messages circulate even if nobody requests. The cost of an entry is then counted from
	// the first to the last entry of the window, since messages before and after belong to no entry.
	Circulates   bool
	KindPerEntry []figure.Figure // by the number of the kind; nil if it is not known

	Leaders   *Leaders // nil: the run is not about leaders
	Detection section.Detection

	Wait                 Latency // due to entered
	Queue                Latency // due to requested
	Protocol             Latency // requested to entered
	Hold                 Latency // entered to exited
	SynchronizationDelay Latency // exited to the next entered, which had been requested before that exit
	Uncontended          Latency // requested to entered, of requests made when nobody held or waited

	divided divided
}

// AddLeaders adds the measures of a run about leaders, given its closed fold. only says that the run is about
// nothing else, so that nobody requests anything.
func (m *Measures) AddLeaders(f *leadership.Fold, only bool) {
	m.Leaders = NewLeaders(f)
	m.Leaders.Only = only
	m.Leaders.fill(&m.Figures)
	if messages, known := m.Messages.Value(); known && only {
		m.MessagesPerElection = figure.Ratio(messages, float64(f.Elected()))
	}
}

var quantiles = map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1}

// Columns returns all figures: those of Figures, and the quantiles of latencies, which take longer to find
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

// QuantileIn returns which quantile a column of runs.csv has, and of which latency; not if it has none.
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

// OpenSuffix ends the tag of a histogram of those latencies that never ended. They are in the histogram
// without the suffix too, with the age they had.
const OpenSuffix = "_open"

// A Tagged is a histogram in nanoseconds, with its tag in latency.hlog.
type Tagged struct {
	Tag  string
	Hist *hdrhistogram.Histogram
}

// Histograms returns the latencies of the trial that there are.
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
