package measure

import (
	"turnstile/bench/check"
	"turnstile/nodes"
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

	// Circulates tells that messages go round though nobody asks. What one entry costs is then counted
	// from the first to the last steady entry, since what goes round before and after belongs to none.
	Circulates   bool
	KindPerEntry []float64 // by the number of the kind; nil if it is not known

	OfOne map[int64]uint64 // sequential load: how many requests took how many messages
}

// OneEntry returns the least, mean and most messages of a single request, if those are known.
func (m *Messages) OneEntry() (least, mean, most results.Figure) {
	if len(m.OfOne) == 0 {
		return
	}
	var low, high int64
	var count, sum float64
	for messages, times := range m.OfOne {
		if count == 0 {
			low, high = messages, messages
		}
		low, high = min(low, messages), max(high, messages)
		count += float64(times)
		sum += float64(messages) * float64(times)
	}
	return results.Number(float64(low)), results.Ratio(sum, count), results.Number(float64(high))
}

// traffic counts messages.
type traffic struct{ m *Measures }

// Add implements history.Fold.
func (t *traffic) Add(e history.Event) {
	to := &t.m.Messages
	switch e.Kind {
	case history.Sent:
		to.Circulates = true
	case history.Settled:
		if !t.m.Window.Known() || e.At < t.m.Window.From {
			return
		}
		if to.OfOne == nil {
			to.OfOne = map[int64]uint64{}
		}
		to.OfOne[e.Value]++
	}
}

// Close implements history.Fold.
func (t *traffic) Close() {}

// total sums the counters of the nodes, and divides.
func (t *traffic) total(h *history.History) {
	to := &t.m.Messages
	var sum history.InstanceTotals
	for _, l := range h.Logs {
		if l.Node == nodes.None {
			continue
		}
		for i := range l.Instances {
			sum.Add(&l.Instances[i])
		}
		t.m.Gaps += l.Totals.Gaps
	}
	to.Resent = sum.Resent
	copy(to.Kinds[:], sum.Kinds)
	for _, k := range to.Kinds {
		to.Sent += k.Sent
		to.Publishes += k.Publishes
		to.Bytes += k.Bytes
	}
	perEntry, byKind, ok := check.MessagesPerEntry(h, to.Circulates)
	if !ok {
		return
	}
	to.PerEntry, to.KindPerEntry = results.Number(perEntry), byKind
	if !to.Circulates {
		to.PublishesPerEntry = results.Ratio(float64(to.Publishes), float64(t.m.Entries))
		if to.Bytes > 0 || to.Sent == 0 { // on virtual time a message has no bytes
			to.BytesPerEntry = results.Ratio(float64(to.Bytes), float64(t.m.Entries))
		}
	}
}
