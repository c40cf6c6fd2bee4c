package history

import "encoding/binary"

// words writes or reads what a log holds beside its events, as 64-bit numbers: one description serves both.
type words struct {
	b       []byte // what was written, or is to be read
	reading bool
	cutOff  bool // there was less to read than expected
}

func word[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64](w *words, x *T) {
	switch {
	case !w.reading:
		w.b = binary.LittleEndian.AppendUint64(w.b, uint64(*x))
	case len(w.b) < 8:
		w.cutOff = true
	default:
		*x = T(binary.LittleEndian.Uint64(w.b))
		w.b = w.b[8:]
	}
}

// list writes or reads a list of things. Each takes at least a word, which bounds what is allocated.
func list[T any](w *words, s *[]T, each func(*T)) {
	length := uint64(len(*s))
	word(w, &length)
	if w.reading {
		if w.cutOff = w.cutOff || length > uint64(len(w.b)/8); w.cutOff || length == 0 {
			return
		}
		*s = make([]T, length)
	}
	for i := range *s {
		each(&(*s)[i])
	}
}

func (w *words) log(l *NodeLog) {
	word(w, &l.Node)
	word(w, &l.Incarnation)
	word(w, &l.StampError)
	t := &l.Totals
	for _, x := range []*uint64{&t.State, &t.EventCount, &t.TraceNext, &t.MultiSent, &t.Gaps, &t.Repeats,
		&t.Explained, &t.Refused, &t.Disconnects, &t.Reconnects, &t.MultiFloor, &t.Strays} {
		word(w, x)
	}
	list(w, &l.Instances, func(t *InstanceTotals) {
		for _, x := range []*uint64{&t.Requests, &t.Entries, &t.Exits, &t.Resent, &t.Dropped, &t.Copied} {
			word(w, x)
		}
		list(w, &t.Kinds, func(k *KindTotals) {
			for _, x := range []*uint64{&k.Sent, &k.Delivered, &k.Publishes, &k.Bytes} {
				word(w, x)
			}
		})
	})
	for _, s := range []*[]uint64{&l.Late, &l.SentTo, &l.ReceivedFrom, &l.MultiFrom, &l.Floor} {
		list(w, s, func(x *uint64) { word(w, x) })
	}
	list(w, &l.Trace, func(m *MessageRecord) { w.message(m, l) })
	// What only some runs have comes last.
	texts := len(l.Texts) > 0 || l.Last != ""
	if more := t.RoundTrips > 0 || texts; !w.reading && more || w.reading && len(w.b) > 0 {
		word(w, &t.RoundTrips)
		word(w, &t.RoundTripNS)
	}
	if !w.reading && texts || w.reading && len(w.b) > 0 {
		list(w, &l.Texts, func(t *Text) {
			w.text(&t.Type)
			w.text(&t.Body)
		})
		w.text(&l.Last)
	}
}

func (w *words) message(m *MessageRecord, l *NodeLog) {
	m.Node = l.Node
	b := make([]byte, messageRecordLen)
	if !w.reading {
		putMessageRecord(b, m)
		w.b = append(w.b, b...)
		return
	}
	w.cutOff = w.cutOff || len(w.b) < messageRecordLen
	if !w.cutOff {
		*m = getMessageRecord(w.b, l.Node)
		w.b = w.b[messageRecordLen:]
	}
}
