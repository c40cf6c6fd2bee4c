package history

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"turnstile/nodes"
)

// Totals are the final values of the Counters of a node.
type Totals struct {
	State, EventCount, TraceNext, MultiSent, Gaps, Repeats  uint64
	Explained, Refused, Disconnects, Reconnects, MultiFloor uint64
	Strays                                                  uint64
	RoundTrips, RoundTripNS                                 uint64
}

// InstanceTotals are the final values of the InstanceCounters of one instance.
type InstanceTotals struct {
	Requests, Entries, Exits, Resent, Dropped, Copied uint64
	Kinds                                             []KindTotals // by number, up to the last one used
}

// KindTotals are the final values of kindCounters.
type KindTotals struct{ Sent, Delivered, Publishes, Bytes uint64 }

// Instance returns the totals of an instance, and adds it if it is missing.
func (l *NodeLog) Instance(i int) *InstanceTotals {
	l.Instances = atLeast(l.Instances, i+1)
	return &l.Instances[i]
}

// Kind returns the totals of a kind of messages, and adds it if it is missing.
func (t *InstanceTotals) Kind(kind uint8) *KindTotals {
	t.Kinds = atLeast(t.Kinds, int(kind)+1)
	return &t.Kinds[kind]
}

func atLeast[T any](s []T, length int) []T { return append(s, make([]T, max(0, length-len(s)))...) }

// Sum returns the totals of all instances of a node together.
func (l *NodeLog) Sum() (sum InstanceTotals) {
	for i := range l.Instances {
		sum.Add(&l.Instances[i])
	}
	return sum
}

// Sum returns the totals of all instances of all nodes together.
func Sum(logs []*NodeLog) (sum InstanceTotals) {
	for _, l := range logs {
		for i := range l.Instances {
			sum.Add(&l.Instances[i])
		}
	}
	return sum
}

// Add adds other to t.
func (t *InstanceTotals) Add(other *InstanceTotals) {
	t.Requests += other.Requests
	t.Entries += other.Entries
	t.Exits += other.Exits
	t.Resent += other.Resent
	t.Dropped += other.Dropped
	t.Copied += other.Copied
	t.Kinds = atLeast(t.Kinds, len(other.Kinds))
	for i, k := range other.Kinds {
		sum := &t.Kinds[i]
		sum.Sent += k.Sent
		sum.Delivered += k.Delivered
		sum.Publishes += k.Publishes
		sum.Bytes += k.Bytes
	}
}

// decodeInstance reads the bytes of InstanceCounters.
func decodeInstance(b []byte) (t InstanceTotals) {
	words := []*uint64{&t.Requests, &t.Entries, &t.Exits, &t.Resent, &t.Dropped, &t.Copied}
	for i, word := range words {
		*word = binary.LittleEndian.Uint64(b[8*i:])
	}
	var kinds [nodes.MaxKinds]KindTotals
	binary.Decode(b[unsafe.Offsetof(InstanceCounters{}.Kinds):], binary.LittleEndian, &kinds)
	for last := len(kinds); last > 0; last-- {
		if kinds[last-1] != (KindTotals{}) {
			t.Kinds = slices.Clone(kinds[:last])
			break
		}
	}
	return t
}
