package measure

import (
	"turnstile/internal/figure"
	"turnstile/nodes/history"
)

// ofOne are the messages of single requests.
type ofOne struct {
	count, sum  float64
	least, most int64
}

func (o *ofOne) add(messages int64) {
	if o.count == 0 {
		o.least = messages
	}
	o.least, o.most = min(o.least, messages), max(o.most, messages)
	o.count++
	o.sum += float64(messages)
}

// countMessages sums up the counters of the nodes, and divides them by the entries.
func (f *Fold) countMessages(logs []*history.NodeLog) {
	m, sum := &f.Measures, history.Sum(logs)
	m.Resent = sum.Resent
	copy(m.Kinds[:], sum.Kinds)
	var heartbeats, sent, publishes, bytes uint64
	for kind, k := range m.Kinds {
		if f.sections.Heartbeat(kind) {
			heartbeats += k.Sent
			continue
		}
		sent += k.Sent
		publishes += k.Publishes
		bytes += k.Bytes
	}
	m.Messages, m.Publishes = figure.Count(sent), figure.Count(publishes)
	if f.sections.Detects {
		m.Heartbeats = figure.Count(heartbeats)
	}
	f.countRoundTrips(logs)
	if o := &f.ofOne; o.count > 0 {
		m.OneEntryMin, m.OneEntryMax = figure.Number(float64(o.least)), figure.Number(float64(o.most))
		m.OneEntryMean = figure.Ratio(o.sum, o.count)
	}
	perEntry, byKind, ok := f.sections.MessagesPerEntry(&sum, m.Circulates, false)
	if !ok {
		return
	}
	m.MessagesPerEntry, m.KindPerEntry = figure.Number(perEntry), make([]figure.Figure, len(byKind))
	for kind, n := range byKind {
		if !f.sections.Heartbeat(kind) { // those are of no entry
			m.KindPerEntry[kind] = figure.Number(n)
		}
	}
	if !m.Circulates {
		accepted := float64(f.sections.Entries - f.sections.Refused)
		m.PublishesPerEntry = figure.Ratio(float64(publishes), accepted)
		if bytes > 0 || sent == 0 { // in a simulation messages have no bytes
			m.BytesPerEntry = figure.Ratio(float64(bytes), accepted)
		}
	}
}

// countRoundTrips counts what nodes have asked a resource process, if there is one.
func (f *Fold) countRoundTrips(logs []*history.NodeLog) {
	var count, ns uint64
	for _, l := range logs {
		count += l.Totals.RoundTrips
		ns += l.Totals.RoundTripNS
	}
	if count == 0 {
		return
	}
	f.Measures.ResourceRoundTripsPerEntry = figure.Ratio(float64(count), float64(f.sections.Entries))
	f.Measures.ResourceUSMean = figure.Ratio(float64(ns)/1e3, float64(count))
}
