package measure

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/internal/figure"
	"turnstile/nodes"
)

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
