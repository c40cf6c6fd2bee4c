package measure

import (
	"turnstile/internal/figure"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Messages are what a trial sent.
type Messages struct {
	Kinds      [nodes.MaxKinds]history.KindTotals // of the whole run, by the number of the kind
	Heartbeats uint64                             // deliveries asked for; all that follows is without them
	Sent       uint64                             // deliveries asked for
	Publishes  uint64
	Bytes      uint64
	Resent     uint64 // of Sent, the retries

	PerEntry          figure.Figure
	PublishesPerEntry figure.Figure
	BytesPerEntry     figure.Figure

	// Circulates says that messages circulate even if nobody requests. The cost of an entry is then counted from
	// the first to the last entry of the window, since messages before and after belong to no entry.
	Circulates   bool
	KindPerEntry []figure.Figure // by the number of the kind; nil if it is not known

	OfOne ofOne // sequential load: messages of a single request
}

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

// OneEntry returns the least, mean and most messages of a single request, if those are known.
func (m *Messages) OneEntry() (least, mean, most figure.Figure) {
	if m.OfOne.count == 0 {
		return
	}
	return figure.Number(float64(m.OfOne.least)), figure.Ratio(m.OfOne.sum, m.OfOne.count),
		figure.Number(float64(m.OfOne.most))
}

// messages sums up the counters of the nodes, and divides them by the entries.
func (f *Fold) messages(logs []*history.NodeLog) {
	m := &f.Measures.Messages
	sum := history.Sum(logs)
	m.Resent = sum.Resent
	copy(m.Kinds[:], sum.Kinds)
	for kind, k := range m.Kinds {
		if f.sections.Heartbeat(kind) {
			m.Heartbeats += k.Sent
			continue
		}
		m.Sent += k.Sent
		m.Publishes += k.Publishes
		m.Bytes += k.Bytes
	}
	perEntry, byKind, ok := f.sections.MessagesPerEntry(&sum, m.Circulates, false)
	if !ok {
		return
	}
	m.PerEntry, m.KindPerEntry = figure.Number(perEntry), make([]figure.Figure, len(byKind))
	for kind, n := range byKind {
		if !f.sections.Heartbeat(kind) { // those are of no entry
			m.KindPerEntry[kind] = figure.Number(n)
		}
	}
	if !m.Circulates {
		entries := float64(f.Measures.Entries - f.Measures.Refused)
		m.PublishesPerEntry = figure.Ratio(float64(m.Publishes), entries)
		if m.Bytes > 0 || m.Sent == 0 { // in a simulation messages have no bytes
			m.BytesPerEntry = figure.Ratio(float64(m.Bytes), entries)
		}
	}
}
