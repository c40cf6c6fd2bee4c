package measure

import (
	"turnstile/nodes/history"
	"turnstile/results"
)

// Messages are what a trial sent.
type Messages struct {
	Kinds     [history.MaxKinds]history.KindTotals // of the whole run, by the number of the kind
	Sent      uint64                               // deliveries asked for
	Publishes uint64
	Bytes     uint64
	Resent    uint64 // of Sent, the retries

	PerEntry          results.Figure
	PublishesPerEntry results.Figure
	BytesPerEntry     results.Figure

	// Circulates says that messages circulate even if nobody requests. The cost of an entry is then counted from
	// the first to the last entry of the window, since messages before and after belong to no entry.
	Circulates   bool
	KindPerEntry []float64 // by the number of the kind; nil if it is not known

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
func (m *Messages) OneEntry() (least, mean, most results.Figure) {
	if m.OfOne.count == 0 {
		return
	}
	return results.Number(float64(m.OfOne.least)), results.Ratio(m.OfOne.sum, m.OfOne.count),
		results.Number(float64(m.OfOne.most))
}

// messages sums up the counters of the nodes, and divides them by the entries.
func (f *Fold) messages(logs []*history.NodeLog) {
	m := &f.Measures.Messages
	sum := history.Sum(logs)
	m.Resent = sum.Resent
	copy(m.Kinds[:], sum.Kinds)
	var publishes, bytes uint64 // without heartbeats
	for kind, k := range m.Kinds {
		m.Sent += k.Sent
		m.Publishes += k.Publishes
		m.Bytes += k.Bytes
		if !f.sections.Heartbeat(kind) {
			publishes += k.Publishes
			bytes += k.Bytes
		}
	}
	perEntry, byKind, ok := f.sections.MessagesPerEntry(&sum, m.Circulates)
	if !ok {
		return
	}
	m.PerEntry, m.KindPerEntry = results.Number(perEntry), byKind
	if !m.Circulates {
		entries := float64(f.Measures.Entries)
		m.PublishesPerEntry = results.Ratio(float64(publishes), entries)
		if m.Bytes > 0 || m.Sent == 0 { // in a simulation messages have no bytes
			m.BytesPerEntry = results.Ratio(float64(bytes), entries)
		}
	}
}
