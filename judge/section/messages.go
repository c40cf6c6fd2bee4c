package section

import (
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Heartbeat reports whether messages of a kind only say that their sender is up. They belong to no entry.
func (f *Fold) Heartbeat(kind int) bool {
	return f.Codec != nil && kind < f.Codec.Kinds() && f.Codec.Kind(kind).Heartbeat
}

// A circulation counts the messages from the first to the last entry in the window, if messages circulate.
type circulation struct {
	entries uint64
	sent    [nodes.MaxKinds]uint64 // up to the last entry
	since   [nodes.MaxKinds]uint64 // after it
	kinds   []uint32               // of those since
}

func (l *circulation) send(kind uint32) {
	if l.since[kind]++; l.since[kind] == 1 {
		l.kinds = append(l.kinds, kind)
	}
}

func (l *circulation) enter() {
	l.entries++
	for _, kind := range l.kinds {
		if l.entries > 1 {
			l.sent[kind] += l.since[kind]
		}
		l.since[kind] = 0
	}
	l.kinds = l.kinds[:0]
}

// MessagesPerEntry returns how many messages one entry took, and how many of each kind by its index:
// all messages of a run that came to rest, divided by its entries; or, if messages circulate, those
// from the first to the last entry in the window, divided by the entries after the
// first. Heartbeats do not count in the first figure, and entries that the resource refused count if refused
// is set. ok is false if nothing is known.
func (f *Fold) MessagesPerEntry(all *history.InstanceTotals, circulates, refused bool) (
	perEntry float64, byKind []float64, ok bool) {
	var sent [nodes.MaxKinds]uint64
	var entries, left uint64 // left out
	switch {
	case circulates && (f.Marks[history.Stopped].Seen || f.Marks[history.Interrupted].Seen):
		sent, entries, left = f.circulation.sent, max(f.circulation.entries, 1)-1, f.RefusedInWindow
	case !circulates && f.Marks[history.Rested].Seen:
		entries, left = all.Entries, f.Refused
		for kind, k := range all.Kinds {
			sent[kind] = k.Sent
		}
	}
	if !refused {
		entries -= min(left, entries)
	}
	if entries == 0 {
		return 0, nil, false
	}
	total := uint64(0)
	for kind, n := range sent {
		if !f.Heartbeat(kind) {
			total += n
		}
		byKind = append(byKind, float64(n)/float64(entries))
	}
	return float64(total) / float64(entries), byKind, true
}
