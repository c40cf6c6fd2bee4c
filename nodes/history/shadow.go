package history

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// NewShadow returns counters of a node with so many instances that are copied from another machine: Set gives
// them what Snapshot has taken there.
func NewShadow(instances int) *Watched {
	return &Watched{Counters: new(Counters), Instances: make([]InstanceCounters, instances)}
}

// words returns the counters as words, in the order in which they have to be read: what is pending before
// what instances have sent.
func (w *Watched) words() [2][]atomic.Uint64 {
	first := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(w.Counters)), countersLen/8)
	if len(w.Instances) == 0 {
		return [2][]atomic.Uint64{first}
	}
	rest := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&w.Instances[0])), len(w.Instances)*int(instanceLen)/8)
	return [2][]atomic.Uint64{first, rest}
}

// Snapshot appends the counters to b: the number of instances, and then each word, a run of zeros as a zero
// and its length, all as unsigned varints.
func (w *Watched) Snapshot(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(w.Instances)))
	zeros := uint64(0)
	flush := func() {
		if zeros > 0 {
			b = binary.AppendUvarint(append(b, 0), zeros)
			zeros = 0
		}
	}
	for _, part := range w.words() {
		for i := range part {
			switch x := part[i].Load(); x {
			case 0:
				zeros++
			default:
				flush()
				b = binary.AppendUvarint(b, x)
			}
		}
	}
	flush()
	return b
}

// InstancesIn returns how many instances a node has whose Snapshot b begins with.
func InstancesIn(b []byte) (int, error) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count > maxInstances {
		return 0, errSnapshot
	}
	return int(count), nil
}

var errSnapshot = fmt.Errorf("these are no counters of a node")

// Set gives a shadow the counters that b begins with, and returns what follows them. After an error, they are
// a mixture of old and new.
func (w *Watched) Set(b []byte) (rest []byte, err error) {
	if count, err := InstancesIn(b); err != nil || count != len(w.Instances) {
		return nil, errSnapshot
	}
	_, n := binary.Uvarint(b)
	b = b[n:]
	next := func() (x uint64) {
		if x, n = binary.Uvarint(b); n <= 0 {
			err = errSnapshot
			return 0
		}
		b = b[n:]
		return x
	}
	zeros := uint64(0)
	for _, part := range w.words() {
		for i := range part {
			x := uint64(0)
			if zeros == 0 {
				if x = next(); x == 0 {
					if zeros = next(); zeros == 0 {
						err = errSnapshot
					}
				}
			}
			if err != nil {
				return nil, err
			}
			if x == 0 {
				zeros--
			}
			part[i].Store(x)
		}
	}
	if zeros > 0 {
		return nil, errSnapshot
	}
	return b, nil
}
